import type { Answer, TierStatus } from '../../search/answer.ts';
import { EVERY_ANSWER } from '../transport/app.ts';

export interface AnswerFieldOptions {
  /** With quotes and the suffix of the coding served. */
  readonly etag: string;
  readonly vary: string;
  readonly requestId: string;
  readonly clientMaxAgeMs: number;
  readonly nowMs: number;
  readonly elapsedMs: number;
  /** Nobody downstream may keep it. */
  readonly noStore: boolean;
}

/**
 * The fields that a 200, its HEAD and its 304 share, flat as `writeHead` takes them fastest: name, value, name, value.
 * Everything that differs from request to request is here, so that the body is the same bytes for all.
 */
export function answerFields(answer: Answer, options: AnswerFieldOptions): string[] {
  const { cacheControl, age } = freshnessFields(answer, options);
  return [
    'cache-control',
    options.noStore ? 'no-store' : cacheControl,
    'age',
    String(age),
    'etag',
    options.etag,
    'vary',
    options.vary,
    'cache-status',
    cacheStatus(answer),
    'server-timing',
    serverTiming(answer, options.elapsedMs),
    'x-request-id',
    options.requestId,
    'x-content-type-options',
    EVERY_ANSWER['x-content-type-options'],
  ];
}

/** `cache;desc=engine, l2;dur=0.8, engine;dur=35.1, total;dur=36.4`: the outcome, then milliseconds. */
function serverTiming({ outcome, timings }: Answer, elapsedMs: number): string {
  let text = `cache;desc=${outcome}`;
  if (timings.l2Ms !== undefined) text += `, l2;dur=${round(timings.l2Ms)}`;
  if (timings.engineMs !== undefined) text += `, engine;dur=${round(timings.engineMs)}`;
  return `${text}, total;dur=${round(elapsedMs)}`;
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}

/**
 * The `Cache-Status` field (RFC 9211), the member nearest the origin first:
 * `serpcache-l2; hit; ttl=287, serpcache-l1; fwd=uri-miss`.
 */
export function cacheStatus({ l1, l2, remainingMs }: Answer): string {
  const near = member('serpcache-l1', l1, remainingMs);
  return l2 === undefined ? near : `${member('serpcache-l2', l2, remainingMs)}, ${near}`;
}

function member(cache: string, step: TierStatus, remainingMs: number): string {
  // Rounded down: −0.2 s must read as stale, and 287.9 s must not promise a second it may not have.
  if (step.kind === 'hit') return `${cache}; hit; ttl=${Math.floor(remainingMs / 1000)}`;
  let text = `${cache}; fwd=${step.why}`;
  if (step.forwardStatus !== undefined) text += `; fwd-status=${step.forwardStatus}`;
  if (step.stored) text += '; stored';
  if (step.collapsed) text += '; collapsed';
  if (step.detail !== undefined) text += `; detail=${step.detail}`;
  return text;
}

export interface FreshnessFields {
  readonly cacheControl: string;
  readonly age: number;
}

export interface FreshnessOptions {
  readonly clientMaxAgeMs: number;
  /** Monotonic, as the age of an entry is counted. */
  readonly nowMs: number;
}

/**
 * `Cache-Control` and `Age` of an answer (RFC 9111, RFC 5861).
 *
 * `Age` is the time since the engine computed the page. `max-age` is Age + the smaller of `clientMaxAge` and the fresh
 * life left, so a purged page is fresh downstream for that time and no longer, and `stale-while-revalidate` is no longer.
 * A stale answer has no life left, so its `max-age` is below its Age, and it is revalidated at once.
 * Both are rounded down: a fraction of a second of life is not promised.
 */
export function freshnessFields(
  { entry, remainingMs, outcome }: Answer,
  { clientMaxAgeMs, nowMs }: FreshnessOptions,
): FreshnessFields {
  const age = Math.max(0, Math.floor((nowMs - entry.bornMs) / 1000));
  if (entry.degraded || outcome === 'lifeboat') return { cacheControl: 'no-store', age };
  const maxAge = Math.max(0, age + Math.floor(Math.min(clientMaxAgeMs, remainingMs) / 1000));
  const revalidate = Math.floor(Math.min(entry.revalidateForMs, clientMaxAgeMs) / 1000);
  const onError = Math.floor(entry.errorForMs / 1000);
  return {
    cacheControl: `public, max-age=${maxAge}, stale-while-revalidate=${revalidate}, stale-if-error=${onError}`,
    age,
  };
}

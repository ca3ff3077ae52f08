import type { Answer } from '../search/answer.ts';
import { cacheStatus } from './cache-status.ts';
import { freshnessFields } from './freshness.ts';
import { EVERY_ANSWER } from './security-headers.ts';

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

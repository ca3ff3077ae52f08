import { CODINGS } from '../../cache/codec.ts';
import type { Coding, Entry } from '../../cache/entry.ts';
import type { Answer, TierStatus } from '../../search/read-path.ts';
import type { SharedHead } from '../lane/reply.ts';
import { EVERY_ANSWER } from '../transport/problem.ts';

/** The inputs of the headers of an answered page, beside the answer. */
interface HeaderContext {
  /** With quotes and the suffix of the coding that is sent. */
  readonly etag: string;
  readonly vary: string;
  readonly requestId: string;
  readonly clientMaxAgeMs: number;
  /** Monotonic, as the age of an entry is counted. */
  readonly nowMs: number;
  readonly elapsedMs: number;
  /** No cache downstream may store the answer. */
  readonly noStore: boolean;
}

interface AnswerHeader {
  /** The spelling of the API description; sent in lower case. */
  readonly name: string;
  readonly type: 'string' | 'integer';
  readonly description: string;
  readonly value: (answer: Answer, context: HeaderContext) => string;
}

/**
 * The header fields that a 200, its HEAD and its 304 share, in the order in which they are sent. A header is added here:
 * the answer and the API description both come from this table. Everything that differs between requests for one page is a
 * header, so that the body is the same bytes for all.
 */
export const ANSWER_HEADERS: readonly AnswerHeader[] = [
  {
    name: 'Cache-Control',
    type: 'string',
    description: 'What caches downstream may do; `no-store` for a degraded page and a lifeboat answer.',
    value: (answer, context) => (context.noStore ? 'no-store' : cacheControl(answer, context)),
  },
  {
    name: 'Age',
    type: 'integer',
    description:
      'Seconds since the engine computed the page. `max-age` − `Age` is how long a cache downstream may keep it.',
    value: ({ entry }, { nowMs }) => String(ageSeconds(entry, nowMs)),
  },
  {
    name: 'ETag',
    type: 'string',
    description: 'Identifies the page in the coding that is sent; send it back in `If-None-Match`.',
    value: (_answer, { etag }) => etag,
  },
  {
    name: 'Vary',
    type: 'string',
    description: '`Accept-Encoding`, and the headers that are declared context of the domain.',
    value: (_answer, { vary }) => vary,
  },
  {
    name: 'Cache-Status',
    type: 'string',
    description: 'What each tier did (RFC 9211), such as `serpcache-l1; hit; ttl=287`.',
    value: (answer) => cacheStatus(answer),
  },
  {
    name: 'Server-Timing',
    type: 'string',
    description:
      'The outcome, and the milliseconds in the store, in the engine and in total; of a hit out of memory the outcome alone.',
    value: (answer, { elapsedMs }) => serverTiming(answer, elapsedMs),
  },
  {
    name: 'X-Request-Id',
    type: 'string',
    description: 'The id of the request in the log: the one that the client sent, or a new one.',
    value: (_answer, { requestId }) => requestId,
  },
  {
    name: 'X-Content-Type-Options',
    type: 'string',
    description: 'Always `nosniff`.',
    value: () => EVERY_ANSWER['x-content-type-options'],
  },
];

/** The table as OpenAPI describes header fields, and the one that only a traced answer has. */
export const HEADER_DESCRIPTIONS = {
  ...Object.fromEntries(ANSWER_HEADERS.map(({ name, type, description }) => [name, { type, description }])),
  traceresponse: {
    type: 'string',
    description:
      'The W3C trace context of the answer, where the service traces this request: `00-<trace id>-<span id>-01`.',
  },
};

const NAMES_ONLY = ANSWER_HEADERS.flatMap(({ name }) => [name.toLowerCase(), '']);
const VALUES = ANSWER_HEADERS.map(({ value }) => value);

/** The headers as a flat list (name, value, name, value): the form that `writeHead` takes fastest. */
export function answerHeaders(answer: Answer, context: HeaderContext): string[] {
  const fields = NAMES_ONLY.slice();
  let at = 1;
  for (const value of VALUES) {
    fields[at] = value(answer, context);
    at += 2;
  }
  return fields;
}

/** The head of a hit out of memory, good until one of its seconds changes. */
interface HitHead extends SharedHead {
  readonly entityTag: string;
  readonly bornMs: number;
  /** Monotonic. */
  readonly untilMs: number;
}

/** @returns the fields of the answer, with an empty `x-request-id`. */
type Build = () => readonly string[];

/** The heads of the last answers to one URL. */
export interface TargetHeads {
  /** The number of the second of the last answer. */
  second: number;
  heads: readonly (HitHead | undefined)[];
}

export function noHeads(): TargetHeads {
  return { second: -1, heads: NO_HEADS };
}

/** One for each coding, of a page and of a 304. */
const NO_HEADS: TargetHeads['heads'] = [...CODINGS, ...CODINGS].map(() => undefined);
/** Heads take about 2 KiB for each URL: two dozen fields, and their bytes. */
const MAX_TARGETS = 8192;

/**
 * The heads of hits out of memory. All answers out of one entry in one coding share one head for up to a second: until its
 * Age, its `max-age` or its `ttl` changes. The first answer of a second is not kept, because most URLs of a large cache are
 * not asked for again in it. A head knows the entry that it was made for by tag and birth.
 */
export function createHitHeads() {
  let keeping: TargetHeads[] = [];
  let [second, untilMs] = [0, 0];

  return (
    target: TargetHeads,
    answer: Answer,
    nowMs: number,
    { coding, status }: { readonly coding: Coding; readonly status: 200 | 304 },
    build: Build,
  ): SharedHead => {
    const { entry } = answer;
    if (nowMs >= untilMs) {
      for (const kept of keeping) kept.heads = NO_HEADS;
      keeping = [];
      second += 1;
      untilMs = nowMs + 1000;
    }
    const at = CODINGS.indexOf(coding) + (status === 304 ? CODINGS.length : 0);
    const head = target.heads[at];
    if (head !== undefined && nowMs < head.untilMs && head.bornMs === entry.bornMs && head.entityTag === entry.etag)
      return head;
    const fields = build();
    const ownAt = fields.indexOf('x-request-id') + 1;
    const isFirst = target.second !== second;
    target.second = second;
    if (isFirst || (target.heads === NO_HEADS && keeping.length === MAX_TARGETS))
      return { status, fields, ownAt, isKept: false, bytes: undefined };
    const intoSecondMs = (((nowMs - entry.bornMs) % 1000) + 1000) % 1000;
    const made: HitHead = {
      status,
      fields,
      ownAt,
      isKept: true,
      bytes: undefined,
      entityTag: entry.etag,
      bornMs: entry.bornMs,
      untilMs: nowMs + Math.min(1000 - intoSecondMs, answer.remainingMs % 1000),
    };
    if (target.heads === NO_HEADS) keeping.push(target);
    target.heads = target.heads.with(at, made);
    return made;
  };
}

/**
 * `cache;desc=engine, l2;dur=0.8, engine;dur=35.1, total;dur=36.4`: the outcome, then milliseconds. A hit out of memory has
 * no part that takes time, so that its fields are the same for all requests of one second.
 */
function serverTiming({ outcome, timings }: Answer, elapsedMs: number): string {
  let text = `cache;desc=${outcome}`;
  if (outcome === 'hit-l1') return text;
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
  // Rounded down: −0.2 s must read as stale, and 287.9 s must not promise a second that may not be left.
  if (step.kind === 'hit') return `${cache}; hit; ttl=${Math.floor(remainingMs / 1000)}`;
  let text = `${cache}; fwd=${step.why}`;
  if (step.forwardStatus !== undefined) text += `; fwd-status=${step.forwardStatus}`;
  if (step.stored) text += '; stored';
  if (step.collapsed) text += '; collapsed';
  if (step.detail !== undefined) text += `; detail=${step.detail}`;
  return text;
}

/** `Age` (RFC 9111): whole seconds since the engine computed the page. @param nowMs monotonic. */
export function ageSeconds(entry: Entry, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - entry.bornMs) / 1000));
}

/**
 * `Cache-Control` of an answer (RFC 9111, RFC 5861).
 *
 * `max-age` is Age + the smaller of `clientMaxAge` and the remaining fresh time, so a purged page is fresh downstream
 * for at most `clientMaxAge`. `stale-while-revalidate` and `stale-if-error` are at most `clientMaxAge` too: this service
 * judges a page again before it serves it during an outage, and a cache downstream would show a purged one. A stale answer
 * has no fresh time left, so its `max-age` is below its Age, and caches revalidate it at once. All are rounded down, so
 * that no fraction of a second is promised.
 */
export function cacheControl(
  { entry, remainingMs, outcome }: Answer,
  { clientMaxAgeMs, nowMs }: Pick<HeaderContext, 'clientMaxAgeMs' | 'nowMs'>,
): string {
  if (entry.degraded || outcome === 'lifeboat') return 'no-store';
  const age = ageSeconds(entry, nowMs);
  const maxAge = Math.max(0, age + Math.floor(Math.min(clientMaxAgeMs, remainingMs) / 1000));
  const revalidate = Math.floor(Math.min(entry.revalidateForMs, clientMaxAgeMs) / 1000);
  const onError = Math.floor(Math.min(entry.errorForMs, clientMaxAgeMs) / 1000);
  return `public, max-age=${maxAge}, stale-while-revalidate=${revalidate}, stale-if-error=${onError}`;
}

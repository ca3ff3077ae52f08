import { DeadlinePassed } from '../resilience/deadline.ts';
import { SHED_REASONS, Shed } from '../resilience/shed.ts';
import { EngineError, type EngineErrorCode } from './engine.ts';

/**
 * Every refusal of a search is one of these two errors. The table from code to status and title is
 * http/transport/problem.ts.
 */

export type InvalidCode =
  | 'invalid-query'
  | 'unknown-domain'
  | 'invalid-page'
  | 'invalid-sort'
  | 'invalid-filter'
  | 'invalid-facet'
  | 'invalid-highlight'
  | 'invalid-context';

/** The client's fault. `parameter` names what was wrong, `detail` says what is allowed. */
export class InvalidSearch extends Error {
  override readonly name = 'InvalidSearch';
  readonly code: InvalidCode;
  readonly parameter: string;

  constructor(code: InvalidCode, parameter: string, detail: string) {
    super(detail);
    this.code = code;
    this.parameter = parameter;
  }
}

/**
 * `busy`: this process has no room for another search. `over-budget`: the client has spent its misses. `overloaded`: shed by the guard. `engine-open`: refused by the breaker.
 * The rest: the engine was asked and failed.
 */
export type SearchErrorCode =
  | 'busy'
  | 'over-budget'
  | 'overloaded'
  | 'engine-open'
  | 'engine-deadline'
  | 'engine-unavailable'
  | 'engine-rejected';

/** The search has no answer now. */
export class SearchError extends Error {
  override readonly name: string = 'SearchError';
  readonly code: SearchErrorCode;
  /** Time after which another attempt may succeed; http adds jitter. */
  readonly retryAfterMs: number;

  constructor(code: SearchErrorCode, detail: string, retryAfterMs: number, options?: ErrorOptions) {
    super(detail, options);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Another process holds the lease of this key, and a background load does not wait for its page. */
export class LeasedElsewhere extends SearchError {
  override readonly name = 'LeasedElsewhere';

  constructor() {
    super('overloaded', FAILURES.overloaded.detail, FAILURES.overloaded.retryAfterMs);
  }
}

/** 429, 502, 503 or 504: the status an upstream request would have had. */
export type ForwardStatus = 429 | 502 | 503 | 504;

/** `Cache-Status; fwd-status` when a stale page is served in place of this failure. */
export function forwardStatus(code: SearchErrorCode): ForwardStatus {
  return FAILURES[code].forwardStatus;
}

export function searchError(
  code: SearchErrorCode,
  options: ErrorOptions & { retryAfterMs?: number } = {},
): SearchError {
  const { detail, retryAfterMs } = FAILURES[code];
  return new SearchError(code, detail, options.retryAfterMs ?? retryAfterMs, options);
}

/**
 * The errors of the guard and the engine as SearchErrors. Any other error is a bug, and is returned as it is.
 * @param breakerRetryAfterMs time until the open breaker lets a search through again
 */
export function toSearchError(error: unknown, breakerRetryAfterMs: () => number): unknown {
  if (error instanceof DeadlinePassed) return searchError('engine-deadline', { cause: error });
  if (error instanceof Shed) {
    const code = SHED_CODES[error.why === 'left' ? 'limiter' : SHED_REASONS[error.why]];
    return code === 'engine-open' ? searchError(code, { retryAfterMs: breakerRetryAfterMs() }) : searchError(code);
  }
  if (error instanceof EngineError) {
    return searchError(ENGINE_CODES[error.code], { cause: error, retryAfterMs: FAILURE_RETRY_MS });
  }
  return error;
}

/** By the part of the guard that refused. A search that left its queue (`left`) has no client that would read the code. */
const SHED_CODES = { breaker: 'engine-open', limiter: 'overloaded' } as const;

const ENGINE_CODES: Readonly<Record<EngineErrorCode, SearchErrorCode>> = {
  'engine-unavailable': 'engine-unavailable',
  'engine-overloaded': 'overloaded',
  'engine-timeout': 'engine-deadline',
  'engine-rejected': 'engine-rejected',
};

const FAILURE_RETRY_MS = 2000;

interface Failure {
  /**
   * Shown to clients, so it does not contain the engine's own text, which may name hosts and indexes. The log gets that
   * text from `cause`.
   */
  readonly detail: string;
  readonly retryAfterMs: number;
  readonly forwardStatus: ForwardStatus;
}

const FAILURES: Readonly<Record<SearchErrorCode, Failure>> = {
  busy: {
    detail: 'This process has more to do than it can; for now only pages in its memory are served.',
    retryAfterMs: 1000,
    forwardStatus: 503,
  },
  'over-budget': {
    detail: 'this client has asked for too much that is not cached',
    // The budget is a few misses a second: after this time it covers some of them.
    retryAfterMs: 10_000,
    forwardStatus: 429,
  },
  overloaded: {
    detail: 'the engine has more to do than it can',
    // A wait in the queue is a fraction of a second. An engine that refuses for load itself gets FAILURE_RETRY_MS.
    retryAfterMs: 1000,
    forwardStatus: 503,
  },
  'engine-open': {
    detail: 'the engine is failing and is left alone for a while',
    retryAfterMs: FAILURE_RETRY_MS,
    forwardStatus: 503,
  },
  'engine-deadline': {
    detail: 'the engine did not answer in time',
    retryAfterMs: FAILURE_RETRY_MS,
    forwardStatus: 504,
  },
  'engine-unavailable': {
    detail: 'the engine cannot be reached',
    retryAfterMs: FAILURE_RETRY_MS,
    forwardStatus: 503,
  },
  'engine-rejected': { detail: 'the engine refused the query', retryAfterMs: FAILURE_RETRY_MS, forwardStatus: 502 },
};

import { Shed } from '../resilience/admission.ts';
import { DeadlinePassed } from '../resilience/deadline.ts';
import { EngineError, type EngineErrorCode } from './engine.ts';

/** A shed search may be asked again soon: the queue is a fraction of a second long. */
const OVERLOAD_RETRY_MS = 1000;
const FAILURE_RETRY_MS = 2000;
/** A budget of a few misses a second is worth asking again after some of them. */
const BUDGET_RETRY_MS = 10_000;

export function overBudget(): Unanswered {
  return new Unanswered('over-budget', 'this client has asked for too much that is not cached', BUDGET_RETRY_MS);
}

/** Why nobody could answer, in our words. Errors of nobody's making (bugs) are passed through as they are. */
export function toUnanswered(error: unknown, breakerRetryAfterMs: number): unknown {
  if (error instanceof Unanswered) return error;
  if (error instanceof DeadlinePassed) {
    return new Unanswered('engine-deadline', 'the engine did not answer in time', FAILURE_RETRY_MS, { cause: error });
  }
  if (error instanceof Shed) {
    return error.why === 'breaker-open'
      ? new Unanswered('engine-open', 'the engine is failing and is left alone for a while', breakerRetryAfterMs)
      : new Unanswered('overloaded', 'the engine has more to do than it can', OVERLOAD_RETRY_MS);
  }
  if (error instanceof EngineError) {
    return new Unanswered(CODES[error.code], DETAILS[error.code], FAILURE_RETRY_MS, { cause: error });
  }
  return error;
}

const CODES: Readonly<Record<EngineErrorCode, UnansweredCode>> = {
  'engine-unavailable': 'engine-unavailable',
  'engine-overloaded': 'overloaded',
  'engine-timeout': 'engine-deadline',
  'engine-rejected': 'engine-rejected',
};

/** Without the engine's own words: they may name hosts and indexes, which are for the log (the cause), not for clients. */
const DETAILS: Readonly<Record<EngineErrorCode, string>> = {
  'engine-unavailable': 'the engine cannot be reached',
  'engine-overloaded': 'the engine has more to do than it can',
  'engine-timeout': 'the engine did not answer in time',
  'engine-rejected': 'the engine refused the query',
};

export type ForwardStatus = 429 | 502 | 503 | 504;

/** The status an upstream request would have had: what `Cache-Status; fwd-status` says when stale is served instead. */
export function forwardStatus(code: UnansweredCode): ForwardStatus {
  switch (code) {
    case 'over-budget':
      return 429;
    case 'engine-deadline':
      return 504;
    case 'engine-rejected':
      return 502;
    case 'overloaded':
    case 'engine-open':
    case 'engine-unavailable':
      return 503;
  }
}

/** Codes of every refusal a search can end in; http/problem.ts is the one table from code to status and title. */
export type InvalidCode =
  | 'invalid-query'
  | 'unknown-domain'
  | 'invalid-page'
  | 'invalid-sort'
  | 'invalid-filter'
  | 'invalid-facet'
  | 'invalid-highlight'
  | 'invalid-context';

/**
 * `over-budget`: this client's misses are spent. `overloaded`: shed by the permit. `engine-open`: shed by the breaker.
 * The rest: the engine was asked and failed.
 */
export type UnansweredCode =
  | 'over-budget'
  | 'overloaded'
  | 'engine-open'
  | 'engine-deadline'
  | 'engine-unavailable'
  | 'engine-rejected';

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

/** Nobody could answer now. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered';
  readonly code: UnansweredCode;
  /** When asking again may help, in milliseconds; http adds jitter. */
  readonly retryAfterMs: number;

  constructor(code: UnansweredCode, detail: string, retryAfterMs: number, options?: ErrorOptions) {
    super(detail, options);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

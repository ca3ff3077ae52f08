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

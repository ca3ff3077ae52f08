/** The cost of a search without a page, and the facts that its client is told. */
interface ReasonFacts {
  /** The part that refuses. `search`: the load, or the http room before it. */
  readonly by: 'search' | 'guard' | 'engine';
  /** The code of the problem document, its status and title. The status is also `Cache-Status; fwd-status`. */
  readonly code: string;
  readonly status: 429 | 502 | 503 | 504;
  readonly title: string;
  /** Shown to clients, so it does not contain the engine's own text, which may name hosts and indexes. */
  readonly detail: string;
  /** Time after which another attempt may succeed; http adds jitter. */
  readonly retryAfterMs: number;
  /** How the request is counted and logged. */
  readonly outcome: 'rejected' | 'shed' | 'failed';
  /** Whether the client pays for it from its miss budget: not when the search was shed before the engine. */
  readonly isCharged: boolean;
}

const FAILURE_RETRY_MS = 2000;

const OVERLOADED = {
  code: 'overloaded',
  status: 503,
  title: 'Overloaded',
  detail: 'the engine has more to do than it can',
  // A wait in the queue is a fraction of a second.
  retryAfterMs: 1000,
  outcome: 'shed',
  isCharged: false,
} as const;

const FAILED = { retryAfterMs: FAILURE_RETRY_MS, outcome: 'failed', isCharged: true } as const;

const TOO_SLOW = {
  ...FAILED,
  code: 'engine-deadline',
  status: 504,
  title: 'Search engine was too slow',
  detail: 'the engine did not answer in time',
} as const;

/**
 * Why a search ends without a page: the one table of these reasons. Problem documents, statuses, Retry-After, metrics, the
 * log and the miss budget read it. A reason without a row does not compile.
 */
export const REASONS = {
  'over-budget': {
    by: 'search',
    code: 'over-budget',
    status: 429,
    title: 'Too many searches beyond the cache',
    detail:
      'This client has had its share of the engine for now. Pages in the cache are free and still served: ask those, or wait.',
    // The budget is a few misses a second: after this time it covers some of them.
    retryAfterMs: 10_000,
    outcome: 'rejected',
    isCharged: false,
  },
  /** Too many searches wait for the pages of other processes. */
  crowded: { by: 'search', ...OVERLOADED },
  /** Another process holds the lease of this key, and a background load does not wait for its page. */
  leased: { by: 'search', ...OVERLOADED },
  /** The caller no longer wants the call; it is not counted as refused. */
  left: { by: 'search', ...OVERLOADED },
  /** No endpoint may be asked, or a drill is simulating an engine outage. The guard gives the time of the next trial. */
  'breaker-open': {
    by: 'guard',
    code: 'engine-open',
    status: 503,
    title: 'Search engine is recovering',
    detail: 'the engine is failing and is left alone for a while',
    retryAfterMs: FAILURE_RETRY_MS,
    outcome: 'shed',
    isCharged: false,
  },
  /** Calls past their deadline hold every slot. */
  stalled: { by: 'guard', ...OVERLOADED },
  'queue-full': { by: 'guard', ...OVERLOADED },
  /** The search waited too long, or would have to. */
  'queue-expired': { by: 'guard', ...OVERLOADED },
  /** The client's wait for an engine call ended, or a call was given up. */
  'engine-deadline': { by: 'search', ...TOO_SLOW },
  /** No connection, lost connection, all agents dead, shutting down. */
  'engine-unavailable': {
    ...FAILED,
    by: 'engine',
    code: 'engine-unavailable',
    status: 503,
    title: 'Search engine is unavailable',
    detail: 'the engine cannot be reached',
  },
  /** The engine itself refused because of its load (max_children, queue full). */
  'engine-overloaded': { by: 'engine', ...OVERLOADED, retryAfterMs: FAILURE_RETRY_MS },
  'engine-timeout': { by: 'engine', ...TOO_SLOW },
  /** The engine is alive and refused this query (syntax, unknown index): does not trip a breaker. */
  'engine-rejected': {
    ...FAILED,
    by: 'engine',
    code: 'engine-rejected',
    status: 502,
    title: 'Search engine refused the query',
    detail: 'the engine refused the query',
  },
  busy: {
    by: 'search',
    code: 'busy',
    status: 503,
    title: 'Too busy',
    detail: 'This process has more to do than it can; for now only pages in its memory are served.',
    retryAfterMs: 1000,
    outcome: 'shed',
    isCharged: false,
  },
} as const satisfies Readonly<Record<string, ReasonFacts>>;

type Reasons = typeof REASONS;

export type NoPageReason = keyof Reasons;

export type ReasonBy<Part extends ReasonFacts['by']> = {
  [R in NoPageReason]: Reasons[R]['by'] extends Part ? R : never;
}[NoPageReason];

/** Why the guard refused a search before the engine was asked. */
export type ShedReason = ReasonBy<'guard'>;

/** Why an engine gave no page. */
export type EngineReason = ReasonBy<'engine'>;

/** The code of a search without a page in its problem document. */
export type SearchErrorCode = Reasons[NoPageReason]['code'];

export function reasonsBy<Part extends ReasonFacts['by']>(part: Part): readonly ReasonBy<Part>[] {
  return (Object.keys(REASONS) as NoPageReason[]).filter(
    (reason): reason is ReasonBy<Part> => REASONS[reason].by === part,
  );
}

/** The problems of searches without a page, by their code: rows of one code differ in their Retry-After only. */
export const SEARCH_PROBLEMS = Object.fromEntries(
  Object.values(REASONS).map((facts) => [facts.code, facts]),
) as unknown as Readonly<Record<SearchErrorCode, Pick<ReasonFacts, 'status' | 'title' | 'outcome'>>>;

/** A search ends without a page. Guard, engine adapters, loads and admission throw it; any other error is a bug. */
export class SearchError extends Error {
  override readonly name = 'SearchError';
  readonly reason: NoPageReason;
  readonly retryAfterMs: number;

  /** @param message for the log and never for clients: an engine's own text. */
  constructor(reason: NoPageReason, message?: string, options: ErrorOptions & { readonly retryAfterMs?: number } = {}) {
    super(message ?? REASONS[reason].detail, options);
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs ?? REASONS[reason].retryAfterMs;
  }

  get code(): SearchErrorCode {
    return REASONS[this.reason].code;
  }
}

export function isRefusedBy<Part extends ReasonFacts['by']>(
  part: Part,
  error: unknown,
): error is SearchError & { readonly reason: ReasonBy<Part> } {
  return error instanceof SearchError && REASONS[error.reason].by === part;
}

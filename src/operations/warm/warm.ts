/** Warm-ups: fill the cache of one domain in the background, with spare capacity of the engine only. */
export interface WarmUps {
  /** A domain has at most one at a time. @throws OperationError warm-up-running, unknown-domain */
  readonly start: (request: WarmRequest) => WarmUp;
  /**
   * Adds queries to a warm-up `from: 'queries'`. Takes as many as fit and returns their number; the caller sends the rest
   * later. `last`: these are the last ones. @throws OperationError unknown-warm-up, invalid-request
   */
  readonly feed: (
    id: string,
    queries: readonly string[],
    last: boolean,
  ) => { readonly taken: number; readonly warmUp: WarmUp };
  /** @throws OperationError unknown-warm-up */
  readonly stop: (id: string) => WarmUp;
  readonly list: () => readonly WarmUp[];
  readonly close: () => void;
}

export interface WarmRequest {
  readonly domain: string;
  readonly from: 'popular' | 'queries';
  /** Maximum number of engine calls per second, 1–10 000; fewer when the engine has less spare capacity. */
  readonly maxPerSecond: number;
  /** Number of popular queries. */
  readonly top?: number;
}

export interface WarmUp {
  readonly id: string;
  readonly domain: string;
  readonly from: WarmRequest['from'];
  readonly state: 'running' | 'waiting' | 'done' | 'stopped';
  /** Queries taken and finished so far. To resume a query file, skip `settled` lines. */
  readonly taken: number;
  readonly settled: number;
  /** Finished queries that were fresh in the cache, computed, no valid search, or refused or failed. */
  readonly cached: number;
  readonly computed: number;
  readonly invalid: number;
  readonly failed: number;
  readonly seconds: number;
}

/** Events of warm-ups, for the log. */
export type WarmEvent =
  | { readonly kind: 'warm-up-started'; readonly warmUp: WarmUp }
  /** `detail`: why it was stopped, unless by an operator. */
  | { readonly kind: 'warm-up-ended'; readonly warmUp: WarmUp; readonly detail?: string };

/** Fills the cache of one domain beside the traffic, with what the engine has to spare and never at people's cost. */
export interface WarmUps {
  /** One per domain at a time. @throws OperationRefused warm-up-running, unknown-domain */
  readonly start: (ask: WarmRequest) => WarmUp;
  /**
   * More queries for a warm-up `from: 'queries'`. Takes as many as it has room for and says how many; the caller sends
   * the rest later. `last`: no more will come. @throws OperationRefused unknown-warm-up, invalid-request
   */
  readonly feed: (
    id: string,
    queries: readonly string[],
    last: boolean,
  ) => { readonly taken: number; readonly warmUp: WarmUp };
  /** @throws OperationRefused unknown-warm-up */
  readonly stop: (id: string) => WarmUp;
  readonly list: () => readonly WarmUp[];
  readonly close: () => void;
}

export interface WarmRequest {
  readonly domain: string;
  readonly from: 'popular' | 'queries';
  /** Engine calls a second at most; less when the engine has less to spare. 1–10 000. */
  readonly maxPerSecond: number;
  /** Popular queries looked at. */
  readonly top?: number;
}

export interface WarmUp {
  readonly id: string;
  readonly domain: string;
  readonly from: WarmRequest['from'];
  readonly state: 'running' | 'waiting' | 'done' | 'stopped';
  /** Queries taken and settled so far. Who resumes a query file skips so many lines. */
  readonly taken: number;
  readonly settled: number;
  /** Of the settled: fresh in the cache already, computed, not a search at all, refused or failed. */
  readonly cached: number;
  readonly computed: number;
  readonly invalid: number;
  readonly failed: number;
  readonly seconds: number;
}

/** What the warm room says happened, once; metrics, logs and tests read it. */
export type WarmEvent =
  | { readonly kind: 'warm-up-started'; readonly warmUp: WarmUp }
  /** `detail`: why it stopped by itself. */
  | { readonly kind: 'warm-up-ended'; readonly warmUp: WarmUp; readonly detail?: string };

/** What became of one query. */
type Settlement = 'cached' | 'computed' | 'invalid' | 'failed';

/**
 * Counts queries as settled in the order in which they were taken, whatever the order in which they end: whoever resumes
 * a file skips so many lines and misses none.
 */
interface Progress {
  readonly take: (queries: number) => void;
  /** @param place 0 … taken − 1, each once */
  readonly settle: (place: number, settlement: Settlement) => void;
  readonly taken: () => number;
  readonly counts: () => Readonly<Record<'settled' | Settlement, number>>;
}

export function createProgress(): Progress {
  const counts = { settled: 0, cached: 0, computed: 0, invalid: 0, failed: 0 };
  /** Ended before one that was taken before them; as many as are taken and not settled at most. */
  const ahead = new Map<number, Settlement>();
  let taken = 0;
  return {
    take: (queries) => {
      taken += queries;
    },
    settle: (place, settlement) => {
      ahead.set(place, settlement);
      for (let next = ahead.get(counts.settled); next !== undefined; next = ahead.get(counts.settled)) {
        ahead.delete(counts.settled);
        counts.settled += 1;
        counts[next] += 1;
      }
    },
    taken: () => taken,
    counts: () => ({ ...counts }),
  };
}

/** What became of one query. */
export type Settlement = 'cached' | 'computed' | 'invalid' | 'failed';

/**
 * Counts queries as settled in the order in which they were taken, whatever the order in which they end: whoever resumes
 * a file skips so many lines and misses none.
 */
export interface Progress {
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

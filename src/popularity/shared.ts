import { pause, repeat } from '../runtime.ts';
import type { Popularity } from './popularity.ts';

/**
 * The counts of queries of all processes, in a store of their own, so that counting does not load the stores of results.
 * The contract, checked by test/contract/counters.ts: no method rejects, each settles within `deadlineMs`, and the stored
 * counts are bounded and expire.
 */
export interface CounterStore {
  /** Adds counts. False: the store did not take all of them. */
  readonly add: (domain: string, counts: readonly QueryCount[], deadlineMs: number) => Promise<boolean>;
  /** The `n` most popular queries of about the last hour, in descending order; undefined when the store cannot be asked. */
  readonly top: (domain: string, n: number, deadlineMs: number) => Promise<readonly QueryCount[] | undefined>;
}

export interface QueryCount {
  /** The search as a query string that leads to the same key: `q=…&filter=…`. At most `MAX_SEARCH_BYTES`. */
  readonly search: string;
  readonly count: number;
}

/** Longer than any typed search, in bytes. */
export const MAX_SEARCH_BYTES = 1024;

export interface MostAsked {
  readonly source: 'fleet' | 'process';
  readonly queries: readonly QueryCount[];
}

/** Events of the popularity room, for metrics and tests. */
export type PopularityEvent =
  /** The queries of one round that the store took. */
  | { readonly kind: 'popularity-added'; readonly domain: string; readonly queries: number }
  /** The store was slow or refused: the counts are lost for the fleet, and kept in this process. */
  | { readonly kind: 'popularity-dropped'; readonly domain: string; readonly queries: number };

interface SharedPopularityOptions<T> {
  readonly domain: string;
  readonly local: Pick<Popularity<T>, 'drain' | 'top'>;
  /** The search in the form of the counter store; undefined: it is not counted. */
  readonly searchOf: (item: T) => string | undefined;
  /** Absent: there are no rounds, and `top` gives the queries of this process. */
  readonly counters?: CounterStore;
  readonly random: () => number;
  readonly observe: (event: PopularityEvent) => void;
}

const INTERVAL_MS = 5000;
/** Deadline of one batch, and of a read of the top. */
const DEADLINE_MS = 200;
/** Enough for the head of a Zipf distribution. Less popular queries stay for the next round. */
const MAX_PER_ROUND = 384;
const MAX_PER_BATCH = 128;
/** Pause between the batches of a round, so that the one thread of the store can serve other clients. */
const PAUSE_MS = 20;

/**
 * The most popular queries of the fleet: each process adds its notes since the last round to the counter store. There is one
 * round at a time, and counts that the store does not take at once are dropped and reported, so that counting never waits.
 */
export function createSharedPopularity<T>(options: SharedPopularityOptions<T>) {
  const { domain, local, searchOf, counters, random, observe } = options;
  const closing = new AbortController();

  const noted = (): QueryCount[] => {
    const counts: QueryCount[] = [];
    for (const { item, notes } of local.drain(MAX_PER_ROUND)) {
      const search = countable(searchOf(item));
      if (search !== undefined) counts.push({ search, count: notes });
    }
    return counts;
  };

  const round = async (store: CounterStore): Promise<void> => {
    const counts = noted();
    let sent = 0;
    while (sent < counts.length && !closing.signal.aborted) {
      const batch = counts.slice(sent, sent + MAX_PER_BATCH);
      // After a refusal or a late reply the rest of the round is dropped, to put no more load on the store.
      if (!(await store.add(domain, batch, DEADLINE_MS))) break;
      sent += batch.length;
      await pause(PAUSE_MS, closing.signal);
    }
    if (sent > 0) observe({ kind: 'popularity-added', domain, queries: sent });
    if (sent < counts.length) observe({ kind: 'popularity-dropped', domain, queries: counts.length - sent });
  };
  /** Spread by ±20 %, so that the processes of a fleet do not add at the same time. */
  const waitMs = (): number => INTERVAL_MS * (0.8 + 0.4 * random());
  const endRounds = counters && repeat(() => round(counters), waitMs, waitMs());

  const own = (n: number): readonly QueryCount[] =>
    local.top(n).flatMap(({ item, count, error }) => {
      const search = countable(searchOf(item));
      return search === undefined ? [] : [{ search, count: Math.round(10 * (count - error)) / 10 }];
    });

  return {
    /** In descending order: of the fleet, or of this process while the store does not answer in time. */
    top: async (n: number): Promise<MostAsked> => {
      const queries = await counters?.top(domain, n, DEADLINE_MS);
      return queries === undefined ? { source: 'process', queries: own(n) } : { source: 'fleet', queries };
    },
    /** Ends the rounds. Counts that were not sent are not sent any more. */
    close: (): void => {
      endRounds?.();
      closing.abort();
    },
  };
}

/** Undefined when the search is too long to be counted. */
function countable(search: string | undefined): string | undefined {
  return search !== undefined && Buffer.byteLength(search) <= MAX_SEARCH_BYTES ? search : undefined;
}

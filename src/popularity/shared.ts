import type { Popularity } from './popularity.ts';

/**
 * What the whole fleet is asked most: each process adds what it noted since its last round to the counter store. Counting
 * is never worth waiting for: one round at a time, and what the store does not take at once is dropped and said so.
 */
export interface SharedPopularity {
  /** Most asked first: the fleet's, or this process's own while the store cannot be asked in time. */
  readonly top: (n: number) => Promise<MostAsked>;
  /** Ends the rounds; what was not sent yet stays unsent. */
  readonly close: () => void;
}

export interface MostAsked {
  readonly source: 'fleet' | 'process';
  readonly queries: readonly QueryCount[];
}

/** What this part says happened. */
export type PopularityEvent =
  /** Of one round: what was taken. */
  | { readonly kind: 'popularity-added'; readonly domain: string; readonly queries: number }
  /** The store was slow or refused: these counts are lost to the fleet, and kept in this process. */
  | { readonly kind: 'popularity-dropped'; readonly domain: string; readonly queries: number };

export interface SharedPopularityOptions<T> {
  readonly domain: string;
  readonly local: Pick<Popularity<T>, 'drain' | 'top'>;
  /** The search as the counter store keeps it; undefined: it is not counted. */
  readonly searchOf: (item: T) => string | undefined;
  /** Without one there are no rounds, and `top` is this process's own. */
  readonly counters?: CounterStore;
  readonly random: () => number;
  readonly observe: (event: PopularityEvent) => void;
  readonly intervalMs?: number;
  /** Of one batch, and of asking for the top. */
  readonly deadlineMs?: number;
}

/** What a Zipf head needs: what is asked less is asked of every process, and comes to the next round. */
const MAX_PER_ROUND = 384;
const MAX_PER_BATCH = 128;
/** Between the batches of a round: others use the store's one thread, too. */
const PAUSE_MS = 20;

export function createSharedPopularity<T>(options: SharedPopularityOptions<T>): SharedPopularity {
  const { domain, local, searchOf, counters, random, observe } = options;
  const { intervalMs = 5000, deadlineMs = 200 } = options;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const later = (waitMs: number, next: () => void): void => {
    if (!closed) timer = setTimeout(next, waitMs).unref();
  };

  const noted = (): QueryCount[] => {
    const counts: QueryCount[] = [];
    for (const { item, notes } of local.drain(MAX_PER_ROUND)) {
      const search = countable(searchOf(item));
      if (search !== undefined) counts.push({ search, count: notes });
    }
    return counts;
  };

  const rounds = (store: CounterStore): void => {
    /** Spread by ±20 %, so that a fleet does not add in step. */
    const begin = (): void => later(intervalMs * (0.8 + 0.4 * random()), () => send(noted(), 0));
    const send = async (counts: readonly QueryCount[], sent: number): Promise<void> => {
      const batch = counts.slice(sent, sent + MAX_PER_BATCH);
      if (batch.length > 0 && (await store.add(domain, batch, deadlineMs))) {
        later(PAUSE_MS, () => send(counts, sent + batch.length));
        return;
      }
      // Refused or too late: the rest of the round would only add to the store's trouble.
      if (sent > 0) observe({ kind: 'popularity-added', domain, queries: sent });
      if (sent < counts.length) observe({ kind: 'popularity-dropped', domain, queries: counts.length - sent });
      begin();
    };
    begin();
  };
  if (counters !== undefined) rounds(counters);

  const own = (n: number): readonly QueryCount[] =>
    local.top(n).flatMap(({ item, count, error }) => {
      const search = countable(searchOf(item));
      return search === undefined ? [] : [{ search, count: Math.round(10 * (count - error)) / 10 }];
    });

  return {
    top: async (n) => {
      const queries = await counters?.top(domain, n, deadlineMs);
      return queries === undefined ? { source: 'process', queries: own(n) } : { source: 'fleet', queries };
    },
    close: () => {
      closed = true;
      clearTimeout(timer);
    },
  };
}

/** A longer one was typed by nobody. */
function countable(search: string | undefined): string | undefined {
  return search !== undefined && Buffer.byteLength(search) <= MAX_SEARCH_BYTES ? search : undefined;
}

/**
 * Where all processes add up what is asked, in a store of its own, so that counting never loads the result stores.
 * Promises, checked by test/contract/counters.ts: nothing rejects, everything settles within `deadlineMs`, and what is
 * kept is bounded and lapses by itself.
 */
export interface CounterStore {
  /** Adds counts, in one pipeline of at most 128 commands; false: nothing or not all of it was taken. */
  readonly add: (domain: string, counts: readonly QueryCount[], deadlineMs: number) => Promise<boolean>;
  /** The `n` most asked over the last hour or so, most first; undefined when the store cannot be asked. */
  readonly top: (domain: string, n: number, deadlineMs: number) => Promise<readonly QueryCount[] | undefined>;
}

export interface QueryCount {
  /** The search as a query string that gives the same key again: `q=…&filter=…`. At most `MAX_SEARCH_BYTES`. */
  readonly search: string;
  readonly count: number;
}

/** A longer one was typed by nobody. */
export const MAX_SEARCH_BYTES = 1024;

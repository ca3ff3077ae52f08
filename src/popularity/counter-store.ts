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

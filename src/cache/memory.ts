import type { Entry } from './entry.ts';

/**
 * The L1 port: memory in the process, bounded in bytes, synchronous. Empty pages have a small budget of their own, so that
 * a stream of queries without results never evicts a page with results.
 */
export interface MemoryTier {
  /** The entry whatever its age; the caller judges freshness. Counts as a use. */
  readonly get: (key: string) => Entry | undefined;
  /** Without counting as a use (explain, backfill). */
  readonly peek: (key: string) => Entry | undefined;
  /** False when the entry is larger than its budget: no entry of the key is held then. */
  readonly set: (key: string, entry: Entry) => boolean;
  /**
   * Whether an entry that the store has too is worth a place: while there is room, for a key that is here already, and for
   * a key that was asked about shortly before. Counts as a question.
   */
  readonly admits: (key: string, entry: Entry) => boolean;
  readonly delete: (key: string) => boolean;
  /**
   * Hottest first, as far as it is known; pages with results before pages without. May be iterated in pieces while
   * entries change: an entry that stays is returned once (seldom twice), a new entry perhaps not at all.
   */
  readonly keys: () => Iterable<string>;
  readonly usage: () => MemoryUsage;
}

export interface MemoryUsage {
  /** Pages with results. Empty pages are counted separately. */
  readonly entries: number;
  readonly bytes: number;
  readonly maxBytes: number;
  readonly emptyEntries: number;
  readonly emptyBytes: number;
  readonly emptyMaxBytes: number;
  readonly evictions: number;
  /** Misses of keys that were evicted lately: hits of a memory of about twice the size. */
  readonly ghostHits: number;
}

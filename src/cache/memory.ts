import type { Entry } from './entry.ts';

/**
 * The L1 port: memory in the process, bounded in bytes, synchronous. Empty pages live in a small budget of their own,
 * so that a stream of queries nobody can answer never evicts an answer.
 */
export interface MemoryTier {
  /** The entry whatever its age; the caller judges freshness. Counts as a use. */
  readonly get: (key: string) => Entry | undefined;
  /** Without counting as a use (explain, re-seeding). */
  readonly peek: (key: string) => Entry | undefined;
  readonly set: (key: string, entry: Entry) => void;
  readonly delete: (key: string) => boolean;
  /**
   * Hottest first as far as it is known, pages with results before those without. May be walked in pieces while entries
   * change: one that stays is named once (seldom twice), one that comes meanwhile perhaps not.
   */
  readonly keys: () => Iterable<string>;
  readonly usage: () => MemoryUsage;
}

export interface MemoryUsage {
  /** Pages with results; those without are counted apart. */
  readonly entries: number;
  readonly bytes: number;
  readonly maxBytes: number;
  readonly emptyEntries: number;
  readonly emptyBytes: number;
  readonly emptyMaxBytes: number;
  readonly evictions: number;
}

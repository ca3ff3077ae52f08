import type { Entry } from '../../cache/entry.ts';
import type { MemoryTier } from '../../cache/memory.ts';
import { createSieve } from './sieve.ts';

export interface MemoryTierOptions {
  /** For pages with results. */
  readonly maxBytes: number;
  /** For pages without. */
  readonly emptyMaxBytes: number;
}

/**
 * What an entry costs beside its encoded bytes: the entry object, its views, the map slot and the queue node. Measured
 * as memory grown per entry over 20,000 entries of 20 ids, rounded up (test/stores/memory).
 */
export const ENTRY_OVERHEAD_BYTES = 1280;

export function createMemoryTier(options: MemoryTierOptions): MemoryTier {
  const pages = createSieve<Entry>(options.maxBytes);
  const empties = createSieve<Entry>(options.emptyMaxBytes);
  return {
    get: (key) => pages.get(key) ?? empties.get(key),
    peek: (key) => pages.peek(key) ?? empties.peek(key),
    set: (key, entry) => {
      const [home, other] = entry.empty ? [empties, pages] : [pages, empties];
      other.delete(key);
      home.set(key, entry, entry.encoded.length + ENTRY_OVERHEAD_BYTES);
    },
    delete: (key) => {
      const page = pages.delete(key);
      return empties.delete(key) || page;
    },
    keys: function* () {
      yield* pages.keys();
      yield* empties.keys();
    },
    usage: () => ({
      entries: pages.size(),
      bytes: pages.bytes(),
      maxBytes: options.maxBytes,
      emptyEntries: empties.size(),
      emptyBytes: empties.bytes(),
      emptyMaxBytes: options.emptyMaxBytes,
      evictions: pages.evictions() + empties.evictions(),
    }),
  };
}

import { crc32 } from 'node:zlib';
import type { Entry } from '../../cache/entry.ts';
import type { MemoryTier } from '../../cache/memory.ts';

interface MemoryTierOptions {
  readonly maxBytes: number;
  readonly emptyMaxBytes: number;
}

/**
 * The cost of an entry beside its encoded bytes: the entry object, its views, the map slot and the queue node. Measured
 * as memory growth per entry over 20,000 entries of 20 ids, rounded up (test/stores/memory).
 */
export const ENTRY_OVERHEAD_BYTES = 1280;

export function createMemoryTier(options: MemoryTierOptions): MemoryTier {
  const fitting = (options.maxBytes + options.emptyMaxBytes) / TYPICAL_BYTES;
  /** Keys that were evicted lately: about as many as entries fit. */
  const ghosts = createLastKeys(Math.min(MAX_GHOSTS, fitting));
  let ghostHits = 0;
  const pages = createSieve<Entry>(options.maxBytes, ghosts.add);
  const empties = createSieve<Entry>(options.emptyMaxBytes, ghosts.add);
  /**
   * Keys that were refused lately: a doorkeeper (Einziger et al., TinyLFU, ACM ToS '17). Most pages of a store are asked
   * for once while a full L1 holds them, so at first sight such a page only evicts another one, and becomes garbage that
   * has outlived the young generation.
   */
  const refused = createLastKeys(fitting * KEYS_PER_ENTRY);
  // Separate, so that a hit does not pass the look-up of ghosts.
  const withoutPage = (key: string): Entry | undefined => {
    const empty = empties.get(key);
    if (empty !== undefined || !ghosts.has(key)) return empty;
    // It would have been a hit in a larger memory. One search looks several times before its page is here again, and
    // counts once.
    ghosts.delete(key);
    ghostHits += 1;
    return undefined;
  };
  return {
    get: (key) => pages.get(key) ?? withoutPage(key),
    peek: (key) => pages.peek(key) ?? empties.peek(key),
    admits: (key, entry) => {
      const [home, other] = entry.empty ? [empties, pages] : [pages, empties];
      if (home.hasRoom(entry.encoded.length + ENTRY_OVERHEAD_BYTES)) return true;
      if (home.peek(key) !== undefined || other.peek(key) !== undefined) return true;
      const isKnown = refused.has(key);
      if (!isKnown) refused.add(key);
      return isKnown;
    },
    set: (key, entry) => {
      const [home, other] = entry.empty ? [empties, pages] : [pages, empties];
      other.delete(key);
      return home.set(key, entry, entry.encoded.length + ENTRY_OVERHEAD_BYTES);
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
      ghostHits,
    }),
  };
}

/** The size of a typical entry with its overhead, to estimate how many fit. */
const TYPICAL_BYTES = 4096 + ENTRY_OVERHEAD_BYTES;

/** Keys remembered for each entry that fits: one whose next use is further away would be evicted before it. */
const KEYS_PER_ENTRY = 4;
/** 4 MiB; with more entries, the oldest ghosts are forgotten sooner. */
const MAX_GHOSTS = 2 ** 20;

/** The last keys of some number, in one array. A key takes one slot, and a later key may take it over. */
function createLastKeys(keys: number) {
  const hashes = new Uint32Array(2 ** Math.ceil(Math.log2(Math.max(256, keys))));
  // Two keys with one hash are taken for one, which does no harm. 0 stands for an empty slot.
  const hashOf = (key: string): number => crc32(key) || 1;
  const slotOf = (hash: number): number => hash & (hashes.length - 1);
  return {
    has: (key: string): boolean => {
      const hash = hashOf(key);
      return hashes[slotOf(hash)] === hash;
    },
    add: (key: string): void => {
      const hash = hashOf(key);
      hashes[slotOf(hash)] = hash;
    },
    delete: (key: string): void => {
      hashes[slotOf(hashOf(key))] = 0;
    },
  };
}

interface Node<V> {
  readonly key: string;
  value: V;
  bytes: number;
  /** 0: not used since the last pass of the hand. Else the number of walks that had begun at its first use. */
  visited: number;
  newer: Node<V> | undefined;
  older: Node<V> | undefined;
}

/**
 * A byte-bounded map with SIEVE eviction (Zhang et al., NSDI '24): one queue in order of insertion, a visited bit that a
 * hit sets, and a hand that walks from old to new, clears set bits and evicts the first entry whose bit is not set. A hit
 * moves nothing, so it costs one map look-up; a key that was read once leaves at the next pass of the hand.
 * @param onEvicted called with each key that is evicted, not with those that are deleted or too large
 */
export function createSieve<V>(maxBytes: number, onEvicted: (key: string) => void = () => {}) {
  const nodes = new Map<string, Node<V>>();
  let newest: Node<V> | undefined;
  let oldest: Node<V> | undefined;
  let hand: Node<V> | undefined;
  let usedBytes = 0;
  let evictions = 0;
  /** Starts at 1, because 0 means not used. */
  let walks = 1;

  const unlink = (node: Node<V>): void => {
    if (hand === node) hand = node.newer;
    if (node.newer === undefined) newest = node.older;
    else node.newer.older = node.older;
    if (node.older === undefined) oldest = node.newer;
    else node.older.newer = node.newer;
    nodes.delete(node.key);
    usedBytes -= node.bytes;
  };

  const evictOne = (): void => {
    let candidate = hand ?? oldest;
    while (candidate !== undefined && candidate.visited > 0) {
      candidate.visited = 0;
      candidate = candidate.newer ?? oldest;
    }
    if (candidate === undefined) return;
    hand = candidate.newer;
    unlink(candidate);
    evictions += 1;
    onEvicted(candidate.key);
  };

  /**
   * A node that is unlinked during the walk still points to an older node, so the walk continues from it, and it ends
   * because it only moves to older nodes. A key whose first use came after the walk began may have been skipped by the
   * first pass, so the second pass yields it too.
   */
  function* walkKeys(): Generator<string> {
    walks += 1;
    const began = walks;
    for (let node = newest; node !== undefined; node = node.older) {
      if (node.visited > 0 && nodes.get(node.key) === node) yield node.key;
    }
    for (let node = newest; node !== undefined; node = node.older) {
      const yielded = node.visited > 0 && node.visited < began;
      if (!yielded && nodes.get(node.key) === node) yield node.key;
    }
  }

  const visit = (node: Node<V>): void => {
    if (node.visited === 0) node.visited = walks;
  };

  return {
    /** Keys used since the last pass of the hand, then the others, newest first. Copies nothing: MemoryTier.keys. */
    keys: walkKeys,
    get: (key: string): V | undefined => {
      const node = nodes.get(key);
      if (node === undefined) return undefined;
      visit(node);
      return node.value;
    },
    peek: (key: string): V | undefined => nodes.get(key)?.value,
    /** Whether a new value of this size needs no eviction. */
    hasRoom: (bytes: number): boolean => usedBytes + bytes <= maxBytes,
    /** False for a value larger than the whole budget: it is not kept, and removes an older value of its key. */
    set: (key: string, value: V, bytes: number): boolean => {
      const known = nodes.get(key);
      if (bytes > maxBytes) {
        if (known !== undefined) unlink(known);
        return false;
      }
      if (known !== undefined) {
        usedBytes += bytes - known.bytes;
        known.value = value;
        known.bytes = bytes;
        visit(known);
      } else {
        // Evict before inserting: when all others are visited, the hand would evict the new entry itself.
        while (usedBytes + bytes > maxBytes) evictOne();
        const node: Node<V> = { key, value, bytes, visited: 0, newer: undefined, older: newest };
        if (newest === undefined) oldest = node;
        else newest.newer = node;
        newest = node;
        nodes.set(key, node);
        usedBytes += bytes;
      }
      while (usedBytes > maxBytes) evictOne();
      return true;
    },
    delete: (key: string): boolean => {
      const node = nodes.get(key);
      if (node !== undefined) unlink(node);
      return node !== undefined;
    },
    size: (): number => nodes.size,
    bytes: (): number => usedBytes,
    evictions: (): number => evictions,
  };
}

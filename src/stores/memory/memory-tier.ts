import { crc32 } from 'node:zlib';
import type { Entry } from '../../cache/entry.ts';
import type { MemoryTier } from '../../cache/memory.ts';

interface MemoryTierOptions {
  /** Budget of pages with results. */
  readonly maxBytes: number;
  /** Budget of pages without results. */
  readonly emptyMaxBytes: number;
}

/**
 * The cost of an entry beside its encoded bytes: the entry object, its views, the map slot and the queue node. Measured
 * as memory growth per entry over 20,000 entries of 20 ids, rounded up (test/stores/memory).
 */
export const ENTRY_OVERHEAD_BYTES = 1280;

export function createMemoryTier(options: MemoryTierOptions): MemoryTier {
  const fitting = (options.maxBytes + options.emptyMaxBytes) / TYPICAL_BYTES;
  const ghosts = createGhosts(fitting);
  const pages = createSieve<Entry>(options.maxBytes, ghosts.evicted);
  const empties = createSieve<Entry>(options.emptyMaxBytes, ghosts.evicted);
  const doorkeeper = createDoorkeeper(fitting);
  // Separate, so that a hit does not pass the look-up of ghosts.
  const withoutPage = (key: string): Entry | undefined => {
    const empty = empties.get(key);
    if (empty === undefined) ghosts.missed(key);
    return empty;
  };
  return {
    get: (key) => pages.get(key) ?? withoutPage(key),
    peek: (key) => pages.peek(key) ?? empties.peek(key),
    admits: (key, entry) => {
      const [home, other] = entry.empty ? [empties, pages] : [pages, empties];
      if (home.hasRoom(entry.encoded.length + ENTRY_OVERHEAD_BYTES)) return true;
      return home.peek(key) !== undefined || other.peek(key) !== undefined || doorkeeper.sawBefore(key);
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
      ghostHits: ghosts.hits(),
    }),
  };
}

/** The size of a typical entry with its overhead, to estimate how many fit. */
const TYPICAL_BYTES = 4096 + ENTRY_OVERHEAD_BYTES;

/** Keys remembered for each entry that fits: a key whose next use is further away would be evicted before it. */
const KEYS_PER_ENTRY = 4;

/**
 * Remembers the last few keys that were refused, in one array: a doorkeeper (Einziger et al., TinyLFU, ACM ToS '17). Most
 * pages of a store are asked for once while a full L1 holds them, so at first sight such a page only evicts another one,
 * and becomes garbage that has outlived the young generation. A key takes one slot, and a later key may take it over.
 */
function createDoorkeeper(entries: number): { readonly sawBefore: (key: string) => boolean } {
  const slots = 2 ** Math.ceil(Math.log2(Math.max(256, entries * KEYS_PER_ENTRY)));
  const seen = new Uint32Array(slots);
  return {
    sawBefore: (key) => {
      // Two keys with one hash admit each other early, which does no harm.
      const hash = hashOf(key);
      const slot = hash & (slots - 1);
      if (seen[slot] === hash) return true;
      seen[slot] = hash;
      return false;
    },
  };
}

/** Keys that were evicted lately. A miss of such a key would have been a hit in a larger memory. */
interface Ghosts {
  readonly evicted: (key: string) => void;
  readonly missed: (key: string) => void;
  readonly hits: () => number;
}

/** 4 MiB; with more entries, the oldest ghosts are forgotten sooner. */
const MAX_GHOSTS = 2 ** 20;

/** Remembers about as many evicted keys as entries fit, in one array, as the doorkeeper does. */
function createGhosts(entries: number): Ghosts {
  const slots = Math.min(MAX_GHOSTS, 2 ** Math.ceil(Math.log2(Math.max(256, entries))));
  const ghosts = new Uint32Array(slots);
  let hits = 0;
  return {
    evicted: (key) => {
      const hash = hashOf(key);
      ghosts[hash & (slots - 1)] = hash;
    },
    missed: (key) => {
      const hash = hashOf(key);
      const slot = hash & (slots - 1);
      if (ghosts[slot] !== hash) return;
      // One search looks several times before its page is here again, and counts once.
      ghosts[slot] = 0;
      hits += 1;
    },
    hits: () => hits,
  };
}

/** 0 stands for an empty slot, so it is the hash of no key. */
const hashOf = (key: string): number => crc32(key) || 1;

/**
 * A byte-bounded map with SIEVE eviction (Zhang et al., NSDI '24): one queue in order of insertion, a visited bit that a
 * hit sets, and a hand that walks from old to new, clears set bits and evicts the first entry whose bit is not set. A hit
 * moves nothing, so it costs one map look-up; a key that was read once leaves at the next pass of the hand.
 */
export interface Sieve<V> {
  readonly get: (key: string) => V | undefined;
  readonly peek: (key: string) => V | undefined;
  /** False for a value larger than the whole budget: it is not kept, and removes an older value of its key. */
  readonly set: (key: string, value: V, bytes: number) => boolean;
  readonly delete: (key: string) => boolean;
  /** Whether a new value of this size needs no eviction. */
  readonly hasRoom: (bytes: number) => boolean;
  /**
   * Keys used since the last pass of the hand, then the others, newest first in both. Copies nothing; see
   * MemoryTier.keys.
   */
  readonly keys: () => Iterable<string>;
  readonly size: () => number;
  readonly bytes: () => number;
  readonly evictions: () => number;
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

/** @param onEvicted called with each key that is evicted, not with those that are deleted or too large */
export function createSieve<V>(maxBytes: number, onEvicted: (key: string) => void = () => {}): Sieve<V> {
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
    keys: walkKeys,
    get: (key) => {
      const node = nodes.get(key);
      if (node === undefined) return undefined;
      visit(node);
      return node.value;
    },
    peek: (key) => nodes.get(key)?.value,
    hasRoom: (bytes) => usedBytes + bytes <= maxBytes,
    set: (key, value, bytes) => {
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
    delete: (key) => {
      const node = nodes.get(key);
      if (node !== undefined) unlink(node);
      return node !== undefined;
    },
    size: () => nodes.size,
    bytes: () => usedBytes,
    evictions: () => evictions,
  };
}

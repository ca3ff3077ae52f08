import type { Clock } from '../runtime.ts';
import { type Decoded, decodeEntry } from './codec.ts';
import { type Entry, type Freshness, freshnessOf, heldToPolicy, type LifetimePolicy, storedForMs } from './entry.ts';
import type { CacheEvent, MissReason } from './events.ts';
import { type EntryRules, isRefused, type RuledName } from './invalidation.ts';
import type { Lease } from './lease.ts';
import type { MemoryTier } from './memory.ts';
import type { Signing } from './signing.ts';
import { createSingleflight } from './singleflight.ts';
import type { Store, StoreRead } from './store.ts';

/** What identifies an entry in both tiers. */
export interface CacheName extends RuledName {
  readonly key: string;
  readonly canonical: string;
}

/** What a tier had to say. `entry` with `expired` is never returned: it is a miss. */
export type Lookup =
  | { readonly kind: 'found'; readonly entry: Entry; readonly freshness: Exclude<Freshness, 'expired'> }
  | {
      readonly kind: 'missed';
      readonly reason: MissReason;
      /** With `store-slow`: a servable entry that may still arrive; undefined when not. Never rejects. */
      readonly late?: Promise<Entry | undefined>;
    };

export interface Tiers {
  /** What may be done with an entry at this moment: rules change while it is held in somebody's hand. */
  readonly validate: (entry: Entry, name: RuledName) => Lookup;
  readonly fromMemory: (name: CacheName) => Lookup;
  /** Readers of one name at one time share one read. A found entry is already in L1. */
  readonly fromStore: (name: CacheName) => Promise<Lookup>;
  readonly fromStoreMany: (names: readonly CacheName[]) => Promise<readonly Lookup[]>;
  /** What a store gave for a name by another way than a read. A servable entry is then in L1. */
  readonly open: (name: CacheName, value: Buffer) => Lookup;
  /**
   * To L1 at once and to L2 behind the caller's back, by the lease where there is one; it ends either way. `l2`: whether
   * the store was asked to keep it.
   */
  readonly set: (name: CacheName, entry: Entry, options: SetOptions) => StoredIn;
  readonly hasStore: boolean;
}

export interface SetOptions {
  /** False when the store has just failed: it is asked all the same, but nobody is told that it keeps the entry. */
  readonly storeIsUp: boolean;
  readonly lease?: Lease;
}

export interface StoredIn {
  readonly l1: boolean;
  readonly l2: boolean;
}

export interface TiersOptions extends StoredEntryLimits {
  readonly domain: string;
  readonly memory: MemoryTier;
  readonly store?: Store;
  readonly storeDeadlineMs: number;
  readonly rules: EntryRules;
  readonly observe: (event: CacheEvent) => void;
}

export function createTiers(options: TiersOptions): Tiers {
  const { domain, memory, store, rules, clock, observe } = options;
  const reads = createSingleflight<Lookup>();

  const judge = (entry: Entry, name: RuledName): Lookup => {
    const verdict = rules.judge(entry, name);
    if (isRefused(verdict)) return { kind: 'missed', reason: verdict };
    const age = freshnessOf(entry, clock.monotonicMs());
    if (age === 'expired') return { kind: 'missed', reason: 'lapsed' };
    return { kind: 'found', entry, freshness: age === 'fresh' && verdict === 'outdated' ? 'stale' : age };
  };

  const open = (name: CacheName, value: Buffer): Lookup => {
    const decoded = decodeStored(value, name.canonical, options);
    if (decoded.kind !== 'entry') return { kind: 'missed', reason: decoded.kind };
    const judged = judge(decoded.entry, name);
    if (judged.kind === 'found') keepInMemory(name, judged.entry);
    return judged;
  };

  const settle = (read: StoreRead, name: CacheName): Lookup => {
    switch (read.kind) {
      case 'value':
        return open(name, read.value);
      case 'absent':
        return { kind: 'missed', reason: 'unseen' };
      case 'fault': {
        if (read.late === undefined) return { kind: 'missed', reason: read.fault };
        // A late reply still fills L1, whoever waits for it.
        const late = read.late.then((value) => {
          if (value === undefined) return undefined;
          const lookup = open(name, value);
          return isFresh(lookup) ? lookup.entry : undefined;
        });
        return { kind: 'missed', reason: read.fault, late };
      }
    }
  };

  /**
   * A degraded page never takes the place of a whole one that may still be served, now or when a drill has ended; an older
   * page takes that of a newer only when it alone is fresh (jitter spreads lifetimes, so the older may live longer).
   */
  const keepInMemory = (name: CacheName, entry: Entry): boolean => {
    const held = memory.peek(name.key);
    if (held !== undefined) {
      const judged = judge(held, name);
      const isOlder = !entry.degraded && held.bornMs > entry.bornMs && !isFresher(entry, judged, name);
      const mayServe = judged.kind === 'found' || (entry.degraded && isOnlyFlushed(held, judged));
      if (mayServe && !held.degraded && (entry.degraded || isOlder)) return false;
    }
    memory.set(name.key, entry);
    observe({ kind: 'stored', domain, tier: 'l1', bytes: entry.encoded.length });
    return true;
  };

  /** A drill may be all that keeps it from being served. */
  const isOnlyFlushed = (held: Entry, judged: Lookup): boolean =>
    judged.kind === 'missed' && judged.reason === 'flushed' && freshnessOf(held, clock.monotonicMs()) !== 'expired';

  const isFresher = (entry: Entry, held: Lookup, name: RuledName): boolean =>
    isFresh(judge(entry, name)) && !isFresh(held);

  const write = async (target: Store, name: CacheName, entry: Entry, lease: Lease | undefined): Promise<void> => {
    const ttlMs = storedForMs(entry, clock.monotonicMs());
    const written = await (lease?.write(entry.encoded, ttlMs) ?? target.write(name.storeName, entry.encoded, ttlMs));
    if (written.kind === 'stored') observe({ kind: 'stored', domain, tier: 'l2', bytes: entry.encoded.length });
    else observe({ kind: 'not-stored', domain, tier: 'l2', why: written.fault });
  };

  return {
    hasStore: store !== undefined,
    validate: judge,
    open,
    fromMemory: (name) => {
      const entry = memory.get(name.key);
      return entry === undefined ? { kind: 'missed', reason: 'unseen' } : judge(entry, name);
    },
    fromStore: (name) => {
      if (store === undefined) return Promise.resolve({ kind: 'missed', reason: 'unseen' });
      return reads.join(name.key, async () => settle(await store.read(name.storeName, options.storeDeadlineMs), name))
        .result;
    },
    fromStoreMany: async (names) => {
      if (store === undefined) return names.map(() => ({ kind: 'missed', reason: 'unseen' }));
      const values = await store.readMany(
        names.map((name) => name.storeName),
        options.storeDeadlineMs,
      );
      return names.map((name, i) => settle(values[i] ?? { kind: 'fault', fault: 'store-down' }, name));
    },
    set: (name, entry, { storeIsUp, lease }) => {
      if (entry.encoded.length > options.maxEntryBytes) {
        observe({ kind: 'not-stored', domain, tier: 'l1', why: 'too-large' });
        if (store !== undefined) observe({ kind: 'not-stored', domain, tier: 'l2', why: 'too-large' });
        lease?.pass();
        return { l1: false, l2: false };
      }
      const l1 = keepInMemory(name, entry);
      if (store === undefined) return { l1, l2: false };
      if (entry.degraded) {
        observe({ kind: 'not-stored', domain, tier: 'l2', why: 'degraded' });
        lease?.pass();
        return { l1, l2: false };
      }
      void write(store, name, entry, lease);
      return { l1, l2: storeIsUp };
    },
  };
}

function isFresh(lookup: Lookup): lookup is Extract<Lookup, { kind: 'found' }> {
  return lookup.kind === 'found' && lookup.freshness === 'fresh';
}

export interface StoredEntryLimits {
  readonly lifetimes: LifetimePolicy;
  /** What is larger is neither written nor read. */
  readonly maxEntryBytes: number;
  /** With keys, an entry that none of them has signed is a miss. */
  readonly signing?: Signing | undefined;
  readonly clock: Clock;
}

export type StoredEntry = Decoded | { readonly kind: 'oversized' };

/** Five times what a request may ask for. Each lookup checks all of them against the suppressions: 65,535 took 0.2 ms. */
const MAX_RESULTS = 500;

/**
 * What is believed of a value that a store gave for a name. Others may write to the store: the value is no larger, and lives
 * no longer, than this domain lets its own entries. The entry owns its bytes. Its generation is judged at every lookup, by
 * `EntryRules`, since the document that knows which generations exist changes meanwhile.
 */
export function decodeStored(value: Buffer, canonical: string, limits: StoredEntryLimits): StoredEntry {
  if (value.length > limits.maxEntryBytes) return { kind: 'oversized' };
  const decoded = decodeEntry(ownBytes(value), canonical, limits.clock, limits.signing);
  if (decoded.kind !== 'entry') return decoded;
  if (decoded.entry.fingerprints.length > MAX_RESULTS) return { kind: 'corrupt' };
  return { kind: 'entry', entry: heldToPolicy(decoded.entry, limits.lifetimes) };
}

/**
 * ioredis hands out views of what its socket read: a 4 KB value would pin 64 KB, and L1's bound would be a fiction.
 */
function ownBytes(value: Buffer): Buffer {
  if (value.buffer.byteLength === value.length) return value;
  const own = Buffer.allocUnsafeSlow(value.length);
  value.copy(own);
  return own;
}

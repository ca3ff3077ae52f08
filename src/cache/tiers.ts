import type { Clock, Done } from '../runtime.ts';
import { type DecodedEntry, decodeEntry } from './codec.ts';
import { type Entry, type Freshness, freshnessOf, heldToPolicy, type LifetimePolicy, storedForMs } from './entry.ts';
import type { CacheEvent, MissReason } from './events.ts';
import type { DeniedReason, EntryRules, EntryVerdict, RuledName, RuledRequest } from './invalidation.ts';
import type { Lease } from './lease.ts';
import type { MemoryTier } from './memory.ts';
import type { Signing } from './signing.ts';
import type { Store, StoreRead } from './store.ts';

/** The identity of an entry in both tiers. */
interface CacheName<Request> extends RuledName<Request> {
  readonly key: string;
  readonly canonical: string;
}

/** The result of a lookup in one tier. An expired entry is a miss with the reason `expired`. */
export type Lookup =
  | {
      readonly kind: 'found';
      readonly entry: Entry;
      readonly freshness: Exclude<Freshness, 'expired'>;
      /** Why it is served only when the engine fails; without it, because of its age. */
      readonly reason?: MissReason;
    }
  | {
      readonly kind: 'missed';
      readonly reason: MissReason;
      /** With `store-slow`: the fresh entry that may still arrive, or undefined. Never rejects. */
      readonly late?: Promise<Entry | undefined>;
    };

/** Both tiers of one domain: lookups, the check whether an entry may be served, and writes. */
export type Tiers<Request = RuledRequest> = ReturnType<typeof createTiers<Request>>;

export interface StoredIn {
  readonly l1: boolean;
  readonly l2: boolean;
}

interface TiersOptions<Request> extends StoredEntryLimits {
  readonly domain: string;
  readonly memory: MemoryTier;
  readonly store?: Store;
  readonly storeDeadlineMs: number;
  readonly rules: EntryRules<Request>;
  readonly observe: (event: CacheEvent) => void;
}

export function createTiers<Request>(options: TiersOptions<Request>) {
  type Name = CacheName<Request>;
  const { domain, memory, store, rules, clock, observe } = options;
  const reads = createSingleflight<Lookup>();

  const validate = (entry: Entry, name: RuledName<Request>): Lookup => {
    const verdict = rules.judge(entry, name);
    if (isDenied(verdict)) return { kind: 'missed', reason: verdict };
    const age = freshnessOf(entry, clock.monotonicMs());
    if (age === 'expired') return { kind: 'missed', reason: 'expired' };
    if (verdict === 'changed') return { kind: 'found', entry, freshness: 'stale-if-error', reason: verdict };
    return { kind: 'found', entry, freshness: age === 'fresh' && verdict === 'outdated' ? 'stale' : age };
  };

  const decode = (name: Name, value: Buffer): Lookup => {
    const decoded = decodeStored(value, name.canonical, options);
    return decoded.kind === 'entry' ? validate(decoded.entry, name) : { kind: 'missed', reason: decoded.kind };
  };

  const open = (name: Name, value: Buffer): Lookup => {
    const lookup = decode(name, value);
    if (lookup.kind === 'found') setInMemory(name, lookup.entry);
    return lookup;
  };

  const lookupOf = (read: StoreRead, name: Name): Lookup => {
    switch (read.kind) {
      case 'value': {
        const lookup = decode(name, read.value);
        if (lookup.kind !== 'found') return lookup;
        if (memory.admits(name.key, lookup.entry)) setInMemory(name, lookup.entry);
        if (read.behind === true) copyForward(name, lookup.entry);
        return lookup;
      }
      case 'absent':
        return { kind: 'missed', reason: 'unseen' };
      case 'fault': {
        if (read.late === undefined) return { kind: 'missed', reason: read.fault };
        // A late reply fills L1, even when no request waits for it any more.
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
   * Copies an entry of the old store to the new one, unchanged and for the rest of its life. `validate` has accepted it: it is
   * neither flushed nor suppressed. An entry of a generation that no document has is not copied, as in the backfill.
   */
  const copyForward = (name: Name, entry: Entry): void => {
    if (entry.generation > rules.generation()) return;
    const ttlMs = storedForMs(entry, clock.monotonicMs());
    void store?.seedMany([{ name: name.storeName, value: entry.encoded, ttlMs }]);
  };

  /**
   * A degraded page never replaces a whole page that may still be served, now or after the end of a drill. An older
   * page replaces a newer one only when the older one is fresh and the newer one is not (jitter spreads lifetimes, so
   * the older one may live longer).
   */
  const setInMemory = (name: Name, entry: Entry): boolean => {
    const held = memory.peek(name.key);
    if (held !== undefined) {
      const lookup = validate(held, name);
      const isOlder = !entry.degraded && held.bornMs > entry.bornMs && !isFresher(entry, lookup, name);
      const mayServe = lookup.kind === 'found' || (entry.degraded && isOnlyFlushed(held, lookup));
      if (mayServe && !held.degraded && (entry.degraded || isOlder)) return false;
    }
    const isHeld = memory.set(name.key, entry);
    if (isHeld) observe({ kind: 'stored', domain, tier: 'l1', bytes: entry.encoded.length });
    else observe({ kind: 'not-stored', domain, tier: 'l1', why: 'too-large' });
    return isHeld;
  };

  /** The flush may belong to a drill: the entry is then served again after the end of the drill. */
  const isOnlyFlushed = (held: Entry, lookup: Lookup): boolean =>
    lookup.kind === 'missed' && lookup.reason === 'flushed' && freshnessOf(held, clock.monotonicMs()) !== 'expired';

  const isFresher = (entry: Entry, held: Lookup, name: RuledName<Request>): boolean =>
    isFresh(validate(entry, name)) && !isFresh(held);

  const write = async (target: Store, name: Name, entry: Entry, lease: Lease | undefined): Promise<void> => {
    const ttlMs = storedForMs(entry, clock.monotonicMs());
    const written = await (lease?.write(entry.encoded, ttlMs) ?? target.write(name.storeName, entry.encoded, ttlMs));
    if (written.kind === 'stored') observe({ kind: 'stored', domain, tier: 'l2', bytes: entry.encoded.length });
    else observe({ kind: 'not-stored', domain, tier: 'l2', why: written.fault });
  };

  const fromStore = (name: Name, done: Done<Lookup>): void => {
    if (store === undefined) {
      done(undefined, { kind: 'missed', reason: 'unseen' });
      return;
    }
    const read = (end: Done<Lookup>): void =>
      store.read(name.storeName, options.storeDeadlineMs, (value) => {
        let lookup: Lookup;
        try {
          lookup = lookupOf(value, name);
        } catch (error) {
          end(error);
          return;
        }
        end(undefined, lookup);
      });
    reads.join(name.key, read, done);
  };

  return {
    hasStore: store !== undefined,
    /** Puts an entry that `fromStore` found into L1, also at its first sight. */
    hold: (name: Name, entry: Entry): void => {
      if (memory.peek(name.key) !== entry) setInMemory(name, entry);
    },
    /** Whether L1 has an entry of the key. */
    holds: ({ key }: Pick<Name, 'key'>): boolean => memory.peek(key) !== undefined,
    /** Whether an entry may be served at this moment: the rules change while a request holds it. */
    validate,
    /** Decodes and validates a value that came from the store by another way than a read. A servable entry is then in L1. */
    open,
    fromMemory: (name: Name): Lookup => {
      const entry = memory.get(name.key);
      return entry === undefined ? { kind: 'missed', reason: 'unseen' } : validate(entry, name);
    },
    /**
     * Concurrent readers of one name share one read. A full L1 takes an entry only at its second sight (MemoryTier.admits).
     * A read that is refused ends before this returns.
     */
    fromStore,
    /** L1 takes the entries as in `fromStore`. */
    fromStoreMany: async (names: readonly Name[]): Promise<readonly Lookup[]> => {
      if (store === undefined) return names.map(() => ({ kind: 'missed', reason: 'unseen' }));
      const values = await store.readMany(
        names.map((name) => name.storeName),
        options.storeDeadlineMs,
      );
      return names.map((name, i) => lookupOf(values[i] ?? { kind: 'fault', fault: 'store-down' }, name));
    },
    /**
     * Writes to L1 at once and to L2 in the background, by the lease where there is one; the lease ends in every case.
     * @param storeIsUp false when the store has just failed: the write is tried, but the result does not claim that L2 keeps
     * the entry.
     * @returns whether L1 holds the entry, and whether the store was asked to keep it.
     */
    set: (name: Name, entry: Entry, { storeIsUp, lease }: { storeIsUp: boolean; lease?: Lease }): StoredIn => {
      if (entry.encoded.length > options.maxEntryBytes) {
        observe({ kind: 'not-stored', domain, tier: 'l1', why: 'too-large' });
        if (store !== undefined) observe({ kind: 'not-stored', domain, tier: 'l2', why: 'too-large' });
        lease?.pass();
        return { l1: false, l2: false };
      }
      const l1 = setInMemory(name, entry);
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
  /** A larger entry is neither written nor read. */
  readonly maxEntryBytes: number;
  /** Present: an entry without a signature of one of its keys is a miss. */
  readonly signing?: Signing | undefined;
  readonly clock: Clock;
}

type StoredEntry = DecodedEntry | { readonly kind: 'oversized' };

/**
 * Maximum number of results in an entry: five times the maximum of a request. Each lookup checks all of them against
 * the suppressions: 65,535 took 0.2 ms.
 */
const MAX_RESULTS = 500;

/**
 * Decodes a value of the store. Others may write to the store, so the value may be no larger, and live no longer, than
 * this domain's own entries. The entry owns its bytes. `EntryRules` check its generation at every lookup, because the
 * control document, which knows the generations that exist, changes meanwhile.
 */
export function decodeStored(value: Buffer, canonical: string, limits: StoredEntryLimits): StoredEntry {
  if (value.length > limits.maxEntryBytes) return { kind: 'oversized' };
  const decoded = decodeEntry(ownBytes(value), canonical, limits.clock, limits.signing);
  if (decoded.kind !== 'entry') return decoded;
  if (decoded.entry.fingerprints.length > MAX_RESULTS) return { kind: 'corrupt' };
  return { kind: 'entry', entry: heldToPolicy(decoded.entry, limits.lifetimes) };
}

/**
 * ioredis returns views of its read buffer: a 4 KB value would pin 64 KB, and L1 would exceed its bound.
 */
export function ownBytes(value: Buffer): Buffer {
  if (value.buffer.byteLength === value.length) return value;
  const own = Buffer.allocUnsafeSlow(value.length);
  value.copy(own);
  return own;
}

/** May not be served at all. */
export function isDenied(verdict: EntryVerdict): verdict is DeniedReason {
  return verdict === 'flushed' || verdict === 'suppressed' || verdict === 'deleted';
}

/** One call per key in this process, as in golang/groupcache: a caller that comes while it runs gets its result, or its error. */
export function createSingleflight<T>() {
  /** The callers that joined each call after its first one. */
  const running = new Map<string, Done<T>[]>();
  return {
    /**
     * Joins the call of `key`, or starts it. The key is free again before the first callback is called: a caller that comes
     * afterwards starts a new call, so an error is never replayed to a later request.
     */
    join: (key: string, start: (done: Done<T>) => void, done: Done<T>): void => {
      const others = running.get(key);
      if (others !== undefined) {
        others.push(done);
        return;
      }
      const joined: Done<T>[] = [];
      running.set(key, joined);
      start((error, value) => {
        running.delete(key);
        done(error, value);
        for (const each of joined) each(error, value);
      });
    },
  };
}

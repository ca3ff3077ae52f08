/** A page encoded once to bytes, with its metadata. What L1 holds, L2 stores and http sends. */
export interface Entry {
  /** The coding of `body` as stored; it passes through when the client accepts it. */
  readonly coding: Coding;
  readonly empty: boolean;
  /** A partial answer: short-lived, in L1 only, never in place of a whole one. */
  readonly degraded: boolean;
  /** The lowest one served is the floor. */
  readonly generation: number;
  /** Wall time at the **start** of the engine call: what the answer is as old as. */
  readonly createdAtMs: number;
  /** The same instant on this process's monotonic clock: ages are counted from it, so a stepped clock changes none. */
  readonly bornMs: number;
  /** Fresh until this age. Lifetimes are durations, so that a skewed clock cannot extend them. */
  readonly freshForMs: number;
  /** After that, for so long, served while one refresh runs. */
  readonly revalidateForMs: number;
  /** After being fresh, for so long, served when the engine fails. */
  readonly errorForMs: number;
  /** What computing it cost the engine. */
  readonly costMs: number;
  /** Of the identity body: 16 base64url characters (96 bits of SHA-256), without quotes and coding suffix. */
  readonly etag: string;
  /** 32-bit fingerprints of the result ids, so that a suppressed document is found without parsing the body. */
  readonly fingerprints: Uint32Array;
  readonly body: Buffer;
  /** The whole entry as encoded, `body` included (the same memory): what is written to L2. */
  readonly encoded: Buffer;
}

/** Content codings an entry may be stored and served in. */
export type Coding = 'identity' | 'gzip' | 'zstd';

/** The largest difference of two wall clocks that is allowed for: one an hour ahead, the other an hour behind. */
export const MAX_SKEW_MS = 2 * 3_600_000;

/** `stale`: served while one refresh runs. `failing`: served only when the engine fails. `lapsed`: never served. */
export type Freshness = 'fresh' | 'stale' | 'stale-if-error' | 'expired';

export function freshnessOf(entry: Entry, monotonicMs: number): Freshness {
  const pastFreshMs = monotonicMs - entry.bornMs - entry.freshForMs;
  if (pastFreshMs < 0) return 'fresh';
  if (pastFreshMs < entry.revalidateForMs) return 'stale';
  return pastFreshMs < entry.errorForMs ? 'stale-if-error' : 'expired';
}

/** Until the entry stops being fresh; negative once it has. */
export function remainingMs(entry: Entry, monotonicMs: number): number {
  return entry.bornMs + entry.freshForMs - monotonicMs;
}

/** How long a store should keep it: to the end of its longest window. At least 1 ms, as `SET … PX` wants. */
export function storedForMs(entry: Entry, monotonicMs: number): number {
  return Math.max(1, Math.ceil(remainingMs(entry, monotonicMs) + Math.max(entry.revalidateForMs, entry.errorForMs)));
}

export interface LifetimePolicy {
  readonly ttlMs: number;
  readonly staleWhileRevalidateMs: number;
  readonly staleIfErrorMs: number;
  readonly emptyTtlMs: number;
  readonly degradedTtlMs: number;
  /** 0–0.5. */
  readonly jitter: number;
}

export type Lifetimes = Pick<Entry, 'freshForMs' | 'revalidateForMs' | 'errorForMs'>;

/**
 * Lifetimes of a new entry. The fresh one is spread by ± jitter, so that what was filled together does not lapse
 * together; a degraded one is short, exact and has no stale life.
 */
export function lifetimesOf(
  page: { readonly empty: boolean; readonly degraded: boolean },
  policy: LifetimePolicy,
  random: () => number,
): Lifetimes {
  if (page.degraded) return { freshForMs: policy.degradedTtlMs, revalidateForMs: 0, errorForMs: 0 };
  const ttlMs = page.empty ? policy.emptyTtlMs : policy.ttlMs;
  return {
    freshForMs: ttlMs * (1 + policy.jitter * (2 * random() - 1)),
    revalidateForMs: page.empty ? Math.min(policy.staleWhileRevalidateMs, ttlMs) : policy.staleWhileRevalidateMs,
    errorForMs: policy.staleIfErrorMs,
  };
}

/**
 * The entry, with no lifetime longer than the policy gives a page of its kind. What is read from a store says lifetimes of
 * its own, and whoever writes to the store may say any. So a policy that is shortened holds at once for what is stored, and
 * one that is lengthened holds for new pages.
 */
export function heldToPolicy(entry: Entry, policy: LifetimePolicy): Entry {
  const longest = lifetimesOf(entry, policy, () => 1);
  const { freshForMs, revalidateForMs, errorForMs } = entry;
  const isWithin =
    freshForMs <= longest.freshForMs && revalidateForMs <= longest.revalidateForMs && errorForMs <= longest.errorForMs;
  if (isWithin) return entry;
  return {
    ...entry,
    freshForMs: Math.min(freshForMs, longest.freshForMs),
    revalidateForMs: Math.min(revalidateForMs, longest.revalidateForMs),
    errorForMs: Math.min(errorForMs, longest.errorForMs),
  };
}

/** From the start of an engine call to the end of the last window its page may be served in, in whole milliseconds. */
export function longestLifeMs(policy: Omit<LifetimePolicy, 'degradedTtlMs'>): number {
  const staleMs = Math.max(policy.staleWhileRevalidateMs, policy.staleIfErrorMs);
  return Math.ceil(Math.max(policy.ttlMs, policy.emptyTtlMs) * (1 + policy.jitter) + staleMs);
}

import type { Entry } from './entry.ts';

/** The largest difference of two wall clocks that is allowed for: one an hour ahead, the other an hour behind. */
export const MAX_SKEW_MS = 2 * 3_600_000;

/** `stale`: served while one refresh runs. `failing`: served only when the engine fails. `lapsed`: never served. */
export type Freshness = 'fresh' | 'stale' | 'failing' | 'lapsed';

export function freshnessOf(entry: Entry, monotonicMs: number): Freshness {
  const pastFreshMs = monotonicMs - entry.bornMs - entry.freshForMs;
  if (pastFreshMs < 0) return 'fresh';
  if (pastFreshMs < entry.revalidateForMs) return 'stale';
  return pastFreshMs < entry.errorForMs ? 'failing' : 'lapsed';
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

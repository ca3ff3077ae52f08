import type { Entry } from './entry.ts';

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

import type { Answer } from '../search/answer.ts';

export interface FreshnessFields {
  readonly cacheControl: string;
  readonly age: number;
}

export interface FreshnessOptions {
  readonly clientMaxAgeMs: number;
  /** Monotonic, as the age of an entry is counted. */
  readonly nowMs: number;
}

/**
 * `Cache-Control` and `Age` of an answer (RFC 9111, RFC 5861).
 *
 * `Age` is the time since the engine computed the page. `max-age` is Age + the smaller of `clientMaxAge` and the fresh
 * life left, so a purged page is fresh downstream for that time and no longer, and `stale-while-revalidate` is no longer.
 * A stale answer has no life left, so its `max-age` is below its Age, and it is revalidated at once.
 * Both are rounded down: a fraction of a second of life is not promised.
 */
export function freshnessFields(
  { entry, remainingMs, outcome }: Answer,
  { clientMaxAgeMs, nowMs }: FreshnessOptions,
): FreshnessFields {
  const age = Math.max(0, Math.floor((nowMs - entry.bornMs) / 1000));
  if (entry.degraded || outcome === 'lifeboat') return { cacheControl: 'no-store', age };
  const maxAge = Math.max(0, age + Math.floor(Math.min(clientMaxAgeMs, remainingMs) / 1000));
  const revalidate = Math.floor(Math.min(entry.revalidateForMs, clientMaxAgeMs) / 1000);
  const onError = Math.floor(entry.errorForMs / 1000);
  return {
    cacheControl: `public, max-age=${maxAge}, stale-while-revalidate=${revalidate}, stale-if-error=${onError}`,
    age,
  };
}

import type { Answer } from '../search/answer.ts';

export interface FreshnessFields {
  readonly cacheControl: string;
  readonly age: number;
}

/**
 * What caches and browsers downstream may do with an answer (RFC 9111, RFC 5861).
 *
 * `max-age` is the same for every answer of a domain, so that caches can be configured and the field memoised; what
 * differs is `Age`. It is not the time since the engine call: it is chosen so that `max-age − Age`, which is how long
 * downstream keeps the answer, is the smaller of `clientMaxAge` and what is left of the entry's own freshness. A stale
 * answer has `Age > max-age` and is revalidated at once. Rounded up, so that nothing lives on downstream past its time.
 */
export function freshnessFields({ entry, remainingMs, outcome }: Answer, clientMaxAgeMs: number): FreshnessFields {
  const age = Math.max(0, Math.ceil((clientMaxAgeMs - remainingMs) / 1000));
  if (entry.degraded || outcome === 'lifeboat') return { cacheControl: 'no-store', age };
  const maxAge = Math.floor(clientMaxAgeMs / 1000);
  const revalidate = Math.floor(Math.min(entry.revalidateForMs, clientMaxAgeMs) / 1000);
  const onError = Math.floor(entry.errorForMs / 1000);
  return {
    cacheControl: `public, max-age=${maxAge}, stale-while-revalidate=${revalidate}, stale-if-error=${onError}`,
    age,
  };
}

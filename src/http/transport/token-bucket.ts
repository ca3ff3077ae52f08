import { type Clock, createBoundedMap } from '../../runtime.ts';

export type TokenBuckets = ReturnType<typeof createTokenBuckets>;

interface TokenBucketOptions {
  /** Refill rate. */
  readonly perMinute: number;
  /** Capacity, and the content of a new bucket. */
  readonly burst: number;
  /** Maximum number of buckets; the least recently used one is dropped. */
  readonly maxKeys: number;
  readonly clock: Clock;
}

/**
 * One token bucket per key, such as a client or an address.
 *
 * A dropped bucket starts full again. A key that was quiet for `burst ÷ perMinute` minutes has a full bucket anyway, so
 * dropping matters only when more than `maxKeys` keys are active within that time.
 */
export function createTokenBuckets({ perMinute, burst, maxKeys, clock }: TokenBucketOptions) {
  const buckets = createBoundedMap<{ readonly tokens: number; readonly atMs: number }>(maxKeys);

  /** The tokens of a key, with those that were earned since its last use. */
  const tokensOf = (key: string, nowMs: number): number => {
    const known = buckets.get(key);
    return known === undefined ? burst : Math.min(burst, known.tokens + ((nowMs - known.atMs) * perMinute) / 60_000);
  };

  return {
    /** Takes one token; false: the bucket is empty. */
    take: (key: string): boolean => {
      const atMs = clock.monotonicMs();
      const tokens = tokensOf(key, atMs);
      const allowed = tokens >= 1;
      buckets.set(key, { tokens: allowed ? tokens - 1 : tokens, atMs });
      return allowed;
    },
    refund: (key: string, tokens: number): void => {
      const atMs = clock.monotonicMs();
      buckets.set(key, { tokens: Math.min(burst, tokensOf(key, atMs) + tokens), atMs });
    },
  };
}

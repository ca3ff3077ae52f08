import type { Clock } from '../../runtime.ts';

/** One token bucket per key, such as a client or an address. */
export interface TokenBuckets {
  /** Takes one token; false: the bucket is empty. */
  readonly take: (key: string) => boolean;
  readonly refund: (key: string, tokens: number) => void;
}

interface TokenBucketOptions {
  /** Refill rate. */
  readonly perMinute: number;
  /** Capacity, and the content of a new bucket. */
  readonly burst: number;
  /** Maximum number of buckets; the least recently used one is dropped. */
  readonly maxKeys: number;
  readonly clock: Clock;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

/**
 * A dropped bucket starts full again. A key that was quiet for `burst ÷ perMinute` minutes has a full bucket anyway, so
 * dropping matters only when more than `maxKeys` keys are active within that time.
 */
export function createTokenBuckets({ perMinute, burst, maxKeys, clock }: TokenBucketOptions): TokenBuckets {
  // Least recently used first: a Map iterates in the order of insertion.
  const buckets = new Map<string, Bucket>();

  const refilled = (key: string): Bucket => {
    const nowMs = clock.monotonicMs();
    const known = buckets.get(key);
    if (known === undefined) return { tokens: burst, atMs: nowMs };
    const earned = ((nowMs - known.atMs) * perMinute) / 60_000;
    return { tokens: Math.min(burst, known.tokens + earned), atMs: nowMs };
  };

  const store = (key: string, bucket: Bucket): void => {
    buckets.delete(key);
    buckets.set(key, bucket);
    if (buckets.size <= maxKeys) return;
    const oldest = buckets.keys().next();
    if (!oldest.done) buckets.delete(oldest.value);
  };

  return {
    take: (key) => {
      const bucket = refilled(key);
      const allowed = bucket.tokens >= 1;
      if (allowed) bucket.tokens -= 1;
      store(key, bucket);
      return allowed;
    },
    refund: (key, tokens) => {
      const bucket = refilled(key);
      store(key, { ...bucket, tokens: Math.min(burst, bucket.tokens + tokens) });
    },
  };
}

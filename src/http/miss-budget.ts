import type { Clock } from '../clock.ts';

/** What each client may cost the engines: a token bucket per client. */
export interface MissBudget {
  /** Spends one miss of this client's; false: it has none left. */
  readonly mayMiss: (client: string) => boolean;
  /** Gives misses back that cost the engine nothing. */
  readonly refund: (client: string, misses: number) => void;
}

export interface MissBudgetOptions {
  /** In the long run. */
  readonly perMinute: number;
  /** Saved up at most, and what a client not known begins with. */
  readonly burst: number;
  /** Remembered at most; the one that has been quiet longest is forgotten. */
  readonly maxClients: number;
  readonly clock: Clock;
}

interface Bucket {
  misses: number;
  atMs: number;
}

/**
 * Forgetting a client gives it a full bucket again, and whoever has been quiet for `burst ÷ perMinute` minutes has that
 * anyway: so the bound costs nothing as long as fewer clients than it are active in that time.
 */
export function createMissBudget({ perMinute, burst, maxClients, clock }: MissBudgetOptions): MissBudget {
  // In order of last use: a Map iterates in order of insertion.
  const buckets = new Map<string, Bucket>();

  const filled = (client: string): Bucket => {
    const nowMs = clock.monotonicMs();
    const known = buckets.get(client);
    if (known === undefined) return { misses: burst, atMs: nowMs };
    const earned = ((nowMs - known.atMs) * perMinute) / 60_000;
    return { misses: Math.min(burst, known.misses + earned), atMs: nowMs };
  };

  const remember = (client: string, bucket: Bucket): void => {
    buckets.delete(client);
    buckets.set(client, bucket);
    if (buckets.size <= maxClients) return;
    const quietest = buckets.keys().next();
    if (!quietest.done) buckets.delete(quietest.value);
  };

  return {
    mayMiss: (client) => {
      const bucket = filled(client);
      const allowed = bucket.misses >= 1;
      if (allowed) bucket.misses -= 1;
      remember(client, bucket);
      return allowed;
    },
    refund: (client, misses) => {
      const bucket = filled(client);
      remember(client, { ...bucket, misses: Math.min(burst, bucket.misses + misses) });
    },
  };
}

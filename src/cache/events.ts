/** The events of the cache. Metrics, logs and tests read them. */
export type CacheEvent =
  | { readonly kind: 'miss'; readonly domain: string; readonly reason: MissReason }
  | { readonly kind: 'stored'; readonly domain: string; readonly tier: 'l1' | 'l2'; readonly bytes: number }
  | {
      readonly kind: 'not-stored';
      readonly domain: string;
      readonly tier: 'l1' | 'l2';
      readonly why: 'too-large' | 'degraded' | 'fenced' | 'refused' | StoreFault;
    }
  | {
      readonly kind: 'lease';
      readonly domain: string;
      /**
       * `taken`: this process holds it. `waited`: another process's page came. `passed`: no lease for this key now, because
       * its page cannot be stored. `open`: no lease, because the store failed. `crowded`: the maximum number of
       * searches waits already. `fenced`: the lease was lost before the page came. `left`: the search stopped waiting.
       */
      readonly result: LeaseResult;
    }
  | {
      readonly kind: 'backfill';
      readonly domain: string;
      readonly node: string;
      /** Entries written, already present, and given up. */
      readonly stored: number;
      readonly kept: number;
      readonly dropped: number;
      readonly durationMs: number;
    };

export type LeaseResult = 'taken' | 'waited' | 'passed' | 'open' | 'crowded' | 'fenced' | 'left';

/** Why a lookup missed: the first reason that holds. Public, in `Cache-Status; detail` and in metrics. */
export const MISS_REASONS = [
  'bypass',
  'node-open',
  'store-down',
  'store-saturated',
  'store-slow',
  'incompatible',
  'corrupt',
  'oversized',
  'unsigned',
  'flushed',
  'suppressed',
  'deleted',
  'changed',
  'expired',
  'not-storable',
  'unseen',
] as const;

export type MissReason = (typeof MISS_REASONS)[number];

/** The faults of a store. */
export type StoreFault = Extract<MissReason, 'node-open' | 'store-down' | 'store-saturated' | 'store-slow'>;

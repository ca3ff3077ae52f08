/** What the cache room says happened, once; metrics, logs and tests read it. */
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
       * `taken`: this process has it. `waited`: another's page came. `passed`: not to be leased now. `open`: the store could not say, so there is no lease. `crowded`: too
       * many wait already. `fenced`: it was lost before the page came. `left`: gave up waiting.
       */
      readonly result: LeaseResult;
    }
  | {
      readonly kind: 'reseed';
      readonly domain: string;
      readonly node: string;
      /** Entries written, there already, and given up. */
      readonly stored: number;
      readonly kept: number;
      readonly dropped: number;
      readonly durationMs: number;
    };

export type LeaseResult = 'taken' | 'waited' | 'passed' | 'open' | 'crowded' | 'fenced' | 'left';

/** Why a lookup missed: a closed list, the first that holds. Shown in `Cache-Status; detail` and counted. */
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
  'lapsed',
  'not-storable',
  'unseen',
] as const;

export type MissReason = (typeof MISS_REASONS)[number];

/** What a store may answer when it has no value to give through a fault of its own. */
export type StoreFault = Extract<MissReason, 'node-open' | 'store-down' | 'store-saturated' | 'store-slow'>;

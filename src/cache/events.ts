import type { MissReason, StoreFault } from './reason.ts';

/** What the cache room says happened, once; metrics, logs and tests read it. */
export type CacheEvent =
  | { readonly kind: 'miss'; readonly domain: string; readonly reason: MissReason }
  | { readonly kind: 'stored'; readonly domain: string; readonly tier: 'l1' | 'l2'; readonly bytes: number }
  | {
      readonly kind: 'not-stored';
      readonly domain: string;
      readonly tier: 'l1' | 'l2';
      readonly why: 'too-large' | 'degraded' | 'refused' | StoreFault;
    };

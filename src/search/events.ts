import type { MissReason, StoreFault } from '../cache/reason.ts';
import type { EngineErrorCode } from './engine.ts';
import type { UnansweredCode } from './failure.ts';

/** What the search room says happened, once; metrics, logs and tests read it. */
export type SearchEvent =
  | { readonly kind: 'miss'; readonly domain: string; readonly reason: MissReason }
  | {
      readonly kind: 'engine';
      readonly domain: string;
      readonly result:
        | 'whole'
        | 'empty'
        | 'partial'
        | EngineErrorCode /** The reply came after the client had been answered. */;
      readonly late: boolean;
      readonly durationMs: number;
    }
  | { readonly kind: 'stored'; readonly domain: string; readonly tier: 'l1' | 'l2'; readonly bytes: number }
  | {
      readonly kind: 'not-stored';
      readonly domain: string;
      readonly tier: 'l1' | 'l2';
      readonly why: 'too-large' | 'degraded' | 'refused' | StoreFault;
    }
  | {
      readonly kind: 'refresh';
      readonly domain: string;
      readonly result: 'from-store' | 'from-engine' | UnansweredCode;
    };

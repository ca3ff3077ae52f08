import type { FlushMode } from '../control/document.ts';
import type { Erasure } from './flush.ts';

/** What the flush room says happened, once; metrics, logs and tests read it. */
export type FlushEvent =
  | {
      readonly kind: 'flushed';
      readonly domain: string;
      readonly mode: FlushMode;
      /** Buckets of 10 000. */
      readonly buckets: number;
      readonly generation: number;
    }
  | { readonly kind: 'purged'; readonly domain: string; readonly generation: number }
  | { readonly kind: 'suppressed'; readonly domain: string; readonly ids: number; readonly lifted: boolean }
  /** An erasure is over. */
  | {
      readonly kind: 'erasure';
      readonly domain: string;
      readonly state: Exclude<Erasure['state'], 'running'>;
      readonly removed: number;
      readonly durationMs: number;
      /** What the nodes that failed said. */
      readonly detail?: string;
    }
  /** Entries that can never be served again have left L1. */
  | { readonly kind: 'swept'; readonly domain: string; readonly looked: number; readonly removed: number };

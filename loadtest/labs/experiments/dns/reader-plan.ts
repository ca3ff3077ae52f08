import type { Reads } from './reads.ts';

/** What one process reads through serpcache's own adapter, and how it is disturbed. */
export interface ReaderPlan {
  /** One connection each, as a service has one for each of its domains. */
  readonly hosts: readonly string[];
  readonly port: number;
  /** Of all connections together. */
  readonly readsPerSecond: number;
  readonly deadlineMs: number;
  /** Longest it waits for all connections. */
  readonly startWaitMs: number;
  /** Absent: it ends when it has started. */
  readonly then?: {
    readonly keptMs: number;
    readonly cutMs: number;
    readonly cutEveryMs: number;
    /** Longest it waits for all connections at the end. */
    readonly backWaitMs: number;
  };
  /** Of the adapter's random waits: the same in every row. */
  readonly seed: number;
}

/** What the process says, in this order. */
export type ReaderSaid =
  /** All connections answer, or it has waited in vain: undefined. */
  | { readonly kind: 'started'; readonly afterMs: number | undefined }
  | { readonly kind: 'kept'; readonly reads: Reads }
  | { readonly kind: 'cut'; readonly reads: Reads; readonly processorMs: number }
  /** Since `cut` was said. */
  | { readonly kind: 'back'; readonly afterMs: number | undefined };

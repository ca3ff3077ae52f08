import { createHistogram } from 'node:perf_hooks';

/** Reads of one process through serpcache's own adapter, and the disturbance. */
export interface ReaderPlan {
  /** One connection each, as a service has one for each of its domains. */
  readonly hosts: readonly string[];
  readonly port: number;
  /** All connections together. */
  readonly readsPerSecond: number;
  readonly deadlineMs: number;
  /** Maximum time to wait for all connections. */
  readonly startWaitMs: number;
  /** Absent: it ends when it has started. */
  readonly then?: {
    readonly keptMs: number;
    readonly cutMs: number;
    readonly cutEveryMs: number;
    /** Maximum time to wait for all connections at the end. */
    readonly backWaitMs: number;
  };
  /** For the adapter's random waits: the same in every row. */
  readonly seed: number;
}

/** The messages of the process, in this order. */
export type ReaderSaid =
  /** All connections answer; undefined: not within the time. */
  | { readonly kind: 'started'; readonly afterMs: number | undefined }
  | { readonly kind: 'kept'; readonly reads: Reads }
  | { readonly kind: 'cut'; readonly reads: Reads; readonly processorMs: number }
  /** Time since the message `cut`. */
  | { readonly kind: 'back'; readonly afterMs: number | undefined };

/** The reads of one phase, all connections together. */
export interface Reads {
  readonly seconds: number;
  readonly answered: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The longest time without an answer on any one connection. */
  readonly longestGapMs: number;
}

export interface ReadCounter {
  readonly answered: (connection: number, tookMs: number) => void;
  readonly failed: () => void;
  readonly end: () => Reads;
}

/** The time of the phase begins with the call. */
export function countReads(connections: number, nowMs: () => number): ReadCounter {
  const startedMs = nowMs();
  const latency = createHistogram();
  const lastMs = Array.from({ length: connections }, () => startedMs);
  let [failed, longestGapMs] = [0, 0];
  const gap = (connection: number): void => {
    longestGapMs = Math.max(longestGapMs, nowMs() - (lastMs[connection] ?? startedMs));
  };
  return {
    answered: (connection, tookMs) => {
      latency.record(Math.max(1, Math.round(tookMs * 1000)));
      gap(connection);
      lastMs[connection] = nowMs();
    },
    failed: () => {
      failed += 1;
    },
    end: () => {
      for (let connection = 0; connection < connections; connection += 1) gap(connection);
      const of = (percentile: number): number => (latency.count === 0 ? 0 : latency.percentile(percentile) / 1000);
      return {
        seconds: (nowMs() - startedMs) / 1000,
        answered: latency.count,
        failed,
        p50Ms: of(50),
        p99Ms: of(99),
        longestGapMs,
      };
    },
  };
}

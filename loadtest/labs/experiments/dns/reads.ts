import { createHistogram } from 'node:perf_hooks';

/** What came of the reads of one phase, of all connections together. */
export interface Reads {
  readonly seconds: number;
  readonly answered: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The longest time in which one of the connections answered nothing. */
  readonly longestGapMs: number;
}

export interface ReadCounter {
  readonly answered: (connection: number, tookMs: number) => void;
  readonly failed: () => void;
  readonly end: () => Reads;
}

/** Counts from now on. */
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

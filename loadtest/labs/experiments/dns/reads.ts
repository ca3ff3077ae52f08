import { createTally } from '../../kit/driver/connection.ts';

/** Reads of one process through serpcache's own adapter, and the disturbance. */
export interface ReaderPlan {
  /** One connection each, as a service has one for each of its domains. */
  readonly hosts: readonly string[];
  readonly port: number;
  readonly readsPerSecond: number;
  readonly deadlineMs: number;
  readonly startWaitMs: number;
  /** Absent: it ends when it has started. */
  readonly then?: {
    readonly keptMs: number;
    readonly cutMs: number;
    readonly cutEveryMs: number;
    readonly backWaitMs: number;
  };
}

/** The messages of the process, in this order. */
export type ReaderSaid =
  /** All connections answer; undefined: not within the time. */
  | { readonly kind: 'started'; readonly afterMs: number | undefined }
  | { readonly kind: 'kept'; readonly reads: Reads }
  | { readonly kind: 'cut'; readonly reads: Reads; readonly processorMs: number }
  /** Time since the message `cut`. */
  | { readonly kind: 'back'; readonly afterMs: number | undefined };

export type Reads = ReturnType<ReturnType<typeof countReads>['end']>;

/** The time of the phase begins with the call. */
export function countReads(connections: number, nowMs: () => number) {
  const startedMs = nowMs();
  const tally = createTally(startedMs, nowMs);
  const lastMs = Array.from({ length: connections }, () => startedMs);
  let longestGapMs = 0;
  const gap = (connection: number): void => {
    longestGapMs = Math.max(longestGapMs, nowMs() - (lastMs[connection] ?? startedMs));
  };
  return {
    answered: (connection: number, tookMs: number): void => {
      tally.answered(tookMs);
      gap(connection);
      lastMs[connection] = nowMs();
    },
    failed: (): void => tally.failed('late'),
    end: () => {
      for (let connection = 0; connection < connections; connection += 1) gap(connection);
      const { answered, errors, p50Ms, p99Ms } = tally.end();
      const seconds = (nowMs() - startedMs) / 1000;
      return { seconds, answered, failed: errors.late, p50Ms, p99Ms, longestGapMs };
    },
  };
}

import { createHistogram } from 'node:perf_hooks';
import type { DrivenSecond, Errors, Latency } from './plan.ts';

/** Counts what happened, as a whole and by second. */
export interface Tally {
  readonly answered: (tookMs: number) => void;
  readonly failed: (why: keyof Errors, count?: number) => void;
  readonly end: () => {
    readonly answered: number;
    readonly latencyMs: Latency;
    readonly errors: Errors;
    readonly eachSecond: readonly DrivenSecond[];
  };
}

export function createTally(startedMs: number, nowMs: () => number): Tally {
  const whole = createHistogram();
  let second = createHistogram();
  let [secondFailed, secondNumber] = [0, 0];
  const errors = { late: 0, broken: 0, refused: 0, unsent: 0, unconnected: 0 };
  const eachSecond: DrivenSecond[] = [];

  const close = (): void => {
    eachSecond.push({
      answered: second.count,
      failed: secondFailed,
      p99Ms: second.count === 0 ? 0 : second.percentile(99) / 1000,
      maxMs: second.count === 0 ? 0 : second.max / 1000,
    });
    second = createHistogram();
    secondFailed = 0;
  };
  const turn = (): void => {
    const now = Math.floor((nowMs() - startedMs) / 1000);
    for (; secondNumber < now; secondNumber += 1) close();
  };
  return {
    answered: (tookMs) => {
      turn();
      const us = Math.max(1, Math.round(tookMs * 1000));
      whole.record(us);
      second.record(us);
    },
    failed: (why, count = 1) => {
      turn();
      errors[why] += count;
      if (why !== 'unconnected') secondFailed += count;
    },
    end: () => {
      turn();
      const of = (percentile: number): number => (whole.count === 0 ? 0 : whole.percentile(percentile) / 1000);
      return {
        answered: whole.count,
        latencyMs: {
          mean: whole.count === 0 ? 0 : whole.mean / 1000,
          p50: of(50),
          p95: of(95),
          p99: of(99),
          max: whole.count === 0 ? 0 : whole.max / 1000,
        },
        errors,
        eachSecond,
      };
    },
  };
}

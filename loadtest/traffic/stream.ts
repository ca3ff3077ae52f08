import type { Clock } from '../../src/runtime.ts';

/** An open loop: arrivals come when they come, whether or not earlier ones were answered. */
export interface Stream {
  /** No arrival after this. */
  readonly stop: () => void;
  /** How much later than due the latest arrivals were sent, ms. A generator that lags measures itself. */
  readonly lagMs: () => readonly number[];
}

export interface StreamOptions {
  /** Mean of the Poisson process. */
  readonly ratePerSecond: number;
  readonly random: () => number;
  readonly clock: Clock;
  /** Arrival n, counted from 0. Must not wait. */
  readonly arrive: (n: number) => void;
}

const TICK_MS = 2;
/** Lags of the latest arrivals, and up to twice as many: a stream may run for an hour. */
const KEPT_LAGS = 100_000;

export function startStream({ ratePerSecond, random, clock, arrive }: StreamOptions): Stream {
  const lag: number[] = [];
  let n = 0;
  let dueMs = clock.monotonicMs();
  const gapMs = (): number => (-Math.log(1 - random()) * 1000) / ratePerSecond;
  dueMs += gapMs();
  const timer = setInterval(() => {
    const nowMs = clock.monotonicMs();
    while (dueMs <= nowMs) {
      lag.push(nowMs - dueMs);
      if (lag.length === 2 * KEPT_LAGS) lag.splice(0, KEPT_LAGS);
      arrive(n);
      n += 1;
      dueMs += gapMs();
    }
  }, TICK_MS);
  return { stop: () => clearInterval(timer), lagMs: () => lag };
}

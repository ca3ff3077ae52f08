import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Registry } from 'prom-client';
import { histogramSamples, registerSamples, type Scale } from './family.ts';

/**
 * Sampling interval of the delay. It costs 0.1 % of a core in an idle process; a timer in JavaScript costs twice as much.
 * Measured delays include the interval, so it is subtracted.
 */
const RESOLUTION_MS = 25;
const DELAYS: Scale = { bounds: [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000], perUnit: 1000 };
const DELAY = 'nodejs_eventloop_delay_seconds';

/**
 * The delay and the busy time of the event loop since the start of the process. Nothing is reset at a scrape, so that two
 * scrapers see the same, and processes can be added.
 */
export function createEventLoopMetrics(registry: Registry): { readonly close: () => void } {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const bounds = DELAYS.bounds.map((boundMs) => (boundMs + RESOLUTION_MS) * 1e6);
  const countDelays = createBucketReader(delay, bounds);
  let sumMs = 0;
  const help =
    'How late timers of this process ran, sampled every 25 ms. A long stall is one sample, so look at the rate of the sum: the share of time in which requests wait. Above 0.1, work holds the only thread (large pages, garbage collections), or the machine has too little CPU.';
  registerSamples({ registry, name: DELAY, help, type: 'histogram' }, () => {
    const counts = countDelays();
    // A timer may run a little early: the sum of a counter must not fall.
    if (delay.count > 0) sumMs = Math.max(sumMs, delay.count * (delay.mean / 1e6 - RESOLUTION_MS));
    return histogramSamples(DELAY, DELAYS, { counts, sum: sumMs });
  });
  registerSamples(
    {
      registry,
      name: 'nodejs_eventloop_busy_seconds_total',
      help: 'Time in which the event loop worked. Its rate is the share of the only thread in use: near 1 the process answers late and sheds.',
      type: 'counter',
    },
    () => [{ labels: {}, value: performance.eventLoopUtilization().active / 1000 }],
  );
  return { close: () => delay.disable() };
}

/**
 * Reads how many values a histogram of Node has in each bucket, and above the last bound. Node gives percentiles only: the count
 * of a bound is the highest rank whose value is within it. Only the ranks that are new since the last reading are searched.
 * A value that is within 0.1 % of a bound may be counted on its other side, the precision of the histogram.
 */
export function createBucketReader(
  histogram: { readonly count: number; readonly percentile: (percentile: number) => number },
  bounds: readonly number[],
): () => Float64Array {
  /** Values at or below each bound at the last reading. */
  const within = new Float64Array(bounds.length);
  let read = 0;
  return () => {
    const { count } = histogram;
    for (const [index, bound] of bounds.entries()) {
      let low = within[index] ?? 0;
      let high = low + count - read;
      // Most delays are below most bounds, so all new values are tried first.
      let rank = high;
      while (low < high) {
        if (histogram.percentile((rank / count) * 100) <= bound) low = rank;
        else high = rank - 1;
        rank = Math.ceil((low + high) / 2);
      }
      within[index] = low;
    }
    read = count;
    return Float64Array.from([...within, count], (value, index) => value - (within[index - 1] ?? 0));
  };
}

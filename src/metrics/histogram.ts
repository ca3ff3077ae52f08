import type { Registry } from 'prom-client';
import { type ClosedLabels, closedSeries, registerSamples, type Sample, type Series } from './family.ts';

/**
 * Latencies per combination of closed label values, in plain arrays: prom-client's own histogram hashes its labels at
 * every observation, prebound children included.
 */
export interface PlainHistogram {
  readonly at: Series['at'];
  readonly observe: (series: number, durationMs: number) => void;
}

/** From an L1 hit to an engine's hard deadline. */
const BOUNDS_MS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000] as const;
const BUCKETS = BOUNDS_MS.length;

export interface PlainHistogramOptions {
  readonly registry: Registry;
  /** Ends in `_seconds`. */
  readonly name: string;
  readonly help: string;
  readonly labels: ClosedLabels;
}

export function createHistogram({ registry, name, help, labels }: PlainHistogramOptions): PlainHistogram {
  const series = closedSeries(labels);
  /** Per series: one count per bucket, and one for what is slower than the last bound. */
  const counts = new Float64Array(series.size * (BUCKETS + 1));
  const sumsMs = new Float64Array(series.size);
  const bounds = Float64Array.from(BOUNDS_MS);

  const samplesOf = (index: number): readonly Sample[] => {
    const sharedLabels = series.labels[index] ?? {};
    const own = counts.subarray(index * (BUCKETS + 1), (index + 1) * (BUCKETS + 1));
    let count = 0;
    const samples: Sample[] = [];
    for (const [bucket, boundMs] of BOUNDS_MS.entries()) {
      count += own[bucket] ?? 0;
      samples.push({ metricName: `${name}_bucket`, labels: { le: boundMs / 1000 }, sharedLabels, value: count });
    }
    count += own[BUCKETS] ?? 0;
    if (count === 0) return [];
    samples.push(
      { metricName: `${name}_bucket`, labels: { le: '+Inf' }, sharedLabels, value: count },
      { metricName: `${name}_sum`, labels: {}, sharedLabels, value: (sumsMs[index] ?? 0) / 1000 },
      { metricName: `${name}_count`, labels: {}, sharedLabels, value: count },
    );
    return samples;
  };
  registerSamples(registry, { name, help, type: 'histogram' }, () =>
    Array.from({ length: series.size }, (_, index) => samplesOf(index)).flat(),
  );

  return {
    at: series.at,
    observe: (index, durationMs) => {
      // The fastest outcomes are the most frequent and find their bucket first.
      let bucket = 0;
      while (bucket < BUCKETS && durationMs > (bounds[bucket] ?? 0)) bucket += 1;
      const at = index * (BUCKETS + 1) + bucket;
      counts[at] = (counts[at] ?? 0) + 1;
      sumsMs[index] = (sumsMs[index] ?? 0) + durationMs;
    },
  };
}

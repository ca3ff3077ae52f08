import type { Metric, Registry } from 'prom-client';

/** The labels of a metric in order, each with all values it can take: this bounds the number of series. */
export type ClosedLabels = Readonly<Record<string, readonly string[]>>;

/** The label value for values that are not declared: no label takes a text from outside. */
const OTHER = 'other';

/** Numbers the series. The number of a combination of label values is found by one map look-up per label. */
interface Series {
  readonly size: number;
  readonly at: (first: string, second?: string, third?: string) => number;
  readonly labels: readonly Readonly<Record<string, string>>[];
  /** True when all values are declared: the series is shown from the start, so that a rate includes the first event. */
  readonly isDeclared: (series: number) => boolean;
}

/** At most three labels. */
function closedSeries(labels: ClosedLabels): Series {
  const names = Object.keys(labels);
  if (names.length === 0 || names.length > 3) throw new Error(`1 to 3 labels, not ${names.length}`);
  const [first = [], second = [], third = []] = Object.values(labels).map((values) => [...values, OTHER]);
  const indexOf = (values: readonly string[]): ReadonlyMap<string, number> =>
    new Map(values.map((value, index) => [value, index]));
  const [a, b, c] = [indexOf(first), indexOf(second), indexOf(third)];
  const [seconds, thirds] = [Math.max(second.length, 1), Math.max(third.length, 1)];

  const position = (values: ReadonlyMap<string, number>, value: string | undefined): number =>
    value === undefined ? 0 : (values.get(value) ?? values.size - 1);
  const combinations = first.flatMap((x) =>
    (names.length < 2 ? [undefined] : second).flatMap((y) =>
      (names.length < 3 ? [undefined] : third).map((z) => [x, y, z]),
    ),
  );
  const all = combinations.map((values) =>
    Object.fromEntries(names.map((name, index) => [name, values[index] ?? OTHER] as const)),
  );
  return {
    size: all.length,
    at: (x, y, z) => (position(a, x) * seconds + position(b, y)) * thirds + position(c, z),
    labels: all,
    isDeclared: (series) => Object.values(all[series] ?? {}).every((value) => value !== OTHER),
  };
}

interface Sample {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly sharedLabels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Registers a metric whose samples are computed at each scrape. */
function registerSamples(
  registry: Registry,
  metric: { readonly name: string; readonly help: string; readonly type: 'counter' | 'histogram' },
  samples: () => readonly Sample[],
): void {
  const collector = {
    ...metric,
    aggregator: 'sum',
    get: async () => ({ ...metric, values: samples(), aggregator: 'sum' }),
  };
  // A registry uses only `name` and `get()` of a metric.
  registry.registerMetric(collector as unknown as Metric);
}

/** Counters for all combinations of closed label values, in one array: an increment costs nanoseconds. */
export interface PlainCounter {
  readonly at: Series['at'];
  readonly add: (series: number, amount?: number) => void;
}

interface PlainCounterOptions {
  readonly registry: Registry;
  readonly name: string;
  readonly help: string;
  readonly labels: ClosedLabels;
  /** Shows all combinations from the start, at zero; otherwise only those that occurred. */
  readonly fromZero: boolean;
}

export function createCounter({ registry, name, help, labels, fromZero }: PlainCounterOptions): PlainCounter {
  const series = closedSeries(labels);
  const counts = new Float64Array(series.size);
  registerSamples(registry, { name, help, type: 'counter' }, () =>
    series.labels.flatMap((own, index) => {
      const value = counts[index] ?? 0;
      return value > 0 || (fromZero && series.isDeclared(index)) ? [{ labels: {}, sharedLabels: own, value }] : [];
    }),
  );
  return {
    at: series.at,
    add: (index, amount = 1) => {
      counts[index] = (counts[index] ?? 0) + amount;
    },
  };
}

/**
 * Histograms for all combinations of closed label values, in arrays: prom-client's own histogram hashes its labels at every
 * observation, even with prebound children.
 */
interface PlainHistogram {
  readonly at: Series['at'];
  readonly observe: (series: number, durationMs: number) => void;
}

/** From an L1 hit to an engine's hard deadline. */
const BOUNDS_MS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000] as const;
const BUCKETS = BOUNDS_MS.length;

interface PlainHistogramOptions {
  readonly registry: Registry;
  /** Ends in `_seconds`. */
  readonly name: string;
  readonly help: string;
  readonly labels: ClosedLabels;
}

export function createHistogram({ registry, name, help, labels }: PlainHistogramOptions): PlainHistogram {
  const series = closedSeries(labels);
  /** Per series: one count per bucket, and one for durations above the last bound. */
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
      // The fastest outcomes are the most frequent, so the search starts at the first bucket.
      let bucket = 0;
      while (bucket < BUCKETS && durationMs > (bounds[bucket] ?? 0)) bucket += 1;
      const at = index * (BUCKETS + 1) + bucket;
      counts[at] = (counts[at] ?? 0) + 1;
      sumsMs[index] = (sumsMs[index] ?? 0) + durationMs;
    },
  };
}

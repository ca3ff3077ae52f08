import type { Metric, Registry } from 'prom-client';
import type { Clock } from '../runtime.ts';

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

/** One line of a page. The members are those of prom-client's metrics, and `exemplar`. */
export interface Sample {
  /** The name of the metric when absent. */
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  /** Labels that many samples of the metric have; their text is made once. */
  readonly sharedLabels?: Readonly<Record<string, string>>;
  readonly value: number;
  readonly exemplar?: Exemplar;
}

/** A request that was counted in a bucket, as an example of the bucket's requests. */
export interface Exemplar {
  readonly traceId: string;
  /** In the unit of the metric. */
  readonly value: number;
  /** Wall time of the observation. */
  readonly atMs: number;
}

interface SampledMetric {
  readonly registry: Registry;
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
}

/** Registers a metric whose samples are computed at each scrape. */
export function registerSamples({ registry, name, help, type }: SampledMetric, samples: () => readonly Sample[]): void {
  const collector = {
    ...{ name, help, type, aggregator: 'sum' },
    get: async () => ({ name, help, type, values: samples(), aggregator: 'sum' }),
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
  registerSamples({ registry, name, help, type: 'counter' }, () =>
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

/** With two labels beside the domain some combinations cannot occur, so those counters start with their first event. */
export function counterFor(
  registry: Registry,
  domain: readonly string[],
  prefix = 'serpcache_',
): (name: string, help: string, labels: ClosedLabels) => PlainCounter {
  return (name, help, labels) => {
    const fromZero = Object.keys(labels).length < 2;
    return createCounter({ registry, name: `${prefix}${name}`, help, labels: { domain, ...labels }, fromZero });
  };
}

/** The buckets of a histogram and the unit in which amounts are observed. */
export interface Scale {
  /** Inclusive upper bounds of the buckets, ascending. */
  readonly bounds: readonly number[];
  /** Amounts and bounds are divided by it on the page, because Prometheus has seconds. */
  readonly perUnit: number;
}

/** Milliseconds, from an L1 hit to an engine's hard deadline. */
const DURATIONS: Scale = {
  bounds: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000],
  perUnit: 1000,
};

/**
 * Histograms for all combinations of closed label values, in arrays: prom-client's own histogram hashes its labels at every
 * observation, even with prebound children.
 */
export interface PlainHistogram {
  readonly at: Series['at'];
  /**
   * @param amount milliseconds, or the unit of the scale.
   * @param traceId the trace of the observed request. The last one of each bucket is shown as its exemplar.
   */
  readonly observe: (series: number, amount: number, traceId?: string) => void;
}

interface PlainHistogramOptions {
  readonly registry: Registry;
  /** Ends in the unit of the page: `_seconds` for durations. */
  readonly name: string;
  readonly help: string;
  readonly labels: ClosedLabels;
  /** Durations in milliseconds when absent. */
  readonly scale?: Scale;
  /** The time of exemplars. Trace ids are ignored without it. */
  readonly clock?: Pick<Clock, 'wallMs'>;
}

/** OpenMetrics allows 128 characters for the labels of an exemplar, and a scrape with more fails; trace ids have 32. */
const MAX_TRACE_ID_LENGTH = 64;

export function createHistogram(options: PlainHistogramOptions): PlainHistogram {
  const { registry, name, help, labels, scale = DURATIONS, clock } = options;
  const series = closedSeries(labels);
  const bounds = Float64Array.from(scale.bounds);
  const buckets = bounds.length;
  /** Per series: one count per bucket, and one for amounts above the last bound. */
  const counts = new Float64Array(series.size * (buckets + 1));
  const sums = new Float64Array(series.size);
  /** By the index in `counts`: a bucket without a traced request takes no memory. */
  const exemplars = new Map<number, Exemplar>();
  const keepExemplar = (at: number, amount: number, traceId: string): void => {
    if (clock === undefined || traceId.length > MAX_TRACE_ID_LENGTH) return;
    exemplars.set(at, { traceId, value: amount / scale.perUnit, atMs: clock.wallMs() });
  };

  registerSamples({ registry, name, help, type: 'histogram' }, () =>
    series.labels.flatMap((sharedLabels, index) => {
      const first = index * (buckets + 1);
      return histogramSamples(name, scale, {
        counts: counts.subarray(first, first + buckets + 1),
        sum: sums[index] ?? 0,
        sharedLabels,
        exemplarOf: (bucket) => exemplars.get(first + bucket),
      });
    }),
  );

  return {
    at: series.at,
    observe: (index, amount, traceId) => {
      // The fastest outcomes are the most frequent, so the search starts at the first bucket.
      let bucket = 0;
      while (bucket < buckets && amount > (bounds[bucket] ?? 0)) bucket += 1;
      const at = index * (buckets + 1) + bucket;
      counts[at] = (counts[at] ?? 0) + 1;
      sums[index] = (sums[index] ?? 0) + amount;
      if (traceId !== undefined) keepExemplar(at, amount, traceId);
    },
  };
}

interface HistogramFigures {
  /** One per bucket, and one for amounts above the last bound. */
  readonly counts: Float64Array;
  readonly sum: number;
  readonly sharedLabels?: Readonly<Record<string, string>>;
  readonly exemplarOf?: (bucket: number) => Exemplar | undefined;
}

/** The samples of one series; none while nothing was observed. */
export function histogramSamples(
  name: string,
  { bounds, perUnit }: Scale,
  figures: HistogramFigures,
): readonly Sample[] {
  const { counts, sum, sharedLabels = {}, exemplarOf } = figures;
  let count = 0;
  const samples = Array.from(counts, (own, bucket): Sample => {
    count += own;
    const bound = bounds[bucket];
    const labels = { le: bound === undefined ? '+Inf' : bound / perUnit };
    const exemplar = exemplarOf?.(bucket);
    const sample = { metricName: `${name}_bucket`, labels, sharedLabels, value: count };
    return exemplar === undefined ? sample : { ...sample, exemplar };
  });
  if (count === 0) return [];
  return [
    ...samples,
    { metricName: `${name}_sum`, labels: {}, sharedLabels, value: sum / perUnit },
    { metricName: `${name}_count`, labels: {}, sharedLabels, value: count },
  ];
}

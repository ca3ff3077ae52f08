import { Summary } from 'prom-client';
import type { Clock } from '../runtime.ts';
import { type Exemplar, type MetricSample, type Registries, registerSamples } from './page.ts';

/** The labels of a metric in order, each with all values it can take: this bounds the number of series. */
type ClosedLabels = Readonly<Record<string, readonly string[]>>;

/** The label value for values that are not declared: no label takes a text from outside. */
const OTHER = 'other';

/** Numbers the series of one to three labels: the number of a combination of values is found by one map look-up per label. */
function closedSeries(labels: ClosedLabels) {
  const names = Object.keys(labels);
  const [first = [], second = [], third = []] = Object.values(labels).map((values) => [...values, OTHER]);
  const indexOf = (values: readonly string[]): ReadonlyMap<string, number> =>
    new Map(values.map((value, index) => [value, index]));
  const [a, b, c] = [indexOf(first), indexOf(second), indexOf(third)];
  const [seconds, thirds] = [Math.max(second.length, 1), Math.max(third.length, 1)];

  const position = (values: ReadonlyMap<string, number>, value: string | undefined): number =>
    value === undefined ? 0 : (values.get(value) ?? values.size - 1);
  const combinations = first.flatMap((x) =>
    (names.length < 2 ? [OTHER] : second).flatMap((y) => (names.length < 3 ? [OTHER] : third).map((z) => [x, y, z])),
  );
  return {
    size: combinations.length,
    at: (x?: string, y?: string, z?: string) => (position(a, x) * seconds + position(b, y)) * thirds + position(c, z),
    labels: combinations.map((values) =>
      Object.fromEntries(names.map((name, index) => [name, values[index] ?? OTHER] as const)),
    ),
  };
}

/** Adds to the series of these label values. */
export type Add = (amount: number, first?: string, second?: string, third?: string) => void;

interface CounterOptions {
  readonly registries: Registries;
  readonly name: string;
  readonly help: string;
  readonly labels: ClosedLabels;
  /** Shows all combinations from the start, at zero, so that a rate includes the first event; otherwise only those that occurred. */
  readonly fromZero: boolean;
}

/**
 * A counter for all combinations of closed label values, in one array. An increment takes a quarter of the time of
 * prom-client's own, and an observation of the histogram below a thirtieth, because those hash the labels each time.
 */
export function createCounter({ registries, name, help, labels, fromZero }: CounterOptions): Add {
  const series = closedSeries(labels);
  const counts = new Float64Array(series.size);
  const isDeclared = series.labels.map((own) => Object.values(own).every((value) => value !== OTHER));
  registerSamples(registries, { name, help, type: 'counter' }, () =>
    series.labels.flatMap((sharedLabels, index) => {
      const value = counts[index] ?? 0;
      return value > 0 || (fromZero && isDeclared[index]) ? [{ labels: {}, sharedLabels, value }] : [];
    }),
  );
  return (amount, first, second, third) => {
    const at = series.at(first, second, third);
    counts[at] = (counts[at] ?? 0) + amount;
  };
}

/** The buckets of a histogram and the unit in which amounts are observed. */
export interface Buckets {
  /** Inclusive upper bounds, ascending. */
  readonly bounds: readonly number[];
  /** Amounts and bounds are divided by it on the page, because Prometheus has seconds. */
  readonly perUnit: number;
}

/** Milliseconds, from an L1 hit to an engine's hard deadline. */
const DURATIONS: Buckets = {
  bounds: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000],
  perUnit: 1000,
};

/**
 * Counts an amount, in milliseconds or in the unit of the buckets, in the series of these label values.
 * @param traceId the trace of the observed request. The last one of each bucket is shown as its exemplar.
 */
type Observe = (amount: number, first?: string, second?: string, traceId?: string) => void;

interface HistogramOptions extends Omit<CounterOptions, 'fromZero'> {
  /** At most two. */
  readonly labels: ClosedLabels;
  /** Durations in milliseconds when absent. */
  readonly buckets?: Buckets;
  /** The time of exemplars. Trace ids are ignored without it. */
  readonly clock?: Pick<Clock, 'wallMs'>;
}

/** OpenMetrics allows 128 characters for the labels of an exemplar, and a scrape with more fails; trace ids have 32. */
const MAX_TRACE_ID_LENGTH = 64;

/** A histogram for all combinations of closed label values, in arrays, for the reason of `createCounter`. */
export function createHistogram(options: HistogramOptions): Observe {
  const { registries, name, help, labels, buckets = DURATIONS, clock } = options;
  const series = closedSeries(labels);
  const bounds = Float64Array.from(buckets.bounds);
  const width = bounds.length + 1;
  /** Per series: one count per bucket, and one for amounts above the last bound. */
  const counts = new Float64Array(series.size * width);
  const sums = new Float64Array(series.size);
  /** By the index in `counts`: a bucket without a traced request takes no memory. */
  const exemplars = new Map<number, Exemplar>();

  registerSamples(registries, { name, help, type: 'histogram' }, () =>
    series.labels.flatMap((sharedLabels, index) => {
      const first = index * width;
      return histogramSamples(name, buckets, {
        counts: counts.subarray(first, first + width),
        sum: sums[index] ?? 0,
        sharedLabels,
        exemplarOf: (bucket) => exemplars.get(first + bucket),
      });
    }),
  );

  return (amount, first, second, traceId) => {
    const index = series.at(first, second);
    // The fastest outcomes are the most frequent, so the search starts at the first bucket.
    let bucket = 0;
    while (bucket < bounds.length && amount > (bounds[bucket] ?? 0)) bucket += 1;
    const at = index * width + bucket;
    counts[at] = (counts[at] ?? 0) + 1;
    sums[index] = (sums[index] ?? 0) + amount;
    if (traceId === undefined || clock === undefined || traceId.length > MAX_TRACE_ID_LENGTH) return;
    const timestamp = clock.wallMs() / 1000;
    exemplars.set(at, { labelSet: { trace_id: traceId }, value: amount / buckets.perUnit, timestamp });
  };
}

interface HistogramFigures extends Pick<MetricSample, 'sharedLabels'> {
  /** One per bucket, and one for amounts above the last bound. */
  readonly counts: Float64Array;
  readonly sum: number;
  readonly exemplarOf?: (bucket: number) => Exemplar | undefined;
}

/** The samples of one series; none while nothing was observed. */
export function histogramSamples(
  name: string,
  { bounds, perUnit }: Buckets,
  { counts, sum, sharedLabels = {}, exemplarOf }: HistogramFigures,
): readonly MetricSample[] {
  let count = 0;
  const samples = Array.from(counts, (own, bucket): MetricSample => {
    count += own;
    const bound = bounds[bucket];
    const labels = { le: bound === undefined ? '+Inf' : bound / perUnit };
    return { metricName: `${name}_bucket`, labels, sharedLabels, value: count, exemplar: exemplarOf?.(bucket) };
  });
  if (count === 0) return [];
  return [
    ...samples,
    { metricName: `${name}_sum`, labels: {}, sharedLabels, value: sum / perUnit },
    { metricName: `${name}_count`, labels: {}, sharedLabels, value: count },
  ];
}

/** Counts one event. `domain` is given for the rooms whose events do not name it. */
export type Count<E> = (event: E, domain?: string) => void;

/** For each kind of event of a room, what is counted of it. */
export type Table<E extends { readonly kind: string }> = {
  readonly [Kind in E['kind']]: Count<Extract<E, { readonly kind: Kind }>>;
};

/** Calls all of them, in this order: a loop over a list takes a third more time, for every L1 hit. */
export function together<First, Second>(
  one: (first: First, second?: Second) => void,
  ...others: readonly (typeof one)[]
): typeof one {
  return others.reduce(
    (before, last) => (first, second) => {
      before(first, second);
      last(first, second);
    },
    one,
  );
}

/** Counts an event by the table of its room. */
export function countBy<E extends { readonly kind: string }>(table: Table<E>, event: E, domain?: string): void {
  const count: Count<never> = table[event.kind as E['kind']];
  count(event as never, domain);
}

/** The window of the quantiles, so that they show recent pipelines. */
const SUMMARY_WINDOW = { maxAgeSeconds: 60, ageBuckets: 4, percentiles: [0.5, 0.9, 0.99] };

export type MetricKit = ReturnType<typeof createMetricKit>;

/** Makes the metrics of the tables: each gets the function that takes amount and label values from an event. */
export function createMetricKit(registries: Registries, clock: Pick<Clock, 'wallMs'>) {
  /** Shows all its series from the start, at 0. */
  const counter = <E>(name: string, help: string, labels: ClosedLabels, count: (add: Add) => Count<E>): Count<E> =>
    count(createCounter({ registries, name, help, labels, fromZero: true }));
  /** For labels of which some combinations cannot occur: shows a series from its first event. */
  const sparse: typeof counter = (name, help, labels, count) =>
    count(createCounter({ registries, name, help, labels, fromZero: false }));
  const histogram = <E>(
    name: string,
    help: string,
    labels: ClosedLabels,
    count: (observe: Observe) => Count<E>,
    buckets?: Buckets,
  ): Count<E> => count(createHistogram({ registries, name, help, labels, buckets, clock }));
  /** prom-client's own, which takes a few µs: it is observed once per pipeline. */
  const summary = <E extends { readonly type: string }>(
    name: string,
    help: string,
    types: readonly E['type'][],
    amountOf: (event: E) => number,
  ) => {
    const registers = [registries.text, registries.openmetrics];
    const metric = new Summary({ name, help, registers, labelNames: ['type'], ...SUMMARY_WINDOW });
    const byType = new Map<string, Summary.Internal<'type'>>(types.map((type) => [type, metric.labels(type)]));
    return (event: E) => byType.get(event.type)?.observe(amountOf(event));
  };
  return { counter, sparse, histogram, summary };
}

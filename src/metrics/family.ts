import type { Metric, Registry } from 'prom-client';

/** The labels of a metric in order, each with every value it can take: what bounds the number of series. */
export type ClosedLabels = Readonly<Record<string, readonly string[]>>;

/** Where a value that nobody declared is counted: no label ever takes a text that came from outside. */
export const OTHER = 'other';

/** Finds the series of a combination of label values; a series is a small number. Two or three map look-ups. */
export interface Series {
  readonly size: number;
  readonly at: (first: string, second?: string, third?: string) => number;
  readonly labels: readonly Readonly<Record<string, string>>[];
  /** Series of declared values only: shown from the start, so that a rate sees the first event. */
  readonly isDeclared: (series: number) => boolean;
}

/** At most three labels. */
export function closedSeries(labels: ClosedLabels): Series {
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

export interface Sample {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly sharedLabels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Hands numbers kept elsewhere to a registry, which asks for them at each scrape. */
export function registerSamples(
  registry: Registry,
  metric: { readonly name: string; readonly help: string; readonly type: 'counter' | 'histogram' },
  samples: () => readonly Sample[],
): void {
  const collector = {
    ...metric,
    aggregator: 'sum',
    get: async () => ({ ...metric, values: samples(), aggregator: 'sum' }),
  };
  // A registry asks a metric for `name` and `get()` and nothing else.
  registry.registerMetric(collector as unknown as Metric);
}

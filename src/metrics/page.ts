import { type Metric, type OpenMetricsContentType, Registry } from 'prom-client';

/** `text` is Prometheus' older format, which every version and other tools read; it has no exemplars. */
export type PageFormat = 'openmetrics' | 'text';

export type Registries = ReturnType<typeof createRegistries>;

/** The registry of each format: prom-client writes a counter's name into its metric when it writes OpenMetrics. */
export function createRegistries() {
  const openmetrics = new Registry<OpenMetricsContentType>();
  openmetrics.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  return { text: new Registry(), openmetrics };
}

/** One line of a page, in the form of prom-client's own metrics. */
export interface MetricSample {
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
  readonly labelSet: { readonly trace_id: string };
  /** In the unit of the metric. */
  readonly value: number;
  /** Wall time of the observation, in seconds. */
  readonly timestamp: number;
}

interface SampledMetric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
}

/** Registers a metric whose samples are computed at each scrape. */
export function registerSamples(
  { text, openmetrics }: Registries,
  { name, help, type }: SampledMetric,
  samples: () => readonly MetricSample[],
): void {
  // A registry uses only `name` and `get()` of a metric.
  const collector = (declared: () => { readonly name: string; readonly type: string }) =>
    ({ name, help, get: async () => ({ ...declared(), help, values: samples() }) }) as unknown as Metric;
  text.registerMetric(collector(() => ({ name, type })));
  openmetrics.registerMetric(collector(() => openMetricsFamily(openmetrics, name, type)));
}

/**
 * A counter's family has the name of its samples without `_total`, which prom-client adds to each of them. `unknown` is the
 * type of a counter whose name has no such suffix, and of one whose family would have the name of another metric: a series
 * has the same name in both formats.
 */
function openMetricsFamily(registry: Registries['openmetrics'], name: string, type: string) {
  if (type !== 'counter') return { name, type };
  const family = name.replace(/_total$/, '');
  return registry.getSingleMetric(family) === undefined ? { name: family, type } : { name, type: 'unknown' };
}

/**
 * The format that a client's Accept header prefers. OpenMetrics must be named: `*` is what browsers and curl send, and they
 * get the format that people know.
 */
export function pageFormatOf(accept: string | undefined): PageFormat {
  let openMetrics = 0;
  let text = 0;
  for (const range of accept?.toLowerCase().split(',') ?? []) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const parameter = (name: string): string | undefined =>
      parameters.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);
    const weight = Number(parameter('q') ?? 1) || 0;
    if (type === 'text/plain') text = Math.max(text, weight);
    if (type === 'application/openmetrics-text' && (parameter('version') ?? '1.0.0') === '1.0.0')
      openMetrics = Math.max(openMetrics, weight);
  }
  return openMetrics > 0 && openMetrics >= text ? 'openmetrics' : 'text';
}

import { Registry } from 'prom-client';
import type { Exemplar, Sample } from './family.ts';

/** `text` is Prometheus' older format, which every version and other tools read; it has no exemplars. */
export type PageFormat = 'openmetrics' | 'text';

export interface MetricsPage {
  readonly contentType: string;
  readonly body: string;
}

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly values: readonly Sample[];
}

const CONTENT_TYPES: Readonly<Record<PageFormat, string>> = {
  openmetrics: Registry.OPENMETRICS_CONTENT_TYPE,
  text: Registry.PROMETHEUS_CONTENT_TYPE,
};

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

/**
 * Writes the page. In OpenMetrics prom-client's own writer adds `_total` to every sample of a counter. This would rename counters
 * without that suffix, and give `redis_pipeline_execution_failures` the name of another counter. This writer gives a series
 * the same name and labels in both formats.
 */
export async function writePage(registry: Registry, format: PageFormat): Promise<MetricsPage> {
  // The samples of our own metrics have more members than prom-client's type says, see `registerSamples`.
  const families = (await registry.getMetricsAsJSON()) as unknown as readonly Family[];
  const isOpen = format === 'openmetrics';
  const names = new Set(families.map(({ name }) => name));
  const lines: string[] = [];
  for (const { name, help, type, values } of families) {
    const declared = isOpen ? openMetricsFamily(name, type, names) : { name, type };
    lines.push(`# HELP ${declared.name} ${escapeText(help, isOpen)}`, `# TYPE ${declared.name} ${declared.type}`);
    for (const sample of values) {
      const line = `${sample.metricName ?? name}${labelsOf(sample)} ${numberText(sample.value)}`;
      lines.push(isOpen && sample.exemplar !== undefined ? `${line} # ${exemplarText(sample.exemplar)}` : line);
    }
  }
  lines.push(isOpen ? '# EOF\n' : '');
  return { contentType: CONTENT_TYPES[format], body: lines.join('\n') };
}

/**
 * A counter's family has the name of its samples without `_total`. `unknown` is the type of a counter whose name has no such
 * suffix, and of one whose family would have the name of another metric.
 */
function openMetricsFamily(name: string, type: string, names: ReadonlySet<string>): Pick<Family, 'name' | 'type'> {
  if (type !== 'counter') return { name, type };
  const family = name.replace(/_total$/, '');
  return names.has(family) ? { name, type: 'unknown' } : { name: family, type };
}

function labelsOf({ labels, sharedLabels }: Sample): string {
  const shared = sharedLabels === undefined ? '' : sharedText(sharedLabels);
  const own = pairsText(labels);
  const text = own === '' || shared === '' ? own + shared : `${own},${shared}`;
  return text === '' ? '' : `{${text}}`;
}

const sharedTexts = new WeakMap<object, string>();

function sharedText(labels: Readonly<Record<string, string>>): string {
  const known = sharedTexts.get(labels);
  if (known !== undefined) return known;
  const text = pairsText(labels);
  sharedTexts.set(labels, text);
  return text;
}

function pairsText(labels: Readonly<Record<string, string | number>>): string {
  let text = '';
  for (const name in labels) text += `${text === '' ? '' : ','}${name}="${escapeText(String(labels[name]), true)}"`;
  return text;
}

/** Quotation marks are escaped in label values, and in the help texts of OpenMetrics. */
function escapeText(text: string, withQuotes: boolean): string {
  if (!/[\\\n"]/.test(text)) return text;
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return withQuotes ? escaped.replaceAll('"', '\\"') : escaped;
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}

function exemplarText({ traceId, value, atMs }: Exemplar): string {
  return `{trace_id="${escapeText(traceId, true)}"} ${numberText(value)} ${numberText(atMs / 1000)}`;
}

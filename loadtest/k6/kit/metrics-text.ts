/** One line of a page in Prometheus' text format (https://prometheus.io/docs/instrumenting/exposition_formats/). */
export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** NaN and infinities are possible. */
  readonly value: number;
}

/** Blank lines, comments and malformed lines are skipped. */
export function parseMetrics(text: string): readonly Series[] {
  return text.split('\n').flatMap((line) => parseLine(line) ?? []);
}

/** The value of the first series with this name and these labels; it may have more labels. */
export function seriesValue(
  series: readonly Series[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const wanted = Object.entries(labels);
  return series.find((one) => one.name === name && wanted.every(([label, value]) => one.labels[label] === value))
    ?.value;
}

const ENGINE_CALLS = 'serpcache_engine_calls_total';

/**
 * Engine calls of one process since its start, for all domains and outcomes; undefined if the page is not one of serpcache.
 * Parses only these lines, because a generator reads the whole page of 50 kB between its requests.
 */
export function engineCallsOf(text: string): number | undefined {
  const lines = text.split('\n').filter((line) => line.startsWith(ENGINE_CALLS));
  const calls = lines
    .flatMap((line) => parseLine(line) ?? [])
    .filter(({ name, value }) => name === ENGINE_CALLS && Number.isFinite(value));
  return calls.length === 0 ? undefined : calls.reduce((sum, { value }) => sum + value, 0);
}

/** Quoted values may contain braces and spaces. A timestamp may follow the value. */
const LINE =
  /^[ \t]*([a-zA-Z_:][\w:]*)(?:[ \t]*\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\}[ \t]*|[ \t]+)(\S+)(?:[ \t]+-?\d+)?[ \t\r]*$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"/g;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

function parseLine(line: string): Series | undefined {
  const [, name, labels = '', written = ''] = LINE.exec(line) ?? [];
  const value = parseValue(written);
  if (name === undefined || value === undefined) return undefined;
  const pairs = Array.from(labels.matchAll(LABEL), ([, label = '', text = '']) => [label, unescaped(text)] as const);
  return { name, labels: Object.fromEntries(pairs), value };
}

function parseValue(written: string): number | undefined {
  if (NUMBER.test(written)) return Number(written);
  const [, sign, word] = /^([+-]?)(nan|inf|infinity)$/i.exec(written) ?? [];
  if (word === undefined) return undefined;
  if (word.toLowerCase() === 'nan') return Number.NaN;
  return sign === '-' ? -Infinity : Infinity;
}

function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replaceAll(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character));
}

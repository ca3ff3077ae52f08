/** One line of a page in Prometheus' text format (https://prometheus.io/docs/instrumenting/exposition_formats/). */
export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** As written: NaN and infinities too. */
  readonly value: number;
}

/** Blank lines, comments and whatever is no series of the format are passed over. */
export function parseMetrics(text: string): readonly Series[] {
  return text.split('\n').flatMap((line) => parseLine(line) ?? []);
}

/** Of the first series with this name and, among others it may have, these labels. */
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
 * Engine calls of one process since it started, all domains and outcomes; undefined when the page does not say, and so is
 * not a page of serpcache. Looks at these lines alone: a generator reads the whole page, 50 kB, between its requests.
 */
export function engineCallsOf(text: string): number | undefined {
  let calls: number | undefined;
  for (let at = text.indexOf(ENGINE_CALLS); at >= 0; at = text.indexOf(ENGINE_CALLS, at + ENGINE_CALLS.length)) {
    // The comments above name it as well, and another metric's name may begin with it.
    if (at > 0 && text[at - 1] !== '\n') continue;
    if (text[at + ENGINE_CALLS.length] !== '{' && text[at + ENGINE_CALLS.length] !== ' ') continue;
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end < 0 ? text.length : end);
    const value = Number.parseFloat(line.slice(line.lastIndexOf('}') + 1 || ENGINE_CALLS.length));
    if (Number.isFinite(value)) calls = (calls ?? 0) + value;
  }
  return calls;
}

/** Braces and spaces inside quoted values end nothing. A timestamp may follow the value. */
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

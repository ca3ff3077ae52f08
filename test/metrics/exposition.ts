/** A page in Prometheus' text format, read the way a scraper does and stricter. */
export interface Exposition {
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly ExpositionSample[];
  /** The value of the one series with exactly these labels. */
  readonly value: (name: string, labels?: Readonly<Record<string, string>>) => number | undefined;
}

export interface ExpositionSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (NaN|[+-]Inf|[0-9.eE+-]+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;

/** @throws on a line that is no exposition, a sample without its type, and a series that stands twice. */
export function parseExposition(text: string): Exposition {
  const types = new Map<string, string>();
  const samples: ExpositionSample[] = [];
  const seen = new Set<string>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('# HELP ')) continue;
    const [, typed = '', type = ''] = /^# TYPE (\S+) (counter|gauge|histogram|summary)$/.exec(line) ?? [];
    if (typed !== '') {
      if (types.has(typed)) throw new Error(`two types for ${typed}`);
      types.set(typed, type);
      continue;
    }
    const [, name = '', labelText = '', value = ''] = SAMPLE.exec(line) ?? [];
    if (name === '') throw new Error(`no exposition: ${line}`);
    const family = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
    if (!types.has(family)) throw new Error(`no type for ${name}`);
    const labels = parseLabels(labelText);
    const identity = identify(name, labels);
    if (seen.has(identity)) throw new Error(`twice: ${identity}`);
    seen.add(identity);
    samples.push({ name, labels, value: value.endsWith('Inf') ? Number(`${value}inity`) : Number(value) });
  }
  const byIdentity = new Map(samples.map((sample) => [identify(sample.name, sample.labels), sample.value]));
  return { types, samples, value: (name, labels = {}) => byIdentity.get(identify(name, labels)) };
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const start = LABEL.lastIndex;
    const [, name = '', value = ''] = LABEL.exec(text) ?? [];
    if (name === '' || Object.hasOwn(labels, name)) throw new Error(`no labels: ${text.slice(start)}`);
    labels[name] = value;
  }
  return labels;
}

function identify(name: string, labels: Readonly<Record<string, string>>): string {
  return `${name}${JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))}`;
}

import { type InferredCatalogue, type InferredColumn, MAX_DISTINCT } from '../catalogue/infer.ts';
import { RESERVED_ATTRIBUTES } from './cross.ts';

export interface StarterOptions {
  readonly domain: string;
  /** As named by the user; only shown. */
  readonly file: string;
  readonly catalogue: InferredCatalogue;
}

export interface StarterConfig {
  /** The YAML file. */
  readonly text: string;
  readonly attributes: number;
  /** Columns that are left out, each with the reason. */
  readonly ignored: readonly (readonly [column: string, why: string])[];
}

/** A domain may be called as one of the demo's is: this folder keeps their indexes apart. */
const DIRECTORY = 'data/own';
const MAX_ATTRIBUTES = 64;
/** Numbers with few values, such as rooms or years, are counted; prices are not. */
const MAX_COUNTED_NUMBERS = 30;

/** A first configuration for a catalogue of one's own: one domain with an embedded index and every usable column. */
export function starterConfig({ domain, file, catalogue }: StarterOptions): StarterConfig {
  const ignored: (readonly [string, string])[] = [];
  const declared = new Map<string, InferredColumn>();
  for (const column of catalogue.columns) {
    const why = whyNot(column, declared);
    if (why === undefined) declared.set(column.name, column);
    else ignored.push([column.column, why]);
  }
  const texts = Object.entries(catalogue.texts).map(([field, column]) => `${field} from ${shown(column)}`);
  const lines = [
    `# Made from ${shown(file)} (${catalogue.rows} rows) by \`serpcache index --init\`: a start, meant to be edited.`,
    '# Every setting: `serpcache config reference`. After a change of attributes: `serpcache index` again.',
    'domains:',
    `  ${key(domain)}:`,
    '    # Pages are kept in memory alone. With Redis or Valkey: { kind: standalone, nodes: ["127.0.0.1:6379"] }',
    '    store: { kind: none }',
    `    engine: { kind: sqlite, directory: ${DIRECTORY} }`,
    `    # ${texts.join(', ')}`,
    declared.size === 0 ? '    attributes: {}' : '    attributes:',
    ...Array.from(declared.values(), attributeLine),
    ...(ignored.length === 0 ? [] : ['    # Columns that are left out:']),
    ...ignored.map(([column, why]) => `    #   ${shown(column)}: ${why}`),
  ];
  return { text: `${lines.join('\n')}\n`, attributes: declared.size, ignored };
}

function whyNot({ name, unusable }: InferredColumn, declared: ReadonlyMap<string, InferredColumn>): string | undefined {
  if (unusable !== undefined) return unusable;
  if (name === '') return 'its name has no Latin or Cyrillic letter to begin an attribute name with; rename it';
  if (RESERVED_ATTRIBUTES.includes(name)) return `"${name}" has a meaning of its own in searches; rename it`;
  if (declared.has(name))
    return `"${name}" is the column ${shown(declared.get(name)?.column ?? '')} already; rename it`;
  return declared.size === MAX_ATTRIBUTES ? `a domain has at most ${MAX_ATTRIBUTES} attributes` : undefined;
}

function attributeLine(inferred: InferredColumn): string {
  const { name, column, type, advice } = inferred;
  const sort = type === 'string' ? '' : ', sort: true';
  const facet = isCounted(inferred) ? ', facet: true' : '';
  const label = name === column ? '' : `, label: ${shown(column).replaceAll(/\$(?=\{)/g, '$$$$')}`;
  const comment = advice === undefined ? '' : ` # ${advice}`;
  return `      ${key(name)}: { type: ${type}${facet}${sort}${label} }${comment}`;
}

/** Values that come again, and are few enough to be read. */
function isCounted({ type, values, distinct }: InferredColumn): boolean {
  if (type === 'number' || type === 'date' || distinct < 2) return false;
  const repeats = distinct <= MAX_COUNTED_NUMBERS ? distinct < values : distinct * 2 <= values;
  return repeats && distinct <= (type === 'string' ? MAX_DISTINCT : MAX_COUNTED_NUMBERS);
}

/** Bare, these names are no texts in YAML. */
function key(name: string): string {
  return /^(?:null|true|false)$/.test(name) ? `"${name}"` : name;
}

/** Other people's words: one line, in quotes. */
function shown(text: string): string {
  return JSON.stringify(
    text
      .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
      .slice(0, 80)
      .toWellFormed(),
  );
}

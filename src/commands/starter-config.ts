import { MAX_DISTINCT, nameOfColumn } from '../catalogue/columns.ts';
import type { InferredCatalogue, InferredColumn } from '../catalogue/infer.ts';
import { PRESETS } from '../catalogue/presets.ts';
import type { CatalogueForm } from '../catalogue/read.ts';
import { RESERVED_ATTRIBUTES } from '../config/cross-checks.ts';
import type { Attribute } from '../search/domain.ts';

/** A part of a configuration as plain values. */
export type ConfigTree = {
  readonly [name: string]: string | number | boolean | readonly string[] | ConfigTree | undefined;
};

/** The line of one attribute. */
interface StarterAttribute {
  readonly name: string;
  readonly members: ConfigTree;
  readonly comment?: string;
}

interface StarterOptions {
  readonly domain: string;
  /** The files and servers from which it is made. */
  readonly from: string;
  readonly store: ConfigTree;
  readonly engine: ConfigTree;
  /** How the catalogue is read, where its columns or its encoding need it. */
  readonly catalogue?: ConfigTree;
  readonly attributes: readonly StarterAttribute[];
  /** Further lines below the attributes. */
  readonly remarks: readonly string[];
}

/** The file of the schema, beside the configuration: editors complete and check with it. */
export const SCHEMA_FILE = 'serpcache.schema.json';
const MAX_ATTRIBUTES = 64;
/** Integers with at most this number of values, such as rooms or years, become facets; prices do not. */
const MAX_COUNTED_NUMBERS = 30;

/** @returns the text of a first configuration: one domain with its engine, its store and its attributes. */
export function starterConfig({ domain, from, store, engine, catalogue, attributes, remarks }: StarterOptions): string {
  const lines = [
    `# yaml-language-server: $schema=${SCHEMA_FILE}`,
    `# Made by \`serpcache init\` from ${from}: a start, meant to be edited.`,
    '# Every setting: `serpcache config reference`. After a change: `serpcache config check`, and start again.',
    'domains:',
    `  ${key(domain)}:`,
    ...(store['kind'] === 'none'
      ? ['    # Pages are kept in memory alone. With Redis or Valkey: { kind: standalone, nodes: ["127.0.0.1:6379"] }']
      : [
          '    # Pages of all processes. A read that takes longer than the deadline is a miss; its connection is kept.',
        ]),
    `    store: ${flow(store)}`,
    ...(engine['kind'] === 'sqlite'
      ? ['    # An embedded index. With a server: { kind: sphinx, host: …, port: 9306, index: … }']
      : [
          '    # maxConcurrent: queries at once of all processes, 2 to 4 for each core of the server. A client waits for the',
          '    # deadline; then it gets an older page, or an error.',
        ]),
    `    engine: ${flow(engine)}`,
    ...(catalogue === undefined ? [] : [`    catalogue: ${flow(catalogue)}`]),
    '    # A page is fresh for the ttl, then served while it is computed again, and for an hour while the engine fails.',
    '    freshness: { ttl: 5m, staleWhileRevalidate: 1m, staleIfError: 1h, emptyTtl: 30s }',
    '    # Names of filters, facets and sorts. `facet`: is counted; `sort`: orders; `search`: its words are searched.',
    attributes.length === 0 ? '    attributes: {}' : '    attributes:',
    ...attributes.map(({ name, members, comment }) => {
      return `      ${key(name)}: ${flow(members)}${comment === undefined ? '' : ` # ${comment}`}`;
    }),
    ...remarks.map((remark) => `    # ${remark}`),
  ];
  return `${lines.join('\n')}\n`;
}

/** The usable columns of a catalogue as attributes, and the others, each with its reason. */
export function attributesOfCatalogue(catalogue: InferredCatalogue, form: CatalogueForm = {}) {
  const ignored: (readonly [column: string, why: string])[] = [];
  const declared = new Map<string, InferredColumn>();
  for (const column of catalogue.columns) {
    const why = reasonToIgnore(column, declared);
    if (why === undefined) declared.set(column.name, column);
    else ignored.push([column.column, why]);
  }
  const known: Readonly<Record<string, string>> = PRESETS[catalogue.preset ?? 'spreadsheet'].columns;
  const isKnown = ({ name, column }: InferredColumn): boolean => known[name] === column;
  const unnamed = [...declared.values()].filter((each) => nameOfColumn(each.column) !== each.name && !isKnown(each));
  const columns = { ...form.columns, ...Object.fromEntries(unnamed.map(({ name, column }) => [name, column])) };
  const read = { preset: catalogue.preset, encoding: form.encoding, columns };
  const isPlain = Object.keys(columns).length === 0;
  return {
    /** Absent where the file is read without it. */
    catalogue: isPlain && read.preset === undefined && read.encoding === undefined ? undefined : read,
    // The page has its own labels for the names that a preset gives.
    attributes: Array.from(declared.values(), (each) => attributeOf(each, isKnown(each) ? each.name : each.column)),
    ignored,
  };
}

/** The remarks about columns that are left out. */
export function remarksOn(ignored: readonly (readonly [column: string, why: string])[]): readonly string[] {
  const lines = ignored.map(([column, why]) => `  ${quotedLine(column)}: ${why}`);
  return lines.length === 0 ? [] : ['Columns that are left out:', ...lines];
}

/** The attributes of an index or of the demo. Texts and lists are counted; numbers and dates sort. */
export function attributesOfIndex(attributes: readonly Partial<Attribute>[]): readonly StarterAttribute[] {
  const usable = attributes.filter(({ name = '' }) => !RESERVED_ATTRIBUTES.includes(name)).slice(0, MAX_ATTRIBUTES);
  return usable.map(({ name = '', type, multiple, facet, sort, currency }) => {
    const isText = type === 'string' || multiple === true;
    return {
      name,
      members: {
        type,
        multiple,
        facet: (facet ?? isText) || undefined,
        sort: (sort ?? !isText) || undefined,
        currency,
      },
    };
  });
}

function reasonToIgnore(
  { name, column, unusable }: InferredColumn,
  declared: ReadonlyMap<string, InferredColumn>,
): string | undefined {
  if (unusable !== undefined) return unusable;
  if (column === '') return 'it has no name';
  if (RESERVED_ATTRIBUTES.includes(name)) return `"${name}" is reserved in searches; rename it`;
  if (declared.has(name))
    return `"${name}" is the column ${quotedLine(declared.get(name)?.column ?? '')} already; rename it`;
  return declared.size === MAX_ATTRIBUTES ? `a domain has at most ${MAX_ATTRIBUTES} attributes` : undefined;
}

function attributeOf(inferred: InferredColumn, label: string): StarterAttribute {
  const { name, type, multiple, isLink, format, currency, advice } = inferred;
  const members = {
    type,
    search: (type === 'string' && isLink !== true) || undefined,
    multiple: multiple === true || undefined,
    facet: isFacet(inferred) || undefined,
    sort: !(type === 'string' || multiple === true) || undefined,
    format,
    currency,
    label: name === label ? undefined : oneLine(label),
  };
  return { name, members, comment: advice };
}

/** Values that repeat, and whose number is small enough for a facet. */
function isFacet({ type, values, distinct }: InferredColumn): boolean {
  if (type === 'number' || type === 'date' || distinct < 2) return false;
  const repeats = distinct <= MAX_COUNTED_NUMBERS ? distinct < values : distinct * 2 <= values;
  return repeats && distinct <= (type === 'string' ? MAX_DISTINCT : MAX_COUNTED_NUMBERS);
}

/** Their values are words, and need no quotes. */
const WORDS = ['kind', 'type', 'currency', 'host', 'index', 'preset'];

/** A mapping on one line. `${` of a user's text would name a variable of the environment. */
function flow(tree: ConfigTree): string {
  const members = Object.entries(tree).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const isMapping = typeof value === 'object' && !Array.isArray(value);
    const isWord = WORDS.includes(name) && /^[A-Za-z_][\w.-]*$/.test(String(value));
    const text = isMapping ? flow(value as ConfigTree) : isWord ? key(String(value)) : JSON.stringify(value);
    return [`${key(name)}: ${name === 'password' ? text : text.replaceAll(/\$(?=\{)/g, '$$$$')}`];
  });
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

/** Unquoted, these names are not strings in YAML. */
function key(name: string): string {
  return /^(?:null|true|false)$/.test(name) ? `"${name}"` : name;
}

function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .slice(0, 80)
    .toWellFormed();
}

/** A user's text on one line, in quotes. */
export function quotedLine(text: string): string {
  return JSON.stringify(oneLine(text));
}

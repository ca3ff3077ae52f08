import { MAX_DISTINCT, nameOfColumn } from '../catalogue/columns.ts';
import type { InferredCatalogue, InferredColumn } from '../catalogue/infer.ts';
import { PRESETS } from '../catalogue/presets.ts';
import type { CatalogueForm } from '../catalogue/read.ts';
import { RESERVED_ATTRIBUTES } from '../config/cross-checks.ts';

interface StarterOptions {
  readonly domain: string;
  /** The name given by the user; only shown. */
  readonly file: string;
  readonly catalogue: InferredCatalogue;
  readonly form?: CatalogueForm;
  /** The folder of the index. */
  readonly directory?: string;
}

export type StarterConfig = ReturnType<typeof starterConfig>;

/** A domain may have the name of a demo domain: this folder keeps their indexes apart. */
export const DIRECTORY = 'data/own';
const MAX_ATTRIBUTES = 64;
/** Integers with at most this number of values, such as rooms or years, become facets; prices do not. */
const MAX_COUNTED_NUMBERS = 30;

/** A first configuration for a user's catalogue: one domain with an embedded index and every usable column. */
export function starterConfig({ domain, file, catalogue, form = {}, directory = DIRECTORY }: StarterOptions) {
  /** Columns that are left out, each with its reason. */
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
  const named = [...Object.entries(form.columns ?? {}), ...unnamed.map(({ name, column }) => [name, column] as const)];
  const columns = named.length === 0 ? undefined : Object.fromEntries(named);
  const written = JSON.stringify({ preset: catalogue.preset, encoding: form.encoding, columns });
  const texts = Object.entries(catalogue.texts).map(([field, column]) => `${field} from ${quotedLine(column)}`);
  const lines = [
    `# Made from ${quotedLine(file)} (${catalogue.rows} rows) by \`serpcache index --init\`: a start, meant to be edited.`,
    '# Every setting: `serpcache config reference`. After a change of attributes: `serpcache index` again.',
    'domains:',
    `  ${key(domain)}:`,
    '    # Pages are kept in memory alone. With Redis or Valkey: { kind: standalone, nodes: ["127.0.0.1:6379"] }',
    '    store: { kind: none }',
    `    engine: { kind: sqlite, directory: ${plainYaml(JSON.stringify(directory))} }`,
    ...(written === '{}' ? [] : [`    catalogue: ${plainYaml(written)}`]),
    `    # ${texts.join(', ')}`,
    declared.size === 0 ? '    attributes: {}' : '    attributes:',
    ...Array.from(declared.values(), (each) => attributeLine(each, isKnown(each) ? each.name : each.column)),
    ...(ignored.length === 0 ? [] : ['    # Columns that are left out:']),
    ...ignored.map(([column, why]) => `    #   ${quotedLine(column)}: ${why}`),
  ];
  return { text: `${lines.join('\n')}\n`, attributes: declared.size, ignored };
}

/** `${` would name a variable of the environment. */
function plainYaml(text: string): string {
  return text.replaceAll(/\$(?=\{)/g, '$$$$');
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

/** The page has its own labels for the names that a preset gives. */
function attributeLine(inferred: InferredColumn, label: string): string {
  const { name, type, multiple, isLink, format, currency, advice } = inferred;
  const members = [
    `type: ${type}`,
    ...(type === 'string' && isLink !== true ? ['search: true'] : []),
    ...(multiple === true ? ['multiple: true'] : []),
    ...(isFacet(inferred) ? ['facet: true'] : []),
    ...(type === 'string' || multiple === true ? [] : ['sort: true']),
    ...(format === undefined ? [] : [`format: "${format}"`]),
    ...(currency === undefined ? [] : [`currency: ${currency}`]),
    ...(name === label ? [] : [`label: ${plainYaml(quotedLine(label))}`]),
  ];
  const comment = advice === undefined ? '' : ` # ${advice}`;
  return `      ${key(name)}: { ${members.join(', ')} }${comment}`;
}

/** Values that repeat, and whose number is small enough for a facet. */
function isFacet({ type, values, distinct }: InferredColumn): boolean {
  if (type === 'number' || type === 'date' || distinct < 2) return false;
  const repeats = distinct <= MAX_COUNTED_NUMBERS ? distinct < values : distinct * 2 <= values;
  return repeats && distinct <= (type === 'string' ? MAX_DISTINCT : MAX_COUNTED_NUMBERS);
}

/** Unquoted, these names are not strings in YAML. */
function key(name: string): string {
  return /^(?:null|true|false)$/.test(name) ? `"${name}"` : name;
}

/** A user's text on one line, in quotes. */
function quotedLine(text: string): string {
  return JSON.stringify(
    text
      .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
      .slice(0, 80)
      .toWellFormed(),
  );
}

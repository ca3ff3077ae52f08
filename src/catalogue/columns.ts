import type { Attribute } from '../search/domain.ts';
import { RowFault, shown } from './row.ts';

/** Columns by the field or attribute that they are, where their names do not tell. */
export type ColumnMap = Readonly<Record<string, string>>;

/** The fields of a document that are not attributes. The first two are required. */
export const TEXT_FIELDS = ['id', 'title', 'description'] as const;
export type TextField = (typeof TEXT_FIELDS)[number];

/** Usual names of these columns, best first, so that the columns of an export need no renaming. */
export const USUAL_NAMES: Readonly<Record<TextField, readonly string[]>> = {
  id: ['id', 'sku', 'code', 'ad id', 'product id', 'артикул', 'код'],
  title: ['title', 'name', 'product name', 'subject', 'название', 'наименование', 'заголовок'],
  description: ['description', 'text', 'body', 'описание', 'текст'],
};

/** Whether a column has a usual name of the id, the title or the description. */
export function isUsualName(column: string): boolean {
  const name = nameOfColumn(column);
  return TEXT_FIELDS.some((field) => USUAL_NAMES[field].some((usual) => nameOfColumn(usual) === name));
}

/** How the columns of one file were used. */
export type ColumnUse = ReturnType<ReturnType<typeof createColumns>['use']>;

/** Maximum number of different values counted per column: a facet with more is not readable. */
export const MAX_DISTINCT = 200;
const MAX_IGNORED = 100;
/** Column names whose field is remembered: NDJSON may hold any number of different names. */
const MAX_REMEMBERED = 1000;
/** The maximum length of an attribute's name, as in the configuration. */
const MAX_NAME_LENGTH = 31;

/** As in passports. The signs ъ and ь have no Latin letter. */
const LATIN: ReadonlyMap<string, string> = new Map(
  'а-a б-b в-v г-g д-d е-e ё-yo ж-zh з-z и-i й-y к-k л-l м-m н-n о-o п-p р-r с-s т-t у-u ф-f х-kh ц-ts ч-ch ш-sh щ-shch ы-y э-e ю-yu я-ya'
    .split(' ')
    .map((pair) => pair.split('-') as [string, string]),
);

/**
 * A column's name made into an attribute name: lower case, Latin letters for Cyrillic ones, _ for everything except
 * letters and digits. Empty when the name holds no letter to begin with.
 */
export function nameOfColumn(column: string): string {
  return column
    .normalize('NFC')
    .toLowerCase()
    .replace(/[ыи]й(?![а-яё])/g, 'ы')
    .replace(/[а-яё]/g, (letter) => LATIN.get(letter) ?? '')
    .normalize('NFD')
    .replace(/\p{Mark}+/gu, '')
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+/, '')
    .slice(0, MAX_NAME_LENGTH)
    .replace(/_+$/, '');
}

/**
 * Maps the columns of a file to fields. A field takes the column that `map` names, else the one of its exact name, else
 * the first column whose `nameOfColumn` is equal, else (id, title and description only) a column of a usual name. Declared
 * attributes win over usual names.
 */
export function createColumns(attributes: readonly Attribute[], map: ColumnMap) {
  const declared = new Set(attributes.map(({ name }) => name));
  const fields = new Set<string>([...TEXT_FIELDS, ...declared]);
  const mapped = new Map(
    Object.entries(map).flatMap(([field, column]) => (fields.has(field) ? [[column, field] as const] : [])),
  );
  const targets = new Map<string, Target | undefined>();
  const ignored = new Set<string>();
  const renamed = new Map<string, string>();
  let names: readonly string[] = [];
  let layout: ReadonlyMap<string, string> = new Map();

  const targetOf = (column: string): Target | undefined => {
    if (targets.has(column)) return targets.get(column);
    const field = mapped.get(column);
    const target = field === undefined ? findTarget(column, declared) : { field, rank: -1 };
    if (targets.size < MAX_REMEMBERED) targets.set(column, target);
    return target;
  };

  const layOut = (columns: readonly string[]): void => {
    const best = new Map<string, { readonly column: string; readonly rank: number }>();
    for (const column of columns) {
      const target = targetOf(column);
      const other = target === undefined ? undefined : best.get(target.field);
      const loser = target === undefined || (other !== undefined && other.rank <= target.rank) ? column : other?.column;
      if (loser !== undefined && ignored.size < MAX_IGNORED) ignored.add(loser);
      if (target !== undefined && loser !== column) best.set(target.field, { column, rank: target.rank });
    }
    layout = new Map(Array.from(best, ([field, { column }]) => [field, column]));
    for (const [field, column] of layout) {
      if (field !== column && renamed.size < MAX_IGNORED) renamed.set(column, field);
    }
    names = columns;
  };

  return {
    /** The row with field names in place of column names. */
    fieldsOf: (row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
      const columns = Object.keys(row);
      // Rows of one file usually have the same columns, so the layout of the last row is kept.
      if (columns.length !== names.length || columns.some((column, i) => column !== names[i])) layOut(columns);
      const fields: Record<string, unknown> = {};
      for (const [field, column] of layout) fields[field] = row[column];
      return fields;
    },
    /** The column of a field in the last row. */
    columnOf: (field: string): string | undefined => layout.get(field),
    /** `ignored`: columns that are not a field of a document. `renamed`: those that were read as a field of another name. */
    use: () => ({ ignored: [...ignored].filter((column) => !renamed.has(column)), renamed: [...renamed] }),
  };
}

interface Target {
  readonly field: string;
  /** When two columns are the same field, the smaller rank wins. */
  readonly rank: number;
}

function findTarget(column: string, declared: ReadonlySet<string>): Target | undefined {
  if (declared.has(column)) return { field: column, rank: 0 };
  const name = nameOfColumn(column);
  if (declared.has(name)) return { field: name, rank: 1 };
  for (const field of TEXT_FIELDS) {
    if (column === field) return { field, rank: 0 };
    const rank = USUAL_NAMES[field].findIndex((usual) => nameOfColumn(usual) === name);
    if (name !== '' && rank >= 0) return { field, rank: rank + 1 };
  }
  return undefined;
}

/**
 * @param own the part of `map` that the user gave.
 * @throws RowFault when the header lacks a required field, or a column of `own`. It names the columns that could be it.
 */
export function checkHeader(
  columns: readonly string[],
  attributes: readonly Attribute[],
  map: ColumnMap,
  own: ColumnMap = {},
): void {
  const header = `the header has: ${shownNames(columns)}`;
  for (const [field, column] of Object.entries({ id: map['id'], title: map['title'], ...own })) {
    if (column === undefined || columns.includes(column)) continue;
    throw new RowFault(`no column ${shown(column)} in the header; ${header}`, field);
  }
  const found = createColumns(attributes, map);
  const fields = found.fieldsOf(Object.fromEntries(columns.map((column) => [column, ''])));
  const missing = (['id', 'title'] as const).filter((field) => !Object.hasOwn(fields, field));
  const [first, second] = missing.map((field) => `${USUAL_NAMES[field].join(', ')}, or --${field} COLUMN`);
  if (first === undefined) return;
  const both = second === undefined ? first : `${first}; and for the title ${second}`;
  const alone = columns.length === 1 ? '; cells are separated by commas, semicolons, tabs or |' : '';
  throw new RowFault(`no such column in the header; allowed: ${both}; ${header}${alone}`, missing[0]);
}

const MAX_SHOWN_NAMES = 20;

/** Column names for one line of a message. */
export function shownNames(columns: readonly string[]): string {
  const shown = columns.slice(0, MAX_SHOWN_NAMES).map((column) => {
    const text = column.replace(/\p{Cc}/gu, ' ').trim();
    return text === '' ? '(no name)' : text.slice(0, 60).toWellFormed();
  });
  const more = columns.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

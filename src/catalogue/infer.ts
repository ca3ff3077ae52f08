import { type AttributeType, MAX_VALUES } from '../search/domain.ts';
import { checkHeader, createColumns, nameOfColumn, TEXT_FIELDS, type TextField } from './columns.ts';
import { type RowOptions, readRows } from './read.ts';
import { CatalogueError, isDay, isMissing, MAX_STRING_LENGTH, NUMBER_TEXT, RowFault } from './row.ts';

/** The type that fits all values of one column, and counts of its values. */
export interface InferredColumn {
  readonly column: string;
  /** The column's name as an attribute name; empty when it has no usable letters. */
  readonly name: string;
  readonly type: AttributeType;
  /** It holds lists of plain values. `values` and `distinct` are those in the lists. */
  readonly multiple?: boolean;
  /** Number of values that are not missing. */
  readonly values: number;
  /** Number of different values, counted up to `MAX_DISTINCT` + 1. */
  readonly distinct: number;
  /** The reason why it cannot be an attribute. */
  readonly unusable?: string;
  /** How to write the values so that they fit a better type. */
  readonly advice?: string;
}

export interface InferredCatalogue {
  readonly rows: number;
  /** The columns that are id, title and description. */
  readonly texts: Readonly<Partial<Record<TextField, string>>>;
  /** All other columns, in order of appearance. */
  readonly columns: readonly InferredColumn[];
}

/** Maximum number of different values counted per column: a facet with more is not readable. */
export const MAX_DISTINCT = 200;
const MAX_COLUMNS = 256;

/**
 * Reads the whole catalogue to infer its columns. A type inferred from the first rows only would make a fault of the
 * first row that contradicts it.
 * @throws CatalogueError as `readCatalogue`, and for a file without rows, id or title.
 */
export async function inferCatalogue(file: string, options: RowOptions): Promise<InferredCatalogue> {
  const tallies = new Map<string, Tally>();
  let rows = 0;
  const take = (row: Readonly<Record<string, unknown>>): void => {
    for (const [column, value] of Object.entries(row)) {
      const tally = tallies.get(column) ?? createTally();
      if (!tallies.has(column)) {
        if (tallies.size === MAX_COLUMNS) throw new RowFault(`more than ${MAX_COLUMNS} different columns`, column);
        tallies.set(column, tally);
      }
      tally.add(value);
    }
  };
  for await (const _ of readRows(file, options, { take, checkHeader: (names) => checkHeader(names, []) })) rows += 1;
  if (rows === 0) throw new CatalogueError(file, 'holds no rows');

  const names = [...tallies.keys()];
  checkNames(file, names);
  const chosen = createColumns([]);
  chosen.fieldsOf(Object.fromEntries(names.map((name) => [name, ''])));
  const texts = Object.fromEntries(
    TEXT_FIELDS.flatMap((field) => {
      const column = chosen.columnOf(field);
      return column === undefined ? [] : [[field, column] as const];
    }),
  );
  const taken = new Set(Object.values(texts));
  const columns = [...tallies].filter(([column]) => !taken.has(column)).map(([column, tally]) => tally.infer(column));
  return { rows, texts, columns };
}

/** NDJSON has no header, so a missing column is known only after the last row. */
function checkNames(file: string, names: readonly string[]): void {
  try {
    checkHeader(names, []);
  } catch (error) {
    if (!(error instanceof RowFault)) throw error;
    throw new CatalogueError(file, error.message, error.field === undefined ? {} : { field: error.field });
  }
}

interface Tally {
  readonly add: (value: unknown) => void;
  readonly infer: (column: string) => InferredColumn;
}

/** Forms of values that are nearly a number or a day, and the form that is read. */
const ADVICE: readonly (readonly [form: RegExp, advice: string])[] = [
  // A code such as 007 is not a number.
  [/^(?!-?0\d)(-?\d{1,3}([ \u00a0\u202f]\d{3})+([.,]\d+)?|-?\d+([.,]\d+)?)$/, 'numbers are written like 1990 or 12.50'],
  [/^\d{1,2}[./]\d{1,2}[./]\d{4}$/, 'days are written YYYY-MM-DD'],
];

const SEPARATORS = ['|', ';', ', '] as const;
/** A separator in at least this share of the values is not chance. */
const SEPARATED_SHARE = 0.9;

function createTally(): Tally {
  const distinct = new Set<string>();
  const advice = ADVICE.map(() => true);
  let [values, longest] = [0, 0];
  let [nested, listed, crowded] = [false, false, false];
  const separated = SEPARATORS.map(() => 0);
  const may = { integer: true, number: true, date: true };
  const add = (value: unknown): void => {
    if (isMissing(value)) return;
    values += 1;
    if (typeof value === 'object') {
      nested = true;
      return;
    }
    const text = String(value).trim();
    longest = Math.max(longest, text.length);
    if (distinct.size <= MAX_DISTINCT) distinct.add(text.slice(0, MAX_STRING_LENGTH));
    may.number &&= isNumber(text);
    may.integer &&= may.number && Number.isSafeInteger(Number(text));
    may.date &&= isDay(text);
    for (const [i, [form]] of ADVICE.entries()) advice[i] &&= form.test(text);
    for (const [i, separator] of SEPARATORS.entries()) {
      if (text.includes(separator)) separated[i] = (separated[i] ?? 0) + 1;
    }
  };
  return {
    add: (given) => {
      if (!Array.isArray(given)) return add(given);
      listed = true;
      crowded ||= new Set(given).size > MAX_VALUES;
      for (const value of given) add(value);
    },
    infer: (column) => {
      const type = may.integer ? 'integer' : may.number ? 'number' : may.date ? 'date' : 'string';
      const tooLong = longest > MAX_STRING_LENGTH;
      const [better] = type === 'string' ? ADVICE.filter((_, i) => advice[i]) : [];
      const separator = SEPARATORS.find((_, i) => (separated[i] ?? 0) >= values * SEPARATED_SHARE);
      const several = separator && `are they several values? multiple: true, separator: "${separator}"`;
      const hint = better?.[1] ?? (type === 'string' && !listed ? several : undefined);
      const unusable =
        values === 0
          ? 'it has no values'
          : nested
            ? 'it holds objects or lists of lists'
            : crowded
              ? `it holds lists of more than ${MAX_VALUES} values`
              : tooLong
                ? `it holds texts of more than ${MAX_STRING_LENGTH} characters`
                : undefined;
      return {
        ...{ column, name: nameOfColumn(column), type, multiple: listed, values, distinct: distinct.size },
        ...(unusable === undefined ? {} : { unusable }),
        ...(hint === undefined || unusable !== undefined ? {} : { advice: hint }),
      };
    },
  };
}

/** A code such as 007 or +79991234567 is text: a number would lose the zeros and the sign. */
function isNumber(text: string): boolean {
  if (!NUMBER_TEXT.test(text) || /^\+|^-?0\d/.test(text)) return false;
  return Number.isFinite(Number(text)) && (/[.eE]/.test(text) || Number.isSafeInteger(Number(text)));
}

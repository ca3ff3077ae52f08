import { type AttributeType, MAX_LIST_VALUES } from '../search/domain.ts';
import { checkHeader, createColumns, MAX_DISTINCT, nameOfColumn, TEXT_FIELDS, type TextField } from './columns.ts';
import { MAX_STRING_LENGTH } from './document.ts';
import { plainText } from './html.ts';
import type { PresetName } from './presets.ts';
import { type Beginning, type RowOptions, readRows } from './read.ts';
import { CatalogueError, isNoValue, isPlaceholder, orFault, RowFault, shown } from './row.ts';
import { amountOf, DAY_FORMATS, dayOf, type Format, isCode, isExactNumber, NUMBER_FORMATS } from './values.ts';

/** The type that fits all values of one column, and counts of its values. */
export interface InferredColumn {
  readonly column: string;
  /** The column's name as an attribute name; empty when it has no usable letters. */
  readonly name: string;
  readonly type: AttributeType;
  /** It holds lists of plain values. `values` and `distinct` are those in the lists. */
  readonly multiple?: boolean;
  /** All values are addresses: their words are not what people search. */
  readonly isLink?: boolean;
  readonly format?: Format | undefined;
  /** The currency of every value. */
  readonly currency?: string | undefined;
  /** Number of values that are not missing. */
  readonly values: number;
  /** Number of different values, counted up to `MAX_DISTINCT` + 1. */
  readonly distinct: number;
  /** The reason why it cannot be an attribute. */
  readonly unusable?: string;
  /** How to write the values so that they fit a better type, or how an unclear one is read. */
  readonly advice?: string | undefined;
}

export interface InferredCatalogue {
  readonly rows: number;
  readonly preset: PresetName | undefined;
  /** The columns that are id, title and description. */
  readonly texts: Readonly<Partial<Record<TextField, string>>>;
  /** All other columns, in order of appearance. */
  readonly columns: readonly InferredColumn[];
}

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
  let known: Beginning = { preset: undefined, map: {}, header: undefined };
  const check = (names: readonly string[]): void => checkHeader(names, [], known.map, options.form?.columns);
  const begin = (beginning: Beginning): void => {
    known = beginning;
    if (known.header !== undefined) check(known.header);
  };
  for await (const _ of readRows(file, options, { take, begin })) rows += 1;
  if (rows === 0) throw new CatalogueError(file, 'holds no rows');

  const names = [...tallies.keys()];
  // NDJSON has no header, so a missing column is known only after the last row.
  const fault = known.header === undefined ? orFault(() => check(names)) : undefined;
  if (fault instanceof RowFault) {
    const { message, field } = fault;
    throw new CatalogueError(file, message, { field });
  }
  const chosen = createColumns([], known.map);
  chosen.fieldsOf(Object.fromEntries(names.map((name) => [name, ''])));
  const texts = Object.fromEntries(
    TEXT_FIELDS.flatMap((field) => {
      const column = chosen.columnOf(field);
      return column === undefined ? [] : [[field, column] as const];
    }),
  );
  const taken = new Set(Object.values(texts));
  const named = new Map(Object.entries(known.map).map(([field, column]) => [column, field]));
  // One column tells for the others of its file, unless another one contradicts it.
  const [format, contradiction] = new Set([...tallies.values()].flatMap((tally) => tally.numberFormat() ?? []));
  const fileFormat = contradiction === undefined ? format : undefined;
  const columns = [...tallies]
    .map(([column, tally], at) =>
      tally.infer(column, named.get(column) ?? (nameOfColumn(column) || `column_${at + 1}`), fileFormat),
    )
    .filter(({ column }) => !taken.has(column));
  return { rows, preset: known.preset, texts, columns };
}

const SEPARATORS = ['|', ';', ', '] as const;
/** A trait of at least this share of the values is not chance. */
const MOST = 0.9;
/** A number with or without a currency: enough to tell that others of its column are none. */
const LIKE_NUMBER = /^\p{Sc}?\s?-?\d[\d\s.,'’]*(?:\p{Sc}|[A-Z]{3})?$/u;

function createTally() {
  const distinct = new Set<string>();
  const currencies = new Set<string>();
  /** Formats that all values so far may have; those in which all are whole numbers. */
  let [numbers, whole, days]: [readonly Format[], readonly Format[], readonly Format[]] = [
    NUMBER_FORMATS,
    NUMBER_FORMATS,
    DAY_FORMATS,
  ];
  const separated = SEPARATORS.map(() => 0);
  let [values, long, likeNumbers] = [0, 0, 0];
  const is = { nested: false, crowded: false, multiple: false, number: true, day: true, comma: false, link: true };
  /** A value that another format would change; one that is no number. */
  let [unclear, unlike]: (string | undefined)[] = [];

  const addOne = (value: unknown): void => {
    if (isNoValue(value) || isPlaceholder(value)) return;
    values += 1;
    if (typeof value === 'object') {
      is.nested = true;
      return;
    }
    const text = String(value).trim();
    if (plainText(text).length > MAX_STRING_LENGTH) long += 1;
    if (distinct.size <= MAX_DISTINCT) distinct.add(text.slice(0, MAX_STRING_LENGTH));
    is.link &&= /^https?:\/\//i.test(text);
    if (is.number) addNumber(text);
    if (LIKE_NUMBER.test(text)) likeNumbers += 1;
    else unlike ??= text;
    const isDay = (is.day || days.length > 0) && dayOf(text) !== undefined;
    is.day &&= isDay;
    if (!isDay || !/^\d{4}/.test(text)) days = days.filter((format) => dayOf(text, format) !== undefined);
    for (const [i, separator] of SEPARATORS.entries()) {
      if (text.includes(separator)) separated[i] = (separated[i] ?? 0) + 1;
    }
  };
  const addNumber = (text: string): void => {
    const read = NUMBER_FORMATS.flatMap((format) => {
      const amount = amountOf(text, format);
      return amount === undefined ? [] : [{ format, ...amount }];
    });
    const [first, other] = read;
    is.number = first !== undefined && !isCode(text) && isExactNumber(first.value, text);
    numbers = numbers.filter((each) => read.some(({ format }) => format === each));
    const wholes = /[.,]\d{1,2}\D*$/.test(text) ? [] : read.filter(({ value }) => Number.isSafeInteger(value));
    whole = whole.filter((each) => wholes.some(({ format }) => format === each));
    is.comma ||= text.includes(',');
    if (other !== undefined && other.value !== first?.value) unclear ??= text;
    if (currencies.size < 2) currencies.add(first?.currency ?? '');
  };
  /** The format that its numbers have and no other, if they tell. */
  const numberFormat = (): Format | undefined => (is.number && numbers.length === 1 ? numbers[0] : undefined);
  const typeOf = (fileFormat: Format | undefined): Pick<InferredColumn, 'type' | 'format' | 'currency' | 'advice'> => {
    if (is.number) {
      const told = numberFormat() ?? (unclear === undefined ? undefined : fileFormat);
      const format = numbers.find((each) => told === undefined || each === told);
      const [currency = ''] = currencies;
      if (format === undefined) return { type: 'string', advice: 'numbers are written with one decimal sign' };
      if (currencies.size > 1 && !currencies.has(''))
        return { type: 'string', advice: 'amounts in several currencies' };
      const advice = `${shown(unclear)} is ${amountOf(unclear ?? '', format)?.value}, unless format says otherwise`;
      return {
        type: whole.includes(format) ? 'integer' : 'number',
        format: is.comma || format !== NUMBER_FORMATS[0] ? format : undefined,
        currency: currencies.size === 1 && /^[A-Z]{3}$/.test(currency) ? currency : undefined,
        advice: told !== undefined || unclear === undefined ? undefined : advice,
      };
    }
    const [format, other] = days;
    if (other === undefined && format !== undefined) return { type: 'date', format };
    if (is.day) return { type: 'date' };
    if (format !== undefined) return { type: 'string', advice: 'days are written YYYY-MM-DD' };
    const separator = SEPARATORS.find((_, i) => (separated[i] ?? 0) >= values * MOST);
    if (likeNumbers >= values * MOST && unlike !== undefined && !is.multiple) {
      return { type: 'string', advice: `${likeNumbers} of ${values} values are numbers, ${shown(unlike)} is not` };
    }
    if (separator === undefined || is.multiple) return { type: 'string' };
    return { type: 'string', advice: `are they several values? multiple: true, separator: "${separator}"` };
  };
  return {
    add: (value: unknown): void => {
      if (Array.isArray(value)) {
        is.multiple = true;
        is.crowded ||= new Set(value).size > MAX_LIST_VALUES;
      }
      for (const each of [value].flat()) addOne(each);
    },
    numberFormat,
    infer: (column: string, name: string, fileFormat: Format | undefined): InferredColumn => {
      const reasons: readonly (readonly [applies: boolean, reason: string])[] = [
        [values === 0, 'it has no values'],
        [is.nested, 'it holds objects or lists of lists'],
        [is.crowded, `it holds lists of more than ${MAX_LIST_VALUES} values`],
        [
          2 * long > values,
          `most of its texts have more than ${MAX_STRING_LENGTH} characters; --description names one such column`,
        ],
      ];
      const unusable = reasons.find(([applies]) => applies)?.[1];
      const counts = { values, distinct: distinct.size, multiple: is.multiple, isLink: is.link };
      const inferred = { column, name, ...counts, ...typeOf(fileFormat) };
      return unusable === undefined ? inferred : { ...inferred, type: 'string', unusable };
    },
  };
}

type Tally = ReturnType<typeof createTally>;

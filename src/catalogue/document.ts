import { canonicalDocumentText } from '../search/canonical.ts';
import {
  type Attribute,
  type AttributeValue,
  type Document,
  isDocumentId,
  MAX_ID_BYTES,
  MAX_LIST_VALUES,
} from '../search/domain.ts';
import { plainText } from './html.ts';
import { isNoValue, isPlaceholder, RowFault, shown, type TakeNote } from './row.ts';
import { amountOf, dayOf, isExactNumber, isInCurrency } from './values.ts';

/** In characters (code points). */
const MAX_TITLE_LENGTH = 1000;
export const MAX_STRING_LENGTH = 256;

/**
 * Makes documents of rows. `null`, an empty text and a text of spaces are missing values. A number may be written as
 * text, and a text may be a number: exports differ in their use of quotes, and the declared type decides. The function
 * throws a RowFault that names the field, the fault and what is allowed.
 * @param raw fields whose HTML is kept as it is
 */
export function createDocuments(attributes: readonly Attribute[], raw: readonly string[], onNote: TakeNote) {
  /** The currency of each attribute that declares none, as its first amount has it. */
  const currencies = new Map<string, string>();

  const plain = (field: string, text: string): string => {
    checkText(field, text);
    if (raw.includes(field)) return text;
    const read = plainText(text);
    if (read !== text) onNote(`${field}: markup and entities of HTML were read as text`);
    return read;
  };
  const cut = (field: string, text: string, length: number): string => {
    // A string of n code units has at most n characters, so only the few strings that may be too long are counted.
    if (text.length <= length) return text;
    const characters = [...text.slice(0, 2 * length + 1)];
    if (characters.length <= length) return text;
    onNote(`${field}: cut to ${length} characters`);
    return characters.slice(0, length).join('').trimEnd();
  };
  const numberOf = (attribute: Attribute, given: unknown): number => {
    const { name, type, format } = attribute;
    if (typeof given !== 'string' && typeof given !== 'number') throw wrong(attribute, given);
    const amount = amountOf(String(given), typeof given === 'number' ? undefined : format);
    if (amount === undefined) throw wrong(attribute, given);
    const { value, currency } = amount;
    const expected = attribute.currency ?? currencies.get(name) ?? currency;
    if (currency !== '' && !isInCurrency(currency, expected)) {
      throw new RowFault(`${shown(given)} is an amount in another currency; allowed: ${expected}`, name);
    }
    if (currency !== '' && expected === currency) currencies.set(name, currency);
    const isExact = type === 'number' ? isExactNumber(value, String(given)) : Number.isSafeInteger(value);
    if (!isExact) throw wrong(attribute, given);
    return value === 0 ? 0 : value;
  };
  const singleValue = (attribute: Attribute, given: unknown): string | number => {
    const { name, type, format } = attribute;
    if (Array.isArray(given)) {
      throw new RowFault(`${shown(given)} is a list; allowed: one value, or declare multiple: true`, name);
    }
    if (type === 'integer' || type === 'number') return numberOf(attribute, given);
    const isText = typeof given === 'string';
    if (type === 'string') {
      if (!isText && typeof given !== 'boolean' && typeof given !== 'number') throw wrong(attribute, given);
      return cut(name, oneLine(plain(name, String(given))).trim(), MAX_STRING_LENGTH);
    }
    const day = isText ? dayOf(given, format) : undefined;
    if (day === undefined) throw wrong(attribute, given);
    if (day.hasTime) onNote(`${name}: of a time, its day was kept (in UTC, where the time has an offset)`);
    return day.day;
  };

  return (row: Readonly<Record<string, unknown>>): Document => {
    const id = documentId(row['id']);
    const title = oneLine(plain('title', requiredText('title', row['title']))).trim();
    if (title === '') throw new RowFault('empty without its HTML; allowed: a text', 'title');
    const description = isNoValue(row['description']) ? '' : row['description'];
    if (typeof description !== 'string') throw new RowFault(`${shown(description)} is not text`, 'description');
    const values: Record<string, AttributeValue> = {};
    for (const attribute of attributes) {
      const given = Object.hasOwn(row, attribute.name) ? row[attribute.name] : undefined;
      if (isNoValue(given)) continue;
      if (attribute.type !== 'string' && isPlaceholder(given)) {
        onNote(`${attribute.name}: N/A, NULL and - were read as missing values`);
        continue;
      }
      const read = (item: unknown): string | number => singleValue(attribute, item);
      const value = attribute.multiple === true ? listOf(attribute, given, read) : read(given);
      // A text may be nothing but markup.
      if (typeof value !== 'object' ? value !== '' : value.length > 0) values[attribute.name] = value;
    }
    return {
      id,
      title: cut('title', title, MAX_TITLE_LENGTH),
      description: plain('description', description),
      attributes: values,
    };
  };
}

/** The different values of an attribute with several: a list, a text with separators, or one value. */
function listOf<Value extends string | number>(
  { name, separator }: Attribute,
  given: unknown,
  read: (item: unknown) => Value,
): readonly Value[] {
  const cells = typeof given === 'string' && separator !== undefined ? given.split(separator) : given;
  const values = new Map<string | number, Value>();
  for (const item of Array.isArray(cells) ? cells : [cells]) {
    if (isNoValue(item)) continue;
    if (typeof item === 'object') throw new RowFault(`${shown(item)} in a list; allowed: plain values`, name);
    const value = read(item);
    if (value === '') continue;
    const key = typeof value === 'string' ? canonicalDocumentText(value) : value;
    if (!values.has(key)) values.set(key, value);
  }
  if (values.size <= MAX_LIST_VALUES) return [...values.values()];
  throw new RowFault(`${values.size} different values; allowed: at most ${MAX_LIST_VALUES}`, name);
}

/** @throws RowFault */
export function documentId(value: unknown): string {
  const id = requiredText('id', value);
  if (isDocumentId(id)) return id;
  throw new RowFault(`${Buffer.byteLength(id)} bytes long; allowed: at most ${MAX_ID_BYTES}, in UTF-8`, 'id');
}

function requiredText(field: string, value: unknown): string {
  if (value === undefined || value === null) throw new RowFault('missing; allowed: a text', field);
  if (typeof value !== 'string' && typeof value !== 'number') {
    throw new RowFault(`${shown(value)} is not text; allowed: a text`, field);
  }
  const text = String(value).trim();
  if (isNoValue(text)) throw new RowFault('empty; allowed: a text', field);
  checkText(field, text);
  return text;
}

/** Refuses NUL, at which an index would cut the text, and half a surrogate pair, which UTF-8 cannot store. */
function checkText(field: string, text: string): void {
  if (text.includes('\0')) throw new RowFault('holds a NUL character; allowed: text without it', field);
  if (!text.isWellFormed()) throw new RowFault('holds half of a surrogate pair; allowed: whole characters', field);
}

/** The text as one line: a facet value is also used in a filter, and filters take no control characters. */
function oneLine(text: string): string {
  return /\p{Cc}/u.test(text) ? text.replaceAll(/\s*\p{Cc}[\s\p{Cc}]*/gu, ' ') : text;
}

const AMBIGUOUS = 'the `format` of the attribute says whether 1,299 has thousands or decimals';
const ALLOWED: Readonly<Record<Attribute['type'], string>> = {
  string: 'text',
  integer: `a whole number between ±${Number.MAX_SAFE_INTEGER} (with fractions the attribute must be of type number); ${AMBIGUOUS}`,
  number: `a number such as 12.5 or 1 299,50 EUR; ${AMBIGUOUS}`,
  date: 'a day of the calendar such as 2026-05-01 or 01.05.2026; the `format` of the attribute says which day 05/01/2026 is',
};

function wrong({ name, type, format }: Attribute, value: unknown): RowFault {
  const allowed = format === undefined ? ALLOWED[type] : `${type === 'date' ? 'a day' : 'a number'} written ${format}`;
  return new RowFault(`${shown(value)} is not of type ${type}; allowed: ${allowed}`, name);
}

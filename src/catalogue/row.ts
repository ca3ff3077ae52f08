import { canonicalDocumentText } from '../search/canonical.ts';
import type { Attribute, AttributeValue, Document } from '../search/domain.ts';
import { MAX_VALUES } from '../search/domain.ts';

/** A row before it is checked: `read` throws a `RowFault` when the row is wrong. */
export interface RawRow {
  readonly line: number;
  readonly read: () => Readonly<Record<string, unknown>>;
  /** The rows after it cannot be read, so it cannot be skipped. */
  readonly fatal?: true;
}

/** A fault of a user's catalogue. The message is complete: file, line, field, fault, and what is allowed. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';
  readonly file: string;
  /** The line on which the row begins, from 1; absent when no row is at fault (a missing file). */
  readonly line?: number;
  readonly field?: string;

  constructor(
    file: string,
    problem: string,
    at: { readonly line?: number; readonly field?: string } = {},
    options?: ErrorOptions,
  ) {
    const where = [
      file,
      ...(at.line === undefined ? [] : [`line ${at.line}`]),
      ...(at.field === undefined ? [] : [`field "${at.field}"`]),
    ];
    super(`${where.join(', ')}: ${problem}`, options);
    this.file = file;
    if (at.line !== undefined) this.line = at.line;
    if (at.field !== undefined) this.field = at.field;
  }
}

/** A fault of one row. Its reader adds file and line and throws a `CatalogueError`. */
export class RowFault extends Error {
  override readonly name = 'RowFault';
  readonly field?: string;

  constructor(problem: string, field?: string) {
    super(problem);
    if (field !== undefined) this.field = field;
  }
}

const MAX_SHOWN = 60;

/** A user's value as a message shows it: quoted, on one line, at most 60 characters. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return typeof value === 'string' ? JSON.stringify(cut.toWellFormed()) : cut;
}

/** In characters (code points). The first repeats the constant of search/domain.ts; its type keeps the two equal. */
const maxIdLength = 512;
const MAX_TITLE_LENGTH = 1000;
export const MAX_STRING_LENGTH = 256;

/**
 * One row as a document. `null`, an empty text and a text of spaces are missing values. A number may be written as
 * text, and a text attribute may hold a number: exports differ in their use of quotes, and the declared type decides.
 * @throws RowFault that names the field, the fault and what is allowed.
 */
export function documentOf(row: Readonly<Record<string, unknown>>, attributes: readonly Attribute[]): Document {
  const values: Record<string, AttributeValue> = {};
  const id = idOf(row['id']);
  const title = requiredText('title', row['title'], MAX_TITLE_LENGTH);
  const description = row['description'] ?? '';
  if (typeof description !== 'string') throw new RowFault(`${shown(description)} is not text`, 'description');
  checkText('description', description);
  for (const attribute of attributes) {
    const value = Object.hasOwn(row, attribute.name) ? row[attribute.name] : undefined;
    if (isMissing(value)) continue;
    const list = attribute.multiple === true ? listOf(attribute, value) : undefined;
    if (list?.length === 0) continue;
    values[attribute.name] = list ?? attributeValue(attribute, value);
  }
  return { id, title, description, attributes: values };
}

/** The different values of an attribute with several: a list, a text with separators, or one value. */
function listOf(attribute: Attribute, given: unknown): readonly (string | number)[] {
  const { name, separator } = attribute;
  const cells = typeof given === 'string' && separator !== undefined ? given.split(separator) : given;
  const values = new Map<string | number, string | number>();
  for (const item of Array.isArray(cells) ? cells : [cells]) {
    if (isMissing(item)) continue;
    if (typeof item === 'object') throw new RowFault(`${shown(item)} in a list; allowed: plain values`, name);
    const value = attributeValue(attribute, item);
    const key = typeof value === 'string' ? canonicalDocumentText(value) : value;
    if (!values.has(key)) values.set(key, value);
  }
  if (values.size <= MAX_VALUES) return [...values.values()];
  throw new RowFault(`${values.size} different values; allowed: at most ${MAX_VALUES}`, name);
}

export function isMissing(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

function idOf(value: unknown): string {
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return String(value);
    const why = Number.isInteger(value) ? 'cannot be told from its neighbours as a JSON number' : 'is no whole number';
    throw new RowFault(`${shown(value)} ${why}; write it as text, in quotes`, 'id');
  }
  return requiredText('id', value, maxIdLength);
}

function requiredText(field: string, value: unknown, maxLength: number): string {
  const allowed = `a text of 1–${maxLength} characters`;
  if (value === undefined || value === null) throw new RowFault(`missing; allowed: ${allowed}`, field);
  if (typeof value !== 'string') throw new RowFault(`${shown(value)} is not text; allowed: ${allowed}`, field);
  const text = value.trim();
  if (text === '') throw new RowFault(`empty; allowed: ${allowed}`, field);
  checkText(field, text);
  checkLength(field, text, maxLength);
  return text;
}

/** Refuses NUL, at which an index would cut the text, and half a surrogate pair, which UTF-8 cannot store. */
function checkText(field: string, text: string): void {
  if (text.includes('\0')) throw new RowFault('holds a NUL character; allowed: text without it', field);
  if (!text.isWellFormed()) throw new RowFault('holds half of a surrogate pair; allowed: whole characters', field);
}

function checkLength(field: string, text: string, maxLength: number): void {
  // A string of n code units has at most n characters, so only the few strings that may be too long are counted.
  if (text.length <= maxLength) return;
  const length = [...text].length;
  if (length > maxLength) throw new RowFault(`${length} characters long; allowed: at most ${maxLength}`, field);
}

function attributeValue(attribute: Attribute, value: unknown): string | number {
  if (typeof value === 'string') return ofText(attribute, value);
  if (Array.isArray(value)) {
    throw new RowFault(`${shown(value)} is a list; allowed: one value, or declare multiple: true`, attribute.name);
  }
  switch (attribute.type) {
    case 'string':
      if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return String(value);
      throw wrong(attribute, value);
    case 'date':
      throw wrong(attribute, value);
    case 'integer':
    case 'number':
      if (typeof value !== 'number') throw wrong(attribute, value);
      return numberOf(attribute, value, value);
  }
}

/** A number as catalogues write it. `0x10`, `1 000` and `12,50` are refused: they are ambiguous. */
export const NUMBER_TEXT = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/;

function ofText(attribute: Attribute, text: string): string | number {
  switch (attribute.type) {
    case 'string':
      return stringOf(attribute, text);
    case 'date':
      return dateOf(attribute, text.trim());
    case 'integer':
    case 'number': {
      const trimmed = text.trim();
      if (!NUMBER_TEXT.test(trimmed)) throw wrong(attribute, text);
      return numberOf(attribute, Number(trimmed), text);
    }
  }
}

/** The text as one line: a facet value is also used in a filter, and filters take no control characters. */
function stringOf(attribute: Attribute, text: string): string {
  checkText(attribute.name, text);
  const line = text.replaceAll(/\s*\p{Cc}[\s\p{Cc}]*/gu, ' ').trim();
  checkLength(attribute.name, line, MAX_STRING_LENGTH);
  return line;
}

function numberOf(attribute: Attribute, value: number, given: unknown): number {
  const fits = attribute.type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (!fits) throw wrong(attribute, given);
  return value === 0 ? 0 : value;
}

function dateOf(attribute: Attribute, text: string): string {
  if (!isDay(text)) throw wrong(attribute, text);
  return text;
}

/** `YYYY-MM-DD`, and a day of the calendar. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  // Date.parse reads 2026-02-30 as a day of March, so the parsed day is compared with the text.
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === text;
}

const ALLOWED: Readonly<Record<Attribute['type'], string>> = {
  string: 'text',
  integer: `a whole number between ±${Number.MAX_SAFE_INTEGER} (with fractions the attribute must be of type number)`,
  number: 'a number such as 12.5, with a point and without spaces',
  date: 'a day of the calendar written YYYY-MM-DD',
};

function wrong(attribute: Attribute, value: unknown): RowFault {
  return new RowFault(
    `${shown(value)} is not of type ${attribute.type}; allowed: ${ALLOWED[attribute.type]}`,
    attribute.name,
  );
}

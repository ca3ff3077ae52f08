import type { Attribute, Document, MAX_ID_LENGTH } from '../search/domain.ts';
import { RowFault, shown } from './error.ts';

/** A row not yet judged: `read` throws a `RowFault` for what is wrong with it. */
export interface RawRow {
  readonly line: number;
  readonly read: () => Readonly<Record<string, unknown>>;
  /** Nothing after it can be read, so it cannot be skipped. */
  readonly fatal?: true;
}

/** In characters (code points). The first is the port's; its type keeps the two the same. */
const maxIdLength: typeof MAX_ID_LENGTH = 128;
export const MAX_TITLE_LENGTH = 1000;
export const MAX_STRING_LENGTH = 256;

/**
 * One row as a document. `null`, an empty text and one of blanks alone are missing values. A number may be written as
 * text, and a text attribute may hold a number: exports disagree about quotes, and the declared type says what is meant.
 * @throws RowFault naming the field, what is wrong and what is allowed.
 */
export function documentOf(row: Readonly<Record<string, unknown>>, attributes: readonly Attribute[]): Document {
  const values: Record<string, string | number> = {};
  const id = idOf(row['id']);
  const title = requiredText('title', row['title'], MAX_TITLE_LENGTH);
  const description = row['description'] ?? '';
  if (typeof description !== 'string') throw new RowFault(`${shown(description)} is not text`, 'description');
  checkText('description', description);
  for (const attribute of attributes) {
    const value = Object.hasOwn(row, attribute.name) ? row[attribute.name] : undefined;
    if (isMissing(value)) continue;
    values[attribute.name] = attributeValue(attribute, value);
  }
  return { id, title, description, attributes: values };
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

/** Nothing an index would cut (NUL) or could not store as UTF-8 (half a surrogate pair). */
function checkText(field: string, text: string): void {
  if (text.includes('\0')) throw new RowFault('holds a NUL character; allowed: text without it', field);
  if (!text.isWellFormed()) throw new RowFault('holds half of a surrogate pair; allowed: whole characters', field);
}

function checkLength(field: string, text: string, maxLength: number): void {
  // A string of n code units has at most n characters: counting is for the few that may be too long.
  if (text.length <= maxLength) return;
  const length = [...text].length;
  if (length > maxLength) throw new RowFault(`${length} characters long; allowed: at most ${maxLength}`, field);
}

function attributeValue(attribute: Attribute, value: unknown): string | number {
  if (typeof value === 'string') return ofText(attribute, value);
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

/** A number as catalogues write it; not `0x10`, `1 000` or `12,50`, which do not mean the same to everybody. */
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

/** As one line: the values that a search counts are asked for in a filter, which takes no control characters. */
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
  // Date.parse rolls 2026-02-30 over into March: only a day that comes back as it went in is one.
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

import { canonicalText, MAX_REQUEST_TEXT_UNITS } from './canonical-text.ts';
import type { Attribute } from './domain.ts';
import { InvalidSearch } from './failure.ts';
import type { Filter } from './request.ts';

const MAX_VALUES = 32;
/** As long as a catalogue's text attributes may be: every value a facet shows can be asked for. */
const MAX_VALUE_LENGTH = 256;
/** A whole filter, name included: what the longest values take, each with its comma, and no less than a URL holds. */
const MAX_FILTER_UNITS = MAX_VALUES * (MAX_REQUEST_TEXT_UNITS + 1);
const MS_PER_DAY = 86_400_000;

/** `attribute:value,value` (inside a value `\,` is a comma and `\\` a backslash) or `attribute:10..50`, open at either end. */
export function parseFilter(text: string, attributes: ReadonlyMap<string, Attribute>): Filter {
  if (text.length > MAX_FILTER_UNITS) throw invalid(`a filter must have at most ${MAX_FILTER_UNITS} characters`);
  const colon = text.indexOf(':');
  const name = colon < 0 ? text : text.slice(0, colon);
  const attribute = attributes.get(name);
  if (attribute === undefined) {
    const known = [...attributes.keys()].join(', ') || 'none';
    throw invalid(`"${clip(name)}" is not an attribute of this domain; allowed: ${known}`);
  }
  const value = colon < 0 ? '' : text.slice(colon + 1);
  if (value.trim() === '') {
    throw invalid(`"${name}" needs a value: ${name}:value,value${isNumeric(attribute) ? ` or ${name}:from..to` : ''}`);
  }
  if (!value.isWellFormed() || /\p{Cc}/u.test(value)) {
    throw invalid(`"${name}" must be well-formed Unicode without control characters`);
  }
  if (isNumeric(attribute) && value.includes('..')) return parseRange(attribute, value);

  const parts = splitValues(value);
  if (parts.length > MAX_VALUES) throw invalid(`"${name}" takes at most ${MAX_VALUES} values`);
  if (isNumeric(attribute)) {
    const values = [...new Set(parts.map((part) => parseNumber(attribute, part)))].sort((a, b) => a - b);
    return { kind: 'numbers', attribute: name, values };
  }
  return { kind: 'strings', attribute: name, values: [...new Set(parts.map((part) => parseText(name, part)))].sort() };
}

/** Length first: some letters grow when they are made canonical, and the work grows with the length. */
function parseText(name: string, text: string): string {
  const trimmed = text.trim();
  const value = trimmed.length > MAX_REQUEST_TEXT_UNITS ? '' : canonicalText(trimmed);
  if (value !== '' && value.length <= MAX_VALUE_LENGTH) return value;
  throw invalid(`each value of "${name}" must have 1 to ${MAX_VALUE_LENGTH} characters`);
}

function parseRange(attribute: Attribute, value: string): Filter {
  const at = value.indexOf('..');
  const [low, high] = [value.slice(0, at).trim(), value.slice(at + 2).trim()];
  if (low === '' && high === '') throw invalid(`"${attribute.name}" needs a bound: from..to, from.. or ..to`);
  const from = low === '' ? undefined : parseNumber(attribute, low);
  const to = high === '' ? undefined : parseNumber(attribute, high);
  if (from !== undefined && to !== undefined && from > to) {
    throw invalid(`"${attribute.name}" has a range that ends before it starts: ${clip(value)}`);
  }
  // One question, one key.
  if (from !== undefined && from === to) return { kind: 'numbers', attribute: attribute.name, values: [from] };
  return {
    kind: 'range',
    attribute: attribute.name,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

/** A number as the index holds it: dates as days since the epoch. */
function parseNumber(attribute: Attribute, text: string): number {
  const trimmed = text.trim();
  if (attribute.type === 'date') {
    const days = Date.parse(`${trimmed}T00:00:00Z`) / MS_PER_DAY;
    // Date.parse rolls 2026-02-30 over into March; the round trip tells.
    const real = /^\d{4}-\d{2}-\d{2}$/.test(trimmed) && Number.isInteger(days) && dateText(days) === trimmed;
    if (!real) throw invalid(`"${attribute.name}" takes dates as YYYY-MM-DD, not "${clip(trimmed)}"`);
    return days;
  }
  // Whatever a number in a page can look like may come back as a filter.
  const number = /^-?\d{1,20}(\.\d{1,20})?(e[+-]?\d{1,3})?$/i.test(trimmed) ? Number(trimmed) : Number.NaN;
  if (!(attribute.type === 'integer' ? Number.isSafeInteger(number) : Number.isFinite(number))) {
    const what = attribute.type === 'integer' ? 'whole numbers up to ±2^53' : 'numbers such as 12.5';
    throw invalid(`"${attribute.name}" takes ${what}, not "${clip(trimmed)}"`);
  }
  return number + 0; // −0 and 0 are one question
}

/** Days since the epoch as `YYYY-MM-DD`. */
export function dateText(days: number): string {
  return new Date(days * MS_PER_DAY).toISOString().slice(0, 10);
}

/** Empty values stay, to be refused. */
function splitValues(text: string): string[] {
  const values = [''];
  for (const [part] of text.matchAll(/\\.|,|[^\\,]+|\\$/gsu)) {
    if (part === ',') values.push('');
    else values[values.length - 1] += part === '\\,' || part === '\\\\' ? part.slice(1) : part;
  }
  return values;
}

function isNumeric(attribute: Attribute): boolean {
  return attribute.type !== 'string';
}

function clip(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function invalid(detail: string): InvalidSearch {
  return new InvalidSearch('invalid-filter', 'filter', detail);
}

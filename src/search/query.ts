import {
  canonicalQuery,
  canonicalText,
  DEFAULT_LIMIT,
  dateText,
  filterText,
  MAX_REQUEST_TEXT_UNITS,
  MS_PER_DAY,
  noMember,
  sortText,
} from './canonical.ts';
import {
  type Attribute,
  type Filter,
  REQUEST_PARAMETERS,
  type SearchDomain,
  type SearchRequest,
  type Sort,
} from './domain.ts';

/** Raw parameters, decoded but not validated, in the order given: `[name, value]`; a name that was given twice repeats. */
export interface SearchParameters {
  readonly pairs: readonly (readonly [name: string, value: string])[];
  /** Parameters without a value that can be read, by name, with the error that a search throws which reads one of them. */
  readonly undecodable?: ReadonlyMap<string, Error>;
  /** A request header by its lower-case name, for declared context headers. */
  readonly header?: (name: string) => string | undefined;
}

const MAX_TEXT_CHARACTERS = 256;
const MAX_LIMIT = 100;
/**
 * Maximum of `page × limit`: the number of matches that engines keep (Sphinx's max_matches). No client needs more pages
 * than that.
 */
const MAX_DEPTH = 1000;
const MAX_FILTERS = 16;

export type InvalidCode =
  | 'invalid-query'
  | 'unknown-domain'
  | 'invalid-page'
  | 'invalid-sort'
  | 'invalid-filter'
  | 'invalid-facet'
  | 'invalid-highlight'
  | 'invalid-context';

/** The client's fault. `parameter` names what was wrong, `detail` says what is allowed. */
export class InvalidSearch extends Error {
  override readonly name = 'InvalidSearch';
  readonly code: InvalidCode;
  readonly parameter: string;

  constructor(code: InvalidCode, parameter: string, detail: string) {
    super(detail);
    this.code = code;
    this.parameter = parameter;
  }
}

/** Raw parameters → a validated request in canonical form. @throws InvalidSearch, for the first fault found. */
export function parseRequest(parameters: SearchParameters, domain: SearchDomain): SearchRequest {
  for (const [name, error] of parameters.undecodable ?? []) if (isRead(name, domain)) throw error;
  const given = group(parameters);
  const attributes = new Map(domain.attributes.map((attribute) => [attribute.name, attribute]));
  const [page, limit] = parsePaging(given);
  return {
    domain: domain.name,
    text: parseQueryText(single(given, 'q', 'invalid-query')),
    page,
    limit,
    sort: parseSort(single(given, 'sort', 'invalid-sort'), attributes),
    filters: parseFilters(given.get('filter') ?? [], attributes),
    facets: parseFacets(given.get('facet') ?? [], attributes),
    highlight: parseHighlight(single(given, 'highlight', 'invalid-highlight')),
    context: parseContext(given, parameters, domain),
  };
}

/** The given names that this domain does not declare: they are ignored and not in the key. */
export function ignoredParameters({ pairs, undecodable }: SearchParameters, domain: SearchDomain): readonly string[] {
  const names = new Set([...pairs.map(([name]) => name), ...(undecodable?.keys() ?? [])]);
  return [...names].filter((name) => !isRead(name, domain));
}

function isRead(name: string, { context }: SearchDomain): boolean {
  const declared = context.filter(({ source }) => source === 'query').map((each) => each.name);
  return [...REQUEST_PARAMETERS, ...declared].includes(name);
}

type Given = ReadonlyMap<string, readonly string[]>;

/** Values by parameter. A field of a form that was left empty is a pair without a value: only `q` needs one. */
function group({ pairs }: SearchParameters): Given {
  const given = new Map<string, string[]>();
  for (const [name, value] of pairs) {
    if (value.trim() === '' && name !== 'q') continue;
    // Those of `q` and `filter` are trimmed value by value.
    const trimmed = name === 'q' || name === 'filter' ? value : value.trim();
    const values = given.get(name);
    if (values === undefined) given.set(name, [trimmed]);
    else values.push(trimmed);
  }
  return given;
}

function single(given: Given, name: string, code: InvalidCode): string | undefined {
  const values = given.get(name);
  if (values !== undefined && values.length > 1)
    throw new InvalidSearch(code, name, `"${name}" may be given only once`);
  return values?.[0];
}

function parseQueryText(raw: string | undefined): string {
  const invalid = (detail: string): InvalidSearch => new InvalidSearch('invalid-query', 'q', detail);
  if (raw === undefined) throw invalid('q is required: 1 to 256 characters');
  const trimmed = spaced(raw).trim();
  if (!trimmed.isWellFormed()) throw invalid('q must be well-formed Unicode, without lone surrogates');
  if (/\p{Cc}/u.test(trimmed)) throw invalid('q must not contain control characters');
  // A code point is at most two units: the cheap check first, since a request line may be 8 KiB.
  if (trimmed.length > MAX_REQUEST_TEXT_UNITS || !fits(trimmed)) {
    throw invalid(`q must have at most ${MAX_TEXT_CHARACTERS} characters`);
  }
  const text = canonicalQuery(trimmed);
  if (text === '') throw invalid('q must have 1 to 256 characters that are not white space');
  return text;
}

/** Tabs and line breaks, which are copied along with a text, as spaces. The rest of \p{Cc} is no text. */
function spaced(text: string): string {
  return text.replace(/[\t-\r\u0085]/g, ' ');
}

function parsePaging(given: Given): [page: number, limit: number] {
  const number = (name: 'page' | 'limit', fallback: number, max: number): number => {
    const raw = single(given, name, 'invalid-page');
    if (raw === undefined) return fallback;
    if (!/^[1-9]\d{0,3}$/.test(raw) || Number(raw) > max) {
      throw new InvalidSearch('invalid-page', name, `${name} must be a whole number from 1 to ${max}`);
    }
    return Number(raw);
  };
  const page = number('page', 1, MAX_DEPTH);
  const limit = number('limit', DEFAULT_LIMIT, MAX_LIMIT);
  if (page * limit > MAX_DEPTH) {
    throw new InvalidSearch('invalid-page', 'page', `page × limit must be at most ${MAX_DEPTH}; it is ${page * limit}`);
  }
  return [page, limit];
}

function parseSort(raw: string | undefined, attributes: ReadonlyMap<string, Attribute>): Sort {
  if (raw === undefined || raw === 'relevance') return { by: 'relevance' };
  const descending = raw.startsWith('-');
  const name = descending ? raw.slice(1) : raw;
  if (attributes.get(name)?.sort) return { by: 'attribute', attribute: name, descending };
  const sortable = [...attributes.values()].filter((attribute) => attribute.sort).map((attribute) => attribute.name);
  const allowed = ['relevance', ...sortable.flatMap((each) => [each, `-${each}`])].join(', ');
  throw new InvalidSearch('invalid-sort', 'sort', `sort must be one of: ${allowed}`);
}

function parseFilters(raw: readonly string[], attributes: ReadonlyMap<string, Attribute>): readonly Filter[] {
  if (raw.length > MAX_FILTERS) {
    throw invalidFilter(`at most ${MAX_FILTERS} filters may be given`);
  }
  const filters = raw.map((text) => parseFilter(text, attributes)).sort((a, b) => (a.attribute < b.attribute ? -1 : 1));
  filters.forEach((filter, i) => {
    if (filter.attribute !== filters[i + 1]?.attribute) return;
    throw invalidFilter(`"${filter.attribute}" is filtered twice; give its values in one filter, separated by commas`);
  });
  return filters;
}

function parseFacets(raw: readonly string[], attributes: ReadonlyMap<string, Attribute>): readonly string[] {
  for (const name of raw) {
    if (attributes.get(name)?.facet) continue;
    const allowed = [...attributes.values()].filter((attribute) => attribute.facet).map((attribute) => attribute.name);
    throw new InvalidSearch('invalid-facet', 'facet', `facet must be one of: ${allowed.join(', ') || 'none declared'}`);
  }
  return [...new Set(raw)].sort();
}

function parseHighlight(raw: string | undefined): boolean {
  if (raw === undefined || raw === 'true') return true;
  if (raw === 'false') return false;
  throw new InvalidSearch('invalid-highlight', 'highlight', 'highlight must be true or false');
}

function parseContext(given: Given, parameters: SearchParameters, domain: SearchDomain): SearchRequest['context'] {
  return domain.context
    .map(({ name, source, values }): readonly [string, string] => {
      const raw = source === 'query' ? single(given, name, 'invalid-context') : parameters.header?.(name.toLowerCase());
      const value = raw?.trim() || (values[0] ?? '');
      if (!values.includes(value)) {
        throw new InvalidSearch('invalid-context', name, `${name} must be one of: ${values.join(', ')}`);
      }
      return [name, value];
    })
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

const MAX_VALUES = 32;
/** The maximum length of a catalogue's text attributes: every value that a facet shows can be a filter. */
const MAX_VALUE_LENGTH = 256;
/** A whole filter with its name: the longest values, each with its comma. No URL that is accepted holds more. */
const MAX_FILTER_UNITS = MAX_VALUES * (MAX_REQUEST_TEXT_UNITS + 1);

/**
 * `attribute:value,value` or `attribute:10..50`, open at either end. Inside a text `\,` is a comma, `\\` a backslash and
 * `\..` two dots, which a text with the form of a range needs.
 */
export function parseFilter(text: string, attributes: ReadonlyMap<string, Attribute>): Filter {
  if (text.length > MAX_FILTER_UNITS) throw invalidFilter(`a filter must have at most ${MAX_FILTER_UNITS} characters`);
  const colon = text.indexOf(':');
  const name = colon < 0 ? text : text.slice(0, colon);
  const attribute = attributes.get(name);
  if (attribute === undefined) {
    const known = [...attributes.keys()].join(', ') || 'none';
    throw invalidFilter(`"${clip(name)}" is not an attribute of this domain; allowed: ${known}`);
  }
  const value = colon < 0 ? '' : spaced(text.slice(colon + 1));
  if (value.trim() === '') {
    throw invalidFilter(
      `"${name}" needs a value: ${name}:value,value${isNumeric(attribute) ? ` or ${name}:from..to` : ''}`,
    );
  }
  if (!value.isWellFormed() || /\p{Cc}/u.test(value)) {
    throw invalidFilter(`"${name}" must be well-formed Unicode without control characters`);
  }
  if (isNumeric(attribute) && value.includes('..')) return parseRange(attribute, value);

  const parts = splitValues(value);
  if (parts.length > MAX_VALUES) throw invalidFilter(`"${name}" takes at most ${MAX_VALUES} values`);
  if (isNumeric(attribute)) {
    const values = [...new Set(parts.map((part) => parseNumber(attribute, part)))].sort((a, b) => a - b);
    return { kind: 'numbers', attribute: name, values };
  }
  return { kind: 'strings', attribute: name, values: [...new Set(parts.map((part) => parseText(name, part)))].sort() };
}

/**
 * Checks the length first: some letters become several when they are made canonical, and the work grows with the
 * length.
 */
function parseText(name: string, text: string): string {
  const trimmed = text.replace(/\\([\\,]|\.\.)/g, '$1').trim();
  if (isRange(text)) {
    const detail = `"${name}" is of type string, and a range needs an integer, a number or a date`;
    throw invalidFilter(`${detail}; the text itself is ${name}:${clip(escapeValue(trimmed))}`);
  }
  const value = trimmed.length > MAX_REQUEST_TEXT_UNITS ? '' : canonicalText(trimmed);
  if (value !== '' && value.length <= MAX_VALUE_LENGTH) return value;
  throw invalidFilter(`each value of "${name}" must have 1 to ${MAX_VALUE_LENGTH} characters`);
}

/** Whether a text is two bounds or one with two dots. `a..z`, `Dr..` and `v1..2` are texts. */
function isRange(text: string): boolean {
  const bounds = text.split('..').map((bound) => bound.trim());
  const isBound = (bound: string): boolean => bound === '' || NUMBER.test(bound) || DATE.test(bound);
  return bounds.length === 2 && bounds.every(isBound) && bounds.join('') !== '';
}

function parseRange(attribute: Attribute, value: string): Filter {
  const at = value.indexOf('..');
  const [low, high] = [value.slice(0, at).trim(), value.slice(at + 2).trim()];
  if (low === '' && high === '') throw invalidFilter(`"${attribute.name}" needs a bound: from..to, from.. or ..to`);
  const from = low === '' ? undefined : parseNumber(attribute, low);
  const to = high === '' ? undefined : parseNumber(attribute, high);
  if (from !== undefined && to !== undefined && from > to) {
    throw invalidFilter(`"${attribute.name}" has a range that ends before it starts: ${clip(value)}`);
  }
  // `5..5` and `5` are one search, so they get one key.
  if (from !== undefined && from === to) return { kind: 'numbers', attribute: attribute.name, values: [from] };
  return { kind: 'range', attribute: attribute.name, from, to };
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;
/** Every number of a page, however it is written there, may come back as a filter. */
const NUMBER = /^-?\d{1,20}(\.\d{1,20})?(e[+-]?\d{1,3})?$/i;

/** A number as the index holds it: dates as days since the epoch. */
function parseNumber(attribute: Attribute, text: string): number {
  const trimmed = text.trim();
  if (attribute.type === 'date') {
    const days = Date.parse(`${trimmed}T00:00:00Z`) / MS_PER_DAY;
    // Date.parse turns 2026-02-30 into a day of March: converting it back shows the difference.
    const real = DATE.test(trimmed) && Number.isInteger(days) && dateText(days) === trimmed;
    if (!real) throw invalidFilter(`"${attribute.name}" takes dates as YYYY-MM-DD, not "${clip(trimmed)}"`);
    return days;
  }
  const number = NUMBER.test(trimmed) ? Number(trimmed) : Number.NaN;
  if (!(attribute.type === 'integer' ? Number.isSafeInteger(number) : Number.isFinite(number))) {
    const what = attribute.type === 'integer' ? 'whole numbers up to ±2^53' : 'numbers such as 12.5';
    throw invalidFilter(`"${attribute.name}" takes ${what}, not "${clip(trimmed)}"`);
  }
  return number + 0; // −0 and 0 are one search
}

/** The values with their backslashes. Keeps empty ones: the caller refuses them. */
function splitValues(text: string): string[] {
  const values = [''];
  for (const [part] of text.matchAll(/\\.|,|[^\\,]+|\\$/gsu)) {
    if (part === ',') values.push('');
    else values[values.length - 1] += part;
  }
  return values;
}

function isNumeric(attribute: Attribute): boolean {
  return attribute.type !== 'string';
}

function clip(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function invalidFilter(detail: string): InvalidSearch {
  return new InvalidSearch('invalid-filter', 'filter', detail);
}

/**
 * A request as the query string that gives the same key again, without its domain: `q=красные+кроссовки&filter=…`.
 * Counters keep it, warm-ups read it, and people read it too: it is short, and only separators are escaped.
 *
 * Context parameters are pairs like the others. One that came in a header has the header's lower-case name:
 * `searchParametersOf` finds it there. Defaults are left out.
 *
 * Undefined when no query string gives the same key: canonical text may be longer than the maximum of `q` (ﷺ becomes 18
 * letters).
 */
export function searchTextOf(request: SearchRequest, domain: SearchDomain): string | undefined {
  const { domain: _domain, text, context, filters, facets, sort, page, limit, highlight, ...rest } = request;
  noMember(rest);
  if (!fits(text)) return undefined;
  const parts = [pair('q', text)];
  for (const [name, value] of context) {
    const declared = domain.context.find((each) => each.name === name);
    if (value !== declared?.values[0])
      parts.push(pair(declared?.source === 'header' ? name.toLowerCase() : name, value));
  }
  for (const filter of filters)
    parts.push(pair('filter', `${filter.attribute}:${filterText(filter, domain, escapeValue, numberText)}`));
  for (const facet of facets) parts.push(pair('facet', facet));
  const sorted = sortText(sort, String);
  if (sorted !== undefined) parts.push(pair('sort', sorted));
  if (page !== 1) parts.push(`page=${page}`);
  if (limit !== DEFAULT_LIMIT) parts.push(`limit=${limit}`);
  if (!highlight) parts.push('highlight=false');
  return parts.join('&');
}

/**
 * The text of a search, from a file or a counter → parameters, not yet validated. It is a text of `searchTextOf`, or
 * plain words: any text that does not begin with `q=`.
 */
export function searchParametersOf(text: string): SearchParameters {
  if (!text.startsWith('q=')) return { pairs: [['q', text]] };
  const pairs = [...new URLSearchParams(text)];
  const headers = new Map(pairs);
  return { pairs, header: (name) => headers.get(name) };
}

/** Whether the text is short enough for `q`. */
function fits(text: string): boolean {
  return text.length <= MAX_TEXT_CHARACTERS || [...text].length <= MAX_TEXT_CHARACTERS;
}

function escapeValue(value: string): string {
  return value.replace(/[\\,]|\.\./g, '\\$&');
}

/** A filter takes 20 digits on either side of the point; `String` may write more digits (1e20 and 1.25e-6 in full). */
function numberText(value: number): string {
  const text = String(value);
  return text.length <= 20 ? text : value.toExponential();
}

function pair(name: string, value: string): string {
  return `${quote(name)}=${quote(value)}`;
}

function quote(text: string): string {
  return text.replace(/[%&+=#]/g, encodeURIComponent).replaceAll(' ', '+');
}

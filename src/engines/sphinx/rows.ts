import { hash } from 'node:crypto';
import { SearchError } from '../../resilience/search-error.ts';
import { canonicalDocumentText, dateText } from '../../search/canonical.ts';
import type { Attribute, AttributeValue, SearchDomain, SearchRequest } from '../../search/domain.ts';
import { FACET_VALUES, type FacetCount, type ResultPage, type SearchResult } from '../../search/engine.ts';
import { escapeHtml } from '../../search/page.ts';
import type { ResultSets, Row } from './connection.ts';

export type Dialect = 'sphinx' | 'manticore';

/** Attribute names that the indexer refuses, and three over which searchd accepts no expression. */
const RESERVED: ReadonlySet<string> = new Set(
  'and as by div facet false from id in is limit mod not null or order select true count distinct weight'.split(' '),
);

/**
 * Names are the only configured text without quotes in statements and in sphinx.conf. A leading _ is reserved for computed
 * columns.
 * @throws when the name is not allowed
 */
export function checkAttributeName(name: string): void {
  if (!/^[A-Za-z]\w*$/.test(name)) {
    throw new Error(`Sphinx takes letters, digits and _ in attribute names, and a letter first, not "${name}"`);
  }
  if (RESERVED.has(name.toLowerCase())) {
    throw new Error(`Sphinx keeps the name "${name}" for itself: rename the attribute`);
  }
}

/** @throws when the name is not allowed */
export function checkIndexName(name: string): void {
  if (!/^[A-Za-z_]\w*$/.test(name)) throw new Error(`Sphinx takes letters, digits and _ in index names, not "${name}"`);
}

/** A date is stored as the unix seconds of its midnight, UTC; any second of a day means that day. */
export const DAY_SECONDS = 86_400;

/**
 * Numeric attributes in searchd have no NULL, and 0 is a value like any other. In indexes that we generate −2^62 stands for
 * a missing value: a bigint and a float32 both hold it exactly. Indexes made by others never have it. A missing text is
 * empty.
 */
export const MISSING_NUMBER = '-4611686018427387904';

/**
 * Every value below is missing. Comparing with MISSING_NUMBER itself would fail: searchd turns an integer bound of a float
 * attribute into a float32 and then cannot tell the two apart.
 */
export const MISSING_BELOW = '-4000000000000000000';

/** The day that searchd computes for a missing date is below this, and this is far below any real day. */
const MISSING_DAY_BELOW = Math.trunc(Number(MISSING_BELOW) / DAY_SECONDS);

function isMissingNumber(text: string): boolean {
  return Number(text) < Number(MISSING_BELOW);
}

/** 63 bits of a hash: a positive number in a bigint and in a multi-value attribute. */
export function hash63(text: string): bigint {
  return hash('sha256', text, 'buffer').readBigUInt64BE() >> 1n;
}

/**
 * A list of integers or dates is a multi-value attribute. searchd has none of texts: the text attribute holds the list as
 * JSON, for pages, and this attribute beside it holds the code of each text, for filters and facets. A JSON attribute does
 * less: its comparison is by bytes, and its GROUP BY has no order among equal counts.
 */
export function codesOf(name: string): string {
  return `_codes_${name}`;
}

/** The same for texts that a filter cannot tell apart. */
export function codeOf(text: string): bigint {
  return hash63(canonicalDocumentText(text));
}

/**
 * The number that searchd prints as `81.529999`, a float32 attribute: the shortest decimal that is the same float32.
 * Values of up to 6 significant digits always come back exactly, most of 7 do.
 */
export function withoutFloat32Noise(printed: number): number {
  const stored = Math.fround(printed);
  if (!Number.isFinite(stored)) return printed;
  for (let digits = 1; digits <= 9; digits += 1) {
    const candidate = Number(stored.toPrecision(digits));
    if (Math.fround(candidate) === stored) return candidate;
  }
  return stored;
}

/** @throws when the domain does not declare it: a request names declared attributes only. */
export function declaredAttribute(domain: SearchDomain, name: string): Attribute {
  const found = domain.attributes.find((attribute) => attribute.name === name);
  if (found === undefined) throw new Error(`attribute ${name} is not declared in domain ${domain.name}`);
  return found;
}

/**
 * Columns of each row before the declared attributes, in this order. With highlighting the marked title follows the
 * attributes. The title itself never comes from SNIPPET, which cuts it and may fail silently.
 */
export const LEADING_COLUMNS = { id: 0, score: 1, title: 2, description: 3, attributes: 4 } as const;

/** Strings around found words, drawn at random when the process starts, so that no document can contain them. */
export interface Marks {
  readonly open: string;
  readonly close: string;
}

const NONCE_LENGTH = 4;
const PRIVATE_USE_FROM = 0xe000;
const PRIVATE_USE_SIZE = 6400;

/** Private-use characters only: no tokenizer takes them for a word, and no HTML escaping touches them. */
export function createMarks(random: () => number): Marks {
  const nonce = Array.from({ length: NONCE_LENGTH }, () =>
    String.fromCharCode(PRIVATE_USE_FROM + Math.floor(random() * PRIVATE_USE_SIZE)),
  ).join('');
  return { open: `\ue000${nonce}\ue000`, close: `\ue001${nonce}\ue001` };
}

interface ReplyOptions {
  readonly domain: SearchDomain;
  readonly snippetLength: number;
  readonly marks: Marks;
}

/**
 * The result sets of one round trip → a page: rows and SHOW META of the results, then of each facet.
 * @throws SearchError when their number is wrong.
 */
export function pageOf(sets: ResultSets, request: SearchRequest, options: ReplyOptions): ResultPage {
  const asked = 1 + request.facets.length;
  if (sets.length !== 2 * asked) {
    throw new SearchError('engine-unavailable', `searchd sent ${sets.length} result sets, not ${2 * asked}`);
  }
  const replies = Array.from({ length: asked }, (_, index) => ({
    rows: sets[2 * index] ?? [],
    said: new Map((sets[2 * index + 1] ?? []).map(([name, value]) => [name ?? '', value ?? ''])),
  }));
  const [results, ...facets] = replies;
  const total = Number(results?.said.get('total_found'));
  if (!Number.isSafeInteger(total)) throw new SearchError('engine-unavailable', 'searchd sent no total_found');
  const partial = replies
    .map(({ said }) => partialWarning(said.get('warning')))
    .find((warning) => warning !== undefined);
  return {
    total,
    totalRelation: results?.said.get('total_relation') === 'gte' ? 'gte' : 'eq',
    results: (results?.rows ?? []).map((row) => resultOf(row, request, options)),
    facets: Object.fromEntries(
      request.facets.map((name, index) => [
        name,
        facetOf(facets[index]?.rows ?? [], declaredAttribute(options.domain, name)),
      ]),
    ),
    partial,
  };
}

/** Warnings of whole pages. Every other warning means that a part is missing or was cut short. */
const HARMLESS = [/^Fields specified in field_weights option not found/i, /^too many words .* for quorum/i];

/** The warning of SHOW META, if it means that the page is not whole. */
export function partialWarning(warning: string | undefined): string | undefined {
  const said = warning?.replace(/\0+$/, '');
  return said?.split('; ').every((part) => HARMLESS.some((harmless) => harmless.test(part))) ? undefined : said;
}

export function emptyPage(request: SearchRequest): ResultPage {
  return {
    total: 0,
    totalRelation: 'eq',
    results: [],
    facets: Object.fromEntries(request.facets.map((name) => [name, []])),
  };
}

function resultOf(row: Row, request: SearchRequest, { domain, snippetLength, marks }: ReplyOptions): SearchResult {
  const text = (column: number): string => row[column] ?? '';
  const attributes: Record<string, AttributeValue> = {};
  for (const [index, attribute] of domain.attributes.entries()) {
    const read = attribute.multiple === true ? listOf : attributeValue;
    const value = read(row[LEADING_COLUMNS.attributes + index] ?? '', attribute);
    if (value !== undefined) attributes[attribute.name] = value;
  }
  const title = text(LEADING_COLUMNS.title);
  const description = text(LEADING_COLUMNS.description);
  return {
    id: text(LEADING_COLUMNS.id),
    title,
    snippet: request.highlight
      ? highlighted(text(LEADING_COLUMNS.attributes + domain.attributes.length), description, marks, snippetLength)
      : beginning(description.trim() === '' ? title : description, snippetLength),
    score: Number(text(LEADING_COLUMNS.score)),
    attributes,
  };
}

/** Undefined when the document lacks the attribute. searchd gives numbers and dates in rising order. */
function listOf(text: string, attribute: Attribute): AttributeValue | undefined {
  const items = attribute.type === 'string' ? textsOf(text) : text.split(',');
  const values = new Set(items.flatMap((item) => attributeValue(item, attribute) ?? []));
  return values.size === 0 ? undefined : [...values];
}

/** The list in a text attribute. A text that is none is one value. */
function textsOf(text: string): readonly string[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.map(String) : [text];
  } catch {
    return [text];
  }
}

/** Undefined when the document lacks the attribute. */
function attributeValue(text: string, { type }: Attribute): string | number | undefined {
  if (text === '') return undefined;
  switch (type) {
    case 'string':
      return text;
    case 'integer':
      return isMissingNumber(text) ? undefined : integerOf(text);
    case 'number':
      return isMissingNumber(text) ? undefined : withoutFloat32Noise(Number(text));
    case 'date':
      return isMissingNumber(text) ? undefined : dateText(Math.floor(Number(text) / DAY_SECONDS));
  }
}

/** Text when a JavaScript number would change the value. An index may hold a whole number as a float. */
function integerOf(text: string): string | number {
  const value = Number(text);
  return Number.isSafeInteger(value) || !Number.isInteger(value) ? value : text;
}

/** In order of falling count, then of value. */
function facetOf(rows: readonly Row[], attribute: Attribute): readonly FacetCount[] {
  const counts: FacetCount[] = [];
  for (const [text, count, list] of rows) {
    const value = facetValue(text ?? '', attribute, list ?? '');
    if (value !== undefined) counts.push({ value, count: Number(count) });
  }
  return counts.sort((a, b) => b.count - a.count || compare(a.value, b.value)).slice(0, FACET_VALUES);
}

/** @param list the list of texts in which one has the code that was counted */
function facetValue(text: string, attribute: Attribute, list: string): string | number | undefined {
  const { type, multiple } = attribute;
  if (multiple === true && type === 'string') return textsOf(list).find((one) => String(codeOf(one)) === text);
  if (type !== 'date' || multiple === true) return attributeValue(text, attribute);
  return text === '' || Number(text) < MISSING_DAY_BELOW ? undefined : dateText(Number(text));
}

/** searchd sorts by MySQL's utf8_general_ci; this order is for equal counts only. */
function compare(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [left, right] = [fold(String(a)), fold(String(b))];
  return left < right ? -1 : left > right ? 1 : 0;
}

const MAX_COMPARED = 256;

function fold(text: string): string {
  return text.slice(0, MAX_COMPARED).normalize('NFKC').toLowerCase().replaceAll('ё', 'е');
}

/**
 * The passages with found words, of texts from SNIPPET(). When only the title has some: the title, then the beginning of the
 * description.
 */
export function highlighted(title: string, description: string, marks: Marks, length: number): string {
  if (description.includes(marks.open)) return markup(description, marks);
  // Without a found word SNIPPET returns the first characters, which may end within a word.
  const begun = beginning(unmarked(description, marks), length - 1);
  if (!title.includes(marks.open)) return begun || markup(title, marks);
  return begun === '' ? markup(title, marks) : `${markup(title, marks)} … ${begun}`;
}

/** The beginning of a text, escaped, at most `length` characters, cut between words where possible. */
export function beginning(text: string, length: number): string {
  const characters = [...collapseSpaces(text)];
  if (characters.length <= length) return escapeHtml(characters.join(''));
  const cut = characters.slice(0, length).join('');
  const gap = cut.lastIndexOf(' ');
  return `${escapeHtml(gap > cut.length / 2 ? cut.slice(0, gap) : cut)}…`;
}

function unmarked(text: string, marks: Marks): string {
  return text.replaceAll(marks.open, '').replaceAll(marks.close, '');
}

/** A found word and the punctuation in it: `C++`, `.NET`, `b/g`. */
const MARKED_WORD = /[-+.#&_]*[\p{L}\p{M}\p{N}](?:\S*[\p{L}\p{M}\p{N}+#])?/gu;

/**
 * Turns pairs of marks into `<em>` and escapes the rest. Sphinx marks a blended word in two pieces and with its full stop:
 * `C` `++.` becomes `<em>C++</em>.`; Manticore puts neighbouring words into one mark.
 */
function markup(text: string, marks: Marks): string {
  const whole = collapseSpaces(text).replaceAll(`${marks.close}${marks.open}`, '');
  const [plain = '', ...marked] = whole.split(marks.open);
  const parts = marked.map((part) => {
    const end = part.indexOf(marks.close);
    return end < 0 ? escapeHtml(part) : emphasized(part.slice(0, end)) + escapeHtml(part.slice(end));
  });
  return unmarked([escapeHtml(plain), ...parts].join(''), marks);
}

function emphasized(text: string): string {
  let html = '';
  let at = 0;
  for (const { 0: word, index } of text.matchAll(MARKED_WORD)) {
    html += `${escapeHtml(text.slice(at, index))}<em>${escapeHtml(word)}</em>`;
    at = index + word.length;
  }
  return html + escapeHtml(text.slice(at));
}

function collapseSpaces(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

import type { Attribute, SearchDomain, SearchRequest } from '../../search/domain.ts';
import { EngineError, FACET_VALUES, type FacetCount, type ResultPage, type SearchResult } from '../../search/engine.ts';
import { partialWarning } from './errors.ts';
import { beginning, highlighted, type Marks } from './snippet.ts';
import { LEADING_COLUMNS as AT } from './statement.ts';

/** One row, every column as text: 64-bit integers pass through no number, 4-byte characters through no wrong decoder. */
export type Row = readonly (string | null)[];
export type ResultSets = readonly (readonly Row[])[];

export interface ReplyOptions {
  readonly domain: SearchDomain;
  readonly snippetLength: number;
  readonly marks: Marks;
}

const DAY_MS = 86_400_000;
/** MySQL's utf8_general_ci order is what searchd sorts by; this only settles ties the same way in both. */
const MAX_COMPARED = 256;
const fold = (text: string): string => text.slice(0, MAX_COMPARED).normalize('NFKC').toLowerCase().replaceAll('ё', 'е');

/**
 * The result sets of one round trip → a page: rows and SHOW META of the results, then of each facet.
 * @throws EngineError when their number is not what was asked for.
 */
export function pageOf(sets: ResultSets, request: SearchRequest, options: ReplyOptions): ResultPage {
  const asked = 1 + request.facets.length;
  if (sets.length !== 2 * asked) {
    throw new EngineError('engine-unavailable', `searchd sent ${sets.length} result sets, not ${2 * asked}`);
  }
  const replies = Array.from({ length: asked }, (_, index) => ({
    rows: sets[2 * index] ?? [],
    said: new Map((sets[2 * index + 1] ?? []).map(([name, value]) => [name ?? '', value ?? ''])),
  }));
  const [results, ...facets] = replies;
  const total = Number(results?.said.get('total_found'));
  if (!Number.isSafeInteger(total)) throw new EngineError('engine-unavailable', 'searchd sent no total_found');
  const partial = replies
    .map(({ said }) => partialWarning(said.get('warning')))
    .find((warning) => warning !== undefined);
  return {
    total,
    totalRelation: results?.said.get('total_relation') === 'gte' ? 'gte' : 'eq',
    results: (results?.rows ?? []).map((row) => resultOf(row, request, options)),
    facets: Object.fromEntries(
      request.facets.map((name, index) => [name, facetOf(facets[index]?.rows ?? [], declared(options.domain, name))]),
    ),
    ...(partial === undefined ? {} : { partial }),
  };
}

/** What a text without a word finds. */
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
  const attributes: Record<string, string | number> = {};
  for (const [index, attribute] of domain.attributes.entries()) {
    const value = attributeValue(row[AT.attributes + index] ?? '', attribute);
    if (value !== undefined) attributes[attribute.name] = value;
  }
  const title = text(AT.title);
  const description = text(AT.description);
  return {
    id: text(AT.id),
    title,
    snippet: request.highlight
      ? highlighted({ title: text(AT.attributes + domain.attributes.length), description }, marks, snippetLength)
      : beginning(description.trim() === '' ? title : description, snippetLength),
    score: Number(text(AT.score)),
    attributes,
  };
}

/** Undefined where the document lacks the attribute. */
function attributeValue(text: string, { type }: Attribute): string | number | undefined {
  if (text === '') return undefined;
  switch (type) {
    case 'string':
      return text;
    case 'integer':
      return isMissing(text) ? undefined : integerOf(text);
    case 'number':
      return isMissing(text) ? undefined : withoutFloat32Noise(Number(text));
    case 'date':
      return isMissing(text) ? undefined : isoDate(Math.floor(Number(text) / 86_400));
  }
}

/** Text where a number would change it. An index may hold a whole number as a float. */
function integerOf(text: string): string | number {
  const value = Number(text);
  return Number.isSafeInteger(value) || !Number.isInteger(value) ? value : text;
}

function isoDate(days: number): string {
  return new Date(days * DAY_MS).toISOString().slice(0, 10);
}

/** Falling counts, ties by value. */
function facetOf(rows: readonly Row[], attribute: Attribute): readonly FacetCount[] {
  const counts: FacetCount[] = [];
  for (const [text, count] of rows) {
    const value = attribute.type === 'date' ? dayOf(text ?? '') : attributeValue(text ?? '', attribute);
    if (value !== undefined) counts.push({ value, count: Number(count) });
  }
  return counts.sort((a, b) => b.count - a.count || compare(a.value, b.value)).slice(0, FACET_VALUES);
}

function dayOf(text: string): string | undefined {
  return text === '' || isMissingDay(text) ? undefined : isoDate(Number(text));
}

function compare(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [left, right] = [fold(String(a)), fold(String(b))];
  return left < right ? -1 : left > right ? 1 : 0;
}

function declared(domain: SearchDomain, name: string): Attribute {
  const attribute = domain.attributes.find((candidate) => candidate.name === name);
  if (attribute === undefined) throw new Error(`attribute ${name} is not declared in domain ${domain.name}`);
  return attribute;
}

/**
 * Numeric attributes in searchd have no NULL, and 0 is a value like any other. Where a document lacks an attribute the
 * indexes we generate hold −2^62, which a bigint and a float32 both hold exactly; an index made by others simply never
 * has it. Text attributes are missing when empty.
 */
export const MISSING = '-4611686018427387904';

/**
 * Everything below is missing. Compared with this rather than with MISSING itself, because searchd turns an integer
 * bound of a float attribute into a float32 and then no longer tells the two apart.
 */
export const MISSING_BELOW = '-4000000000000000000';

/** The day searchd computes for a missing date is far below any real one. */
const MISSING_DAY_BELOW = Math.trunc(Number(MISSING_BELOW) / 86_400);

export function isMissing(text: string): boolean {
  return Number(text) < Number(MISSING_BELOW);
}

export function isMissingDay(text: string): boolean {
  return Number(text) < MISSING_DAY_BELOW;
}

/**
 * The number somebody meant when searchd prints a float32 attribute as `81.529999`: the shortest decimal that is the
 * same float32. Values of up to 6 significant digits always come back exactly, most of 7 do.
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

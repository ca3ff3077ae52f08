import { canonicalText, MAX_REQUEST_TEXT_UNITS } from './canonical-text.ts';
import { type Attribute, REQUEST_PARAMETERS, type SearchDomain } from './domain.ts';
import { type InvalidCode, InvalidSearch } from './failure.ts';
import { parseFilter } from './filter.ts';
import type { Filter, SearchRequest, Sort } from './request.ts';

/** Raw parameters, decoded but not judged, in the order given: `[name, value]`; names repeat where given twice. */
export interface SearchParameters {
  readonly pairs: readonly (readonly [name: string, value: string])[];
  /** A request header by its lower-case name, for declared context headers. */
  readonly header?: (name: string) => string | undefined;
}

const MAX_TEXT_CHARACTERS = 256;
export const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
/** `page × limit`: what engines keep of a match (Sphinx's max_matches), and further than people page. */
const MAX_DEPTH = 1000;
const MAX_FILTERS = 16;

/** Raw parameters → a validated request in canonical form. @throws InvalidSearch, for the first fault found. */
export function parseRequest(parameters: SearchParameters, domain: SearchDomain): SearchRequest {
  const given = group(parameters);
  const attributes = new Map(domain.attributes.map((attribute) => [attribute.name, attribute]));
  const [page, limit] = parsePaging(given);
  return {
    domain: domain.name,
    text: parseText(single(given, 'q', 'invalid-query')),
    page,
    limit,
    sort: parseSort(single(given, 'sort', 'invalid-sort'), attributes),
    filters: parseFilters(given.get('filter') ?? [], attributes),
    facets: parseFacets(given.get('facet') ?? [], attributes),
    highlight: parseHighlight(single(given, 'highlight', 'invalid-highlight')),
    context: parseContext(given, parameters, domain),
  };
}

/** The names given that mean nothing to this domain: ignored, and not in the key. */
export function ignoredParameters(parameters: SearchParameters, domain: SearchDomain): readonly string[] {
  const known = new Set<string>([
    ...REQUEST_PARAMETERS,
    ...domain.context.filter((declared) => declared.source === 'query').map((declared) => declared.name),
  ]);
  return [...new Set(parameters.pairs.map(([name]) => name))].filter((name) => !known.has(name));
}

type Given = ReadonlyMap<string, readonly string[]>;

function group({ pairs }: SearchParameters): Given {
  const given = new Map<string, string[]>();
  for (const [name, value] of pairs) {
    const values = given.get(name);
    if (values === undefined) given.set(name, [value]);
    else values.push(value);
  }
  return given;
}

function single(given: Given, name: string, code: InvalidCode): string | undefined {
  const values = given.get(name);
  if (values !== undefined && values.length > 1)
    throw new InvalidSearch(code, name, `"${name}" may be given only once`);
  return values?.[0];
}

function parseText(raw: string | undefined): string {
  const invalid = (detail: string): InvalidSearch => new InvalidSearch('invalid-query', 'q', detail);
  if (raw === undefined) throw invalid('q is required: 1 to 256 characters');
  if (!raw.isWellFormed()) throw invalid('q must be well-formed Unicode, without lone surrogates');
  if (/\p{Cc}/u.test(raw)) throw invalid('q must not contain control characters');
  const trimmed = raw.trim();
  // A code point is at most two units: the cheap check first, since a request line may be 8 KiB.
  if (trimmed.length > MAX_REQUEST_TEXT_UNITS || [...trimmed].length > MAX_TEXT_CHARACTERS) {
    throw invalid(`q must have at most ${MAX_TEXT_CHARACTERS} characters`);
  }
  const text = canonicalText(trimmed);
  if (text === '') throw invalid('q must have 1 to 256 characters that are not white space');
  return text;
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
    throw new InvalidSearch('invalid-filter', 'filter', `at most ${MAX_FILTERS} filters may be given`);
  }
  const filters = raw.map((text) => parseFilter(text, attributes)).sort((a, b) => (a.attribute < b.attribute ? -1 : 1));
  filters.forEach((filter, i) => {
    if (filter.attribute !== filters[i + 1]?.attribute) return;
    const detail = `"${filter.attribute}" is filtered twice; give its values in one filter, separated by commas`;
    throw new InvalidSearch('invalid-filter', 'filter', detail);
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

import type { AttributeValue, Document, Filter, SearchRequest } from '../../src/search/domain.ts';
import { FACET_VALUES, type FacetCount, type ResultPage } from '../../src/search/engine.ts';
import { CONTRACT_DOCUMENTS, CONTRACT_DOMAIN } from './engine-documents.ts';

const wordsHeld = new Map(
  CONTRACT_DOCUMENTS.map((document) => [document, new Set(words(`${document.title} ${document.description}`))]),
);

/** The correct answer of an engine, computed the slow and obvious way. */
export function matching(text: string, filters: readonly Filter[] = []): readonly Document[] {
  const asked = words(text);
  if (asked.length === 0) return [];
  return CONTRACT_DOCUMENTS.filter(
    (document) =>
      asked.every((word) => wordsHeld.get(document)?.has(word)) && filters.every((filter) => passes(document, filter)),
  );
}

function passes(document: Document, filter: Filter): boolean {
  return valuesOf(document, filter.attribute).some((value) => isMatch(value, filter));
}

function isMatch(value: string | number, filter: Filter): boolean {
  switch (filter.kind) {
    case 'strings':
      return filter.values.includes(fold(String(value)));
    case 'numbers':
      return filter.values.includes(comparable(filter.attribute, value));
    case 'range': {
      const number = comparable(filter.attribute, value);
      return number >= (filter.from ?? -Infinity) && number <= (filter.to ?? Infinity);
    }
  }
}

/** The values of an attribute, none where it is missing. */
function valuesOf({ attributes }: Document, attribute: string): readonly (string | number)[] {
  return [attributes[attribute] ?? []].flat();
}

/** The facet's values by falling count, then by value. */
export function counted(documents: readonly Document[], attribute: string): readonly FacetCount[] {
  const counts = new Map<string | number, number>();
  for (const document of documents) {
    for (const value of valuesOf(document, attribute)) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || compareValues(a.value, b.value))
    .slice(0, FACET_VALUES);
}

/** Numbers by size, text and ISO dates by folded code points. */
export function compareValues(a: AttributeValue, b: AttributeValue): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [left, right] = [fold(String(a)), fold(String(b))];
  return left < right ? -1 : left > right ? 1 : 0;
}

export function days(isoDate: string): number {
  return Date.parse(isoDate) / 86_400_000;
}

function comparable(attribute: string, value: string | number): number {
  const type = CONTRACT_DOMAIN.attributes.find(({ name }) => name === attribute)?.type;
  return type === 'date' ? days(String(value)) : Number(value);
}

export function words(text: string): readonly string[] {
  return fold(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}

export function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase().replaceAll('ё', 'е').replace(/\s+/g, ' ').trim();
}

/** Asks the engine under test. */
export type Searching = (request: SearchRequest) => Promise<ResultPage>;

export function ask(text: string, rest: Partial<SearchRequest> = {}): SearchRequest {
  return {
    domain: CONTRACT_DOMAIN.name,
    text,
    page: 1,
    limit: 20,
    sort: { by: 'relevance' },
    filters: [],
    facets: [],
    highlight: true,
    context: [],
    ...rest,
  };
}

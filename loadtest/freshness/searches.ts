import type { Document, SearchDomain, SearchRequest } from '../../src/search/domain.ts';
import { parseRequest, searchParametersOf } from '../../src/search/query.ts';
import { createRandom, seededRandom } from '../random.ts';
import { queriesOf } from '../traffic/queries.ts';
import { createZipf } from '../traffic/zipf.ts';

/** One search of the load: what serpcache is asked, and what the engine is asked to check the answer. */
export interface AskedSearch {
  readonly path: string;
  readonly request: SearchRequest;
}

export type Searches = ReturnType<typeof createSearches>;

interface SearchesOptions {
  readonly domain: SearchDomain;
  readonly documents: Iterable<Document>;
  /** Different searches that are repeated. */
  readonly count: number;
  readonly seed: number;
}

/** Share of searches that are sent once. */
export const ONCE_SHARE = 0.05;
const EXPONENT = 1;

/**
 * Searches by Zipf, 5 % of them asked once. Of ten, seven are a text alone, one has a filter by city, one facets, and one is
 * sorted by price.
 */
export function createSearches({ domain, documents, count, seed }: SearchesOptions) {
  const { pick } = createRandom(seed);
  const random = seededRandom(seed);
  const cities = [
    ...new Set(
      Iterator.from(documents)
        .take(2000)
        .map(({ attributes }) => String(attributes['city'])),
    ),
  ];
  const queries = queriesOf(documents, count);
  const forms = [
    ...Array.from({ length: 7 }, () => (): string => ''),
    () => `&filter=${encodeURIComponent(`city:${pick(cities)}`)}`,
    () => '&facet=category&facet=city',
    () => '&sort=price',
  ];
  const searchOf = (text: string, more: string): AskedSearch => {
    const query = `q=${encodeURIComponent(text)}${more}`;
    return {
      path: `/search?domain=${domain.name}&${query}`,
      request: parseRequest(searchParametersOf(query), domain),
    };
  };
  const repeated = queries.repeated.map((text, at) => searchOf(text, forms[at % forms.length]?.() ?? ''));
  const rank = createZipf({ size: repeated.length, exponent: EXPONENT });
  let once = 0;
  return {
    /** By falling popularity. */
    repeated,
    next: (): AskedSearch => {
      if (random() >= ONCE_SHARE) return repeated[rank(random)] ?? searchOf('ничего', '');
      once += 1;
      return searchOf(queries.once(once), '');
    },
  };
}

import { canonicalText } from '../../../src/search/canonical.ts';

/** What was asked for, as far as a page can be held against it. */
export interface Asked {
  readonly domain?: string;
  readonly q: string;
  readonly page: number;
}

interface Page {
  readonly query: string;
  readonly domain: string;
  readonly page: number;
  readonly limit: number;
  readonly total: number;
  readonly totalRelation: string;
  readonly results: readonly { readonly id: string; readonly title: string; readonly attributes: object }[];
}

/** The page in a body; undefined when it has not the shape of one. */
export function pageOf(body: unknown): Page | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { query, domain, page, limit, total, totalRelation, results } = body as Partial<Page>;
  const isWhole =
    typeof query === 'string' &&
    typeof domain === 'string' &&
    [page, limit, total].every((one) => typeof one === 'number' && Number.isInteger(one) && one >= 0) &&
    (totalRelation === 'eq' || totalRelation === 'gte') &&
    Array.isArray(results) &&
    results.every(
      (one) => typeof one?.id === 'string' && typeof one.title === 'string' && typeof one.attributes === 'object',
    );
  return isWhole ? (body as Page) : undefined;
}

/** Somebody else's page under our key would be the worst a cache can do. */
export function answers(page: Page, { domain, q, page: wanted }: Asked): boolean {
  const { query, limit, total, totalRelation, results } = page;
  const before = (wanted - 1) * limit;
  const mostHere = totalRelation === 'eq' ? Math.max(0, total - before) : limit;
  return (
    query === canonicalText(q) &&
    (domain === undefined || page.domain === domain) &&
    page.page === wanted &&
    results.length <= Math.min(limit, mostHere) &&
    (results.length > 0 || mostHere === 0) &&
    new Set(results.map(({ id }) => id)).size === results.length
  );
}

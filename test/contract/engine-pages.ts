import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { SearchRequest, Sort } from '../../src/search/domain.ts';
import type { ResultPage, SearchResult } from '../../src/search/engine.ts';
import { plain } from '../plain.ts';
import { COMMON, CONTRACT_DOCUMENTS, HARD_IDS } from './engine-documents.ts';
import { ask, compareValues, matching, type Searching } from './engine-truth.ts';

const SORTS: readonly Sort[] = [
  { by: 'relevance' },
  ...['city', 'brand', 'rooms', 'views', 'price', 'posted'].flatMap((attribute) =>
    [false, true].map((descending) => ({ by: 'attribute', attribute, descending }) as const),
  ),
];

/** Paging, sorting, totals, and unchanged documents in results. */
export function pagesContract(search: Searching): void {
  it('returns every matching document once over all pages, in every sort', async () => {
    const expected = matching('велосипед').map(({ id }) => id);
    for (const sort of SORTS) {
      const { results, pages } = await allPages(search, ask('велосипед', { sort, limit: 17 }));
      assert.deepEqual(results.map(({ id }) => id).sort(), expected.toSorted(), JSON.stringify(sort));
      for (const page of pages) assert.equal(page.total, expected.length);
      for (const page of pages) assert.equal(page.totalRelation, 'eq');
    }
  });

  it('pages have no overlap and no gap up to page × limit = 1000, in every sort', async () => {
    const total = matching(COMMON).length;
    assert.ok(total > 1000, 'the corpus is too small for this test');
    for (const sort of SORTS) {
      const pages = await Promise.all(
        Array.from({ length: 10 }, (_, at) =>
          search(ask(COMMON, { sort, page: at + 1, limit: 100, highlight: false })),
        ),
      );
      const seen = new Set<string>();
      for (const [at, { results }] of pages.entries()) {
        assert.equal(results.length, 100, `page ${at + 1} of ${JSON.stringify(sort)}`);
        for (const { id } of results) seen.add(id);
      }
      assert.equal(seen.size, 1000, JSON.stringify(sort));
    }
    const last = await search(ask(COMMON, { page: 1000, limit: 1 }));
    assert.equal(last.results.length, 1);
    assert.equal(last.total, total);
  });

  it('a page past the end is empty and has the total', async () => {
    const page = await search(ask('гитара', { page: 50, limit: 20 }));
    assert.deepEqual(page.results, []);
    assert.equal(page.total, matching('гитара').length);
  });

  it('a word in no document finds nothing', async () => {
    assert.deepEqual(plain(await search(ask('щщъъыы', { facets: ['city'] }))), {
      total: 0,
      totalRelation: 'eq',
      results: [],
      facets: { city: [] },
    });
  });

  it('a page with a smaller limit is the beginning of the page with a larger one', async () => {
    for (const sort of SORTS) {
      const whole = await search(ask('гитара', { sort, limit: 20 }));
      const part = await search(ask('гитара', { sort, page: 3, limit: 5 }));
      assert.deepEqual(part.results, whole.results.slice(10, 15), JSON.stringify(sort));
    }
  });

  it('sorts by an attribute in both directions, and documents without it come last in both', async () => {
    for (const sort of SORTS) {
      if (sort.by !== 'attribute') continue;
      const { results } = await allPages(search, ask('чайник', { sort, limit: 50 }));
      const values = results.map(({ attributes }) => attributes[sort.attribute]);
      for (const [index, value] of values.slice(1).entries()) {
        const before = values[index];
        const inOrder: boolean =
          value === undefined ||
          (before !== undefined && compareValues(before, value) * (sort.descending ? -1 : 1) <= 0);
        assert.ok(inOrder, `${before} before ${value} in ${JSON.stringify(sort)}`);
      }
    }
  });

  it('relevance never puts a lower score before a higher one', async () => {
    const { results } = await allPages(search, ask('монитор', { limit: 50 }));
    const scores = results.map(({ score }) => score);
    assert.ok(scores.every(Number.isFinite));
    assert.deepEqual(
      scores,
      scores.toSorted((a, b) => b - a),
    );
  });

  it('identical requests get identical pages', async () => {
    for (const sort of SORTS) {
      const request = ask(COMMON, { sort, page: 2, facets: ['category', 'city', 'posted', 'rooms'] });
      const first = await search(request);
      for (const again of await Promise.all([search(request), search(request), search(request)]))
        assert.deepEqual(again, first, JSON.stringify(sort));
    }
  });

  it('returns ids exactly as indexed, 64-bit and longer, different from their neighbours', async () => {
    const { results } = await search(ask('опознание', { limit: 100 }));
    assert.deepEqual(results.map(({ id }) => id).sort(), HARD_IDS.toSorted());
    for (const { id } of results) assert.equal(typeof id, 'string');
  });

  it('returns titles and attributes exactly, without missing attributes', async () => {
    const { results } = await allPages(search, ask('елка', { limit: 100 }));
    assert.ok(results.some(({ attributes }) => attributes['price'] === undefined));
    assert.ok(results.some(({ attributes }) => Number(attributes['views']) > 2 ** 32));
    for (const result of results) {
      const document = CONTRACT_DOCUMENTS.find(({ id }) => id === result.id);
      assert.equal(result.title, document?.title);
      assert.deepEqual({ ...result.attributes }, document?.attributes);
    }
  });
}

async function allPages(
  search: Searching,
  request: SearchRequest,
): Promise<{ pages: readonly ResultPage[]; results: readonly SearchResult[] }> {
  const pages: ResultPage[] = [];
  for (let page = 1; page * request.limit <= 1000; page += 1) {
    const next = await search({ ...request, page });
    pages.push(next);
    if (next.results.length < request.limit) break;
  }
  return { pages, results: pages.flatMap(({ results }) => results) };
}

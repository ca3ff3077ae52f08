import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSearches, ONCE_SHARE } from '../../../loadtest/freshness/searches.ts';
import { sampleGoods } from '../../../loadtest/stack/sphinx.ts';

test('searches are repeated by rank, and one in twenty is asked once', () => {
  const { domain, documents } = sampleGoods(2000);
  const searches = createSearches({ domain, documents, count: 200, seed: 3 });
  const counts = new Map<string, number>();
  const all = 20_000;
  for (let n = 0; n < all; n += 1) {
    const { path } = searches.next();
    counts.set(path, (counts.get(path) ?? 0) + 1);
  }
  const repeated = new Set(searches.repeated.map(({ path }) => path));
  const once = [...counts].filter(([path]) => !repeated.has(path));
  assert.ok(Math.abs(once.length / all - ONCE_SHARE) < 0.01, `${once.length}`);
  assert.ok(once.every(([, count]) => count === 1));
  const [first = '', second = ''] = [...repeated];
  const ratio = (counts.get(first) ?? 0) / (counts.get(second) ?? 1);
  assert.ok(ratio > 1.6 && ratio < 2.4, `${ratio}`);
  assert.ok(searches.repeated.some(({ request }) => request.filters.length > 0));
  assert.ok(searches.repeated.some(({ request }) => request.facets.length > 0));
  assert.ok(searches.repeated.some(({ request }) => request.sort.by === 'attribute'));
});

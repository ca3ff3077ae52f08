import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unflushed } from '../../src/cache/invalidation.ts';
import { withoutSuppressed } from '../../src/search/page.ts';
import { EMPTY_PAGE, harness, pageOf } from './harness.ts';

const PAGE = { ...pageOf('диван'), total: 40, results: [...pageOf('диван').results, ...pageOf('кресло').results] };

test('a hidden document is left out of a page and of its total', () => {
  const shown = withoutSuppressed(PAGE, (id) => id === 'диван');
  assert.deepEqual([shown.results.map(({ id }) => id), shown.total], [['кресло'], 39]);
});

test('a page without hidden documents is the same page', () => {
  assert.equal(withoutSuppressed(PAGE, undefined), PAGE);
  assert.equal(
    withoutSuppressed(PAGE, () => false),
    PAGE,
  );
  assert.equal(
    withoutSuppressed(EMPTY_PAGE, () => true),
    EMPTY_PAGE,
  );
});

test('a new entry names no hidden document, neither in its body nor in its fingerprints', async (t) => {
  const { search, prepare, engine } = harness(t, { rules: { ...unflushed, hides: () => (id) => id === 'диван' } });
  engine.answer = async () => PAGE;
  const { entry } = await search.search(prepare('мебель'));
  assert.equal(entry.fingerprints.length, 1);
  const { total, results } = JSON.parse(entry.body.toString());
  assert.deepEqual([total, results.length, results[0].id], [39, 1, 'кресло']);
});

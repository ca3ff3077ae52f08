import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ageOfWrongPage, judge, quantile, seenOf, shownTooLate } from '../../../loadtest/freshness/oracle.ts';

interface Page {
  readonly prices: Readonly<Record<string, number>>;
  readonly total?: number;
  readonly cities?: Readonly<Record<string, number>>;
}

const seen = ({ prices, total = Object.keys(prices).length, cities = {} }: Page) =>
  seenOf({
    total,
    results: Object.entries(prices).map(([id, price]) => ({
      id,
      title: '',
      snippet: '',
      score: 1,
      attributes: { city: 'Омск', price },
    })),
    facets: { city: Object.entries(cities).map(([value, count]) => ({ value, count })) },
  });

const BEFORE = { prices: { a: 1, b: 2, c: 3 }, cities: { Омск: 3 } };
/** `a` has another price, `b` is sold, `d` has arrived and so has `e`, on a later page. */
const AFTER = { prices: { a: 9, c: 3, d: 4 }, total: 4, cities: { Омск: 3, Уфа: 1 } };

for (const [name, page, wrongIds, areCountsRight] of [
  ['the page before', BEFORE, [], true],
  ['the page after', AFTER, [], true],
  ['the order of documents is not compared', { ...BEFORE, prices: { c: 3, b: 2, a: 1 } }, [], true],
  ['the price alone has changed yet', { prices: { a: 9, b: 2, c: 3 }, cities: { Омск: 3 } }, [], true],
  ['the old price, and all else as after', { ...AFTER, prices: { a: 1, c: 3, d: 4 } }, [], true],
  ['an older price', { ...BEFORE, prices: { a: 0, b: 2, c: 3 } }, ['a'], true],
  ['a document that both have is missing', { ...BEFORE, prices: { a: 1, b: 2 }, total: 3 }, ['c'], true],
  ['a document that was sold before', { ...BEFORE, prices: { a: 1, b: 2, c: 3, x: 5 }, total: 4 }, ['x'], true],
  ['an older total', { ...BEFORE, total: 5 }, [], false],
  ['an older facet', { ...BEFORE, cities: { Омск: 2 } }, [], false],
  ['a facet without a value that both have', { ...BEFORE, cities: {} }, [], false],
] as const) {
  test(`an answer beside the engine before and after it: ${name}`, () => {
    const judged = judge(seen(page), seen(BEFORE), seen(AFTER));
    assert.deepEqual(judged.wrongIds, wrongIds);
    assert.equal(judged.isPageRight, wrongIds.length === 0);
    assert.equal(judged.areCountsRight, areCountsRight);
  });
}

test('attributes are compared whatever their order', () => {
  const page = (attributes: Readonly<Record<string, number>>) =>
    seenOf({ total: 1, facets: {}, results: [{ id: 'a', title: '', snippet: '', score: 1, attributes }] });
  const [one, other] = [page({ x: 1, y: 2 }), page({ y: 2, x: 1 })];
  assert.equal(judge(one, other, other).isPageRight, true);
});

const CHANGES = new Map([
  ['a', { op: 'upsert', endMs: 1000 }],
  ['b', { op: 'delete', endMs: 4000 }],
  ['c', { op: 'delete', endMs: 6000 }],
] as const);
const lastOf = (id: string) => CHANGES.get(id as 'a');

test('a wrong page is as old as the oldest change that it does not show', () => {
  assert.equal(ageOfWrongPage(['b', 'a', 'x'], lastOf, 5000, 0), 4000);
  assert.equal(ageOfWrongPage(['c'], lastOf, 5500, 0), 0);
  assert.equal(ageOfWrongPage(['x'], lastOf, 5000, 0), undefined);
  assert.equal(
    ageOfWrongPage(['b', 'a', 'x'], lastOf, 5000, 4500),
    undefined,
    'the page was computed after the changes',
  );
});

test('a deleted document is shown too late when the search was sent after the grace', () => {
  assert.deepEqual(shownTooLate(['a', 'b', 'c', 'x'], lastOf, 6500, 1000), ['b']);
  assert.deepEqual(shownTooLate(['b'], lastOf, 5000, 1000), []);
});

test('a quantile is one of the values', () => {
  assert.equal(quantile([3, 1, 2], 0.99), 3);
  assert.equal(quantile([3, 1, 2], 0.5), 2);
  assert.equal(quantile([], 0.5), undefined);
});

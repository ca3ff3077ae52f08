import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Sort } from '../../src/search/domain.ts';
import type { ResultPage } from '../../src/search/engine.ts';
import { comparePages, overlapOf, type PageComparison } from '../../src/search/overlap.ts';

const RELEVANCE: Sort = { by: 'relevance' };
const ids = (text: string): readonly string[] => [...text];

describe('the overlap of two lists', () => {
  it('is the number of shared items divided by the length of the longer list', () => {
    assert.equal(overlapOf(ids('abcd'), ids('dcba')), 1);
    assert.equal(overlapOf(ids('abcd'), ids('abxy')), 0.5);
    assert.equal(overlapOf(ids('abcd'), ids('abcdefghij')), 0.4);
    assert.equal(overlapOf(ids('abcdefghij'), ids('abcd')), 0.4);
    assert.equal(overlapOf(ids('ab'), ids('xy')), 0);
  });

  it('is 1 when both lists are empty, 0 when one is', () => {
    assert.equal(overlapOf([], []), 1);
    assert.equal(overlapOf(ids('a'), []), 0);
    assert.equal(overlapOf([], ids('a')), 0);
  });

  it('lies in 0–1, is the same both ways, and 1 for the same documents only', () => {
    const list = fc.uniqueArray(fc.constantFrom(...'abcdefgh'), { maxLength: 8 });
    fc.assert(
      fc.property(list, list, (a, b) => {
        const overlap = overlapOf(a, b);
        assert.ok(overlap >= 0 && overlap <= 1);
        assert.equal(overlap, overlapOf(b, a));
        assert.equal(overlap === 1, a.toSorted().join() === b.toSorted().join());
      }),
    );
  });
});

describe('two pages', () => {
  const page = (
    text: string,
    rest: Partial<ResultPage> = {},
    score: (at: number) => number = (at) => -at,
  ): ResultPage => ({
    total: text.length,
    totalRelation: 'eq',
    results: [...text].map((id, at) => ({
      id,
      title: id,
      snippet: '',
      score: score(at),
      attributes: { price: at >> 1 },
    })),
    facets: {},
    ...rest,
  });
  const compare = (a: ResultPage, b: ResultPage, depth = 10): PageComparison => comparePages(a, b, depth, RELEVANCE);

  it('are compared down to the given depth only', () => {
    const comparison = compare(page('abcdef'), page('abcxyz'), 3);
    assert.deepEqual([comparison.overlap, comparison.sameOrder, comparison.shown], [1, true, 3]);
    assert.deepEqual(compare(page('abcdef'), page('abcxyz'), 4).missing, ['d']);
  });

  it('have the same order only with the same length', () => {
    assert.equal(compare(page('ab'), page('ba')).sameOrder, false);
    assert.equal(compare(page('ab'), page('abc')).sameOrder, false);
    assert.equal(compare(page('ab'), page('ab')).sameOrder, true);
  });

  it('show which of them is empty', () => {
    assert.equal(compare(page('a'), page('b')).empty, 'neither');
    assert.equal(compare(page(''), page('b')).empty, 'first');
    assert.equal(compare(page('a'), page('')).empty, 'second');
    assert.equal(compare(page(''), page('')).empty, 'both');
  });

  it('have a ratio of totals when both totals are exact and above 0', () => {
    assert.equal(compare(page('a', { total: 200 }), page('a', { total: 150 })).totalRatio, 0.75);
    assert.equal(compare(page('a'), page('')).totalRatio, undefined);
    assert.equal(compare(page(''), page('a')).totalRatio, undefined);
    assert.equal(compare(page('a', { totalRelation: 'gte' }), page('a')).totalRatio, undefined);
  });

  it('are tied when the first page sorts its last compared result and the next one equally', () => {
    const flat = page('abc', {}, () => 7);
    assert.equal(compare(flat, page('ab'), 2).tied, true);
    assert.equal(compare(flat, page('ab'), 3).tied, false, 'nothing comes after');
    assert.equal(compare(page('abc'), flat, 2).tied, false, 'only the first counts');
    const byPrice: Sort = { by: 'attribute', attribute: 'price', descending: false };
    assert.equal(comparePages(page('abcd'), page('ab'), 1, byPrice).tied, true);
    assert.equal(comparePages(flat, page('ab'), 2, byPrice).tied, false);
  });
});

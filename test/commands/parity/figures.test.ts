import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ParitySample } from '../../../src/commands/parity/ask.ts';
import { figuresOf } from '../../../src/commands/parity/report.ts';
import type { ResultPage } from '../../../src/search/engine.ts';
import { comparePages } from '../../../src/search/overlap.ts';
import { pluck } from '../../pluck.ts';

const page = (ids: string): ResultPage => ({
  total: ids.length,
  totalRelation: 'eq',
  results: [...ids].map((id, at) => ({ id, title: id, snippet: '', score: -at, attributes: {} })),
  facets: {},
});

const sample = (text: string, weight: number, a: string, b: string): ParitySample => ({
  text,
  weight,
  engine: { kind: 'page', tookMs: 1, late: false, titles: [...a].slice(0, 3) },
  lifeboat: { kind: 'page', tookMs: 2, late: false, titles: [...b].slice(0, 3) },
  comparison: comparePages(page(a), page(b), 10, { by: 'relevance' }),
  notIndexed: 0,
});

describe('figures of a comparison', () => {
  const figures = figuresOf([
    sample('same', 6, 'abcd', 'abcd'),
    sample('half', 2, 'abcd', 'baxy'),
    sample('none', 1, '', ''),
    sample('lost', 1, 'ab', ''),
    sample('gained', 1, '', 'ab'),
  ]);

  it('weigh each query by how often it is asked', () => {
    assert.equal(figures.overlap.mean, 0.5);
    assert.equal(figures.overlap.weightedMean, 0.7273);
  });

  it('have a mean without the queries for which no engine finds anything', () => {
    assert.equal(figures.overlap.meanOfFound, 0.375);
    assert.equal(figures.overlap.weightedMeanOfFound, 0.7);
  });

  it('count pages that are empty on one side, and equal orders of pages with results on both', () => {
    assert.deepEqual(figures.empty, { both: 0.2, onlyEngine: 0.2, onlyLifeboat: 0.2 });
    assert.equal(figures.sameOrder, 0.5);
  });

  it('take quantiles by nearest rank', () => {
    const lists = ['abcdefghij', 'abcdefghiX', 'abcdefghXY', 'abcdefgXYZ'];
    const { overlap } = figuresOf(lists.map((list, at) => sample(`q${at}`, 1, 'abcdefghij', list)));
    assert.deepEqual([overlap.p10, overlap.p50, overlap.p90], [0.7, 0.8, 1]);
  });

  it('list the least similar queries, the most frequent first, and none that is equal', () => {
    const worst = figures.worst.map(({ query }) => query);
    assert.deepEqual(worst, ['lost', 'gained', 'half']);
    assert.deepEqual(figures.worst[2]?.lifeboatTitles, ['b', 'a', 'x']);
    const many = Array.from({ length: 30 }, (_, at) => sample(`q${at}`, at, 'a', 'b'));
    assert.deepEqual(pluck(figuresOf(many).worst, 'weight'), [29, 28, 27, 26, 25, 24, 23, 22, 21, 20]);
  });

  it('without samples are null, not 0 and not NaN', () => {
    const nothing = figuresOf([]);
    assert.equal(nothing.overlap.mean, null);
    assert.equal(nothing.sameOrder, null);
    assert.equal(nothing.engine.p99Ms, null);
    assert.doesNotMatch(JSON.stringify(nothing), /NaN/);
  });
});

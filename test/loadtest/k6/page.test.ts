import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, pageOf } from '../../../loadtest/k6/kit/page.ts';

const result = (id: string): object => ({ id, title: 'a title', snippet: '', score: 1, attributes: {} });

function bodyOf(more: object = {}): Record<string, unknown> {
  const results = [result('1'), result('2')];
  return {
    query: 'кроссовки nike',
    domain: 'goods',
    page: 1,
    limit: 20,
    total: 2,
    totalRelation: 'eq',
    results,
    ...more,
  };
}

function isRight(more: object, asked: { domain?: string; q: string; page: number }): boolean {
  const page = pageOf(bodyOf(more));
  return page !== undefined && answers(page, asked);
}

const ASKED = { domain: 'goods', q: 'Кроссовки  NIKE', page: 1 };

test('a page belongs to the search, however the search was typed', () => {
  assert.ok(isRight({}, ASKED));
  assert.ok(isRight({}, { q: 'кроссовки nike', page: 1 }));
});

test('a page of another search does not match: other words, another domain, another page number', () => {
  assert.ok(!isRight({ query: 'кроссовки' }, ASKED));
  assert.ok(!isRight({ domain: 'auto' }, ASKED));
  assert.ok(!isRight({ page: 2 }, ASKED));
  assert.ok(!isRight({}, { ...ASKED, page: 2 }));
});

test('a page holds at most its limit, at most the total, and no item twice', () => {
  assert.ok(!isRight({ limit: 1 }, ASKED));
  assert.ok(!isRight({ total: 1 }, ASKED));
  assert.ok(isRight({ total: 1, totalRelation: 'gte' }, ASKED));
  assert.ok(!isRight({ results: [result('1'), result('1')] }, ASKED));
  assert.ok(isRight({ page: 2, total: 22 }, { ...ASKED, page: 2 }));
  assert.ok(!isRight({ page: 2, total: 21 }, { ...ASKED, page: 2 }));
});

test('a body without the shape of a page is not a page', () => {
  for (const bad of [undefined, null, '', 7, [], {}, { ...bodyOf(), results: undefined }])
    assert.equal(pageOf(bad), undefined);
  for (const more of [
    { total: -1 },
    { total: 1.5 },
    { totalRelation: 'about' },
    { results: [null] },
    { results: [{ id: 1 }] },
  ]) {
    assert.equal(pageOf(bodyOf(more)), undefined, JSON.stringify(more));
  }
});

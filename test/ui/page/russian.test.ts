import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MISS_REASONS } from '../../../src/cache/events.ts';
import { PROBLEMS } from '../../../src/http/transport/problem.ts';
import { toHtml } from '../../../src/report/html.ts';
import type { Attribute } from '../../../src/search/domain.ts';
import { pageAddress, type Site } from '../../../src/ui/page/assets/address.ts';
import type { AnswerBody, PageModel, Shown } from '../../../src/ui/page/assets/model.ts';
import { provenanceOf } from '../../../src/ui/page/assets/provenance.ts';
import { pageView } from '../../../src/ui/page/assets/view/page.ts';
import { CITY, PRICE } from './harness.ts';

const DATE: Attribute = { name: 'date', type: 'date', facet: false, sort: true };
const SITE: Site = {
  domains: [
    { name: 'goods', attributes: [CITY, PRICE, DATE], context: [{ name: 'region', values: ['all', 'north'] }] },
    { name: 'auto', attributes: [], context: [] },
  ],
  preferred: 'ru',
  examples: [{ domain: 'auto', query: 'ваз' }],
  explain: 'http://127.0.0.1:8081/admin/explain',
};

/** Latin words that a reader sees or hears, except the name of the service and of a key. */
function latinIn(search: string, shown: Shown): readonly string[] {
  const model: PageModel = {
    site: SITE,
    address: pageAddress(new URLSearchParams(search), SITE),
    language: 'ru',
    shown,
  };
  const html = pageView(model).map(toHtml).join('');
  const told = [...html.matchAll(/ (?:title|placeholder|aria-label)="([^"]*)"/g)].map(([, text = '']) => text);
  const text = [...told, ...html.split(/<[^>]*>/)].join(' ');
  return [...text.matchAll(/[a-z]{2,}/gi)].map(([word]) => word).filter((word) => !OWN_WORDS.includes(word));
}
const OWN_WORDS = ['serp', 'cache', 'Enter', 'API'];

test('the Russian start page is in Russian', () => {
  assert.deepEqual(latinIn('', { kind: 'start' }), []);
});

test('a Russian page of results is in Russian, for every source and every reason of a miss', () => {
  const results = [
    { id: '1', title: 'Диван', snippet: 'Диван', score: 1, attributes: { city: 'Тула', price: 5, date: '2026-05-03' } },
  ];
  const answer: AnswerBody = {
    ...{ query: 'диван', domain: 'goods', page: 2, limit: 1, total: 40, degraded: true },
    totalRelation: 'gte',
    results,
    facets: { city: [{ value: 'Тула', count: 3 }] },
  };
  for (const detail of [...MISS_REASONS, 'lifeboat']) {
    for (const status of [
      `serpcache-l1; fwd=uri-miss; stored; detail=${detail}`,
      `serpcache-l2; fwd=stale; fwd-status=504; detail=${detail}, serpcache-l1; fwd=uri-miss; collapsed`,
      'serpcache-l1; hit; ttl=-12',
      'serpcache-l2; hit; ttl=287, serpcache-l1; fwd=uri-miss; stored',
      '',
    ]) {
      for (const outcome of ['engine', 'lifeboat']) {
        const provenance = provenanceOf(status, `cache;desc=${outcome}, engine;dur=3, total;dur=0.2`, 4);
        const shown: Shown = { kind: 'answer', answer, provenance };
        const search = 'q=диван&page=2&filter=city:Тула&filter=price:1..5&region=north';
        assert.deepEqual(latinIn(search, shown), [], `${status} ${outcome}`);
      }
    }
  }
});

test('a Russian page without results is in Russian', () => {
  const answer: AnswerBody = {
    ...{ query: 'диван', domain: 'goods', page: 1, limit: 20, total: 0 },
    totalRelation: 'eq',
    ...{ results: [], facets: {} },
  };
  assert.deepEqual(latinIn('q=диван', { kind: 'answer', answer, provenance: provenanceOf('', '') }), []);
});

for (const code of [...Object.keys(PROBLEMS), 'unreachable', 'slow', 'other', 'never-heard-of']) {
  test(`a Russian refusal is in Russian, except for the words of an address: ${code}`, () => {
    const shown = { kind: 'failure', code, detail: 'In English.', retryAfterSeconds: 3 } as const;
    assert.deepEqual(
      latinIn('q=диван', shown).filter((word) => !['true', 'false', 'city', 'price', 'date'].includes(word)),
      [],
    );
  });
}

test('a Russian refusal names the parameter and the allowed values, and an English one has the text of the service', () => {
  const address = pageAddress(new URLSearchParams('q=a'), SITE);
  const shown = {
    kind: 'failure',
    code: 'invalid-sort',
    detail: 'sort must be one of: price',
    parameter: 'sort',
  } as const;
  const textIn = (language: 'ru' | 'en') => pageView({ site: SITE, address, language, shown }).map(toHtml).join('');
  assert.match(textIn('ru'), /Допустимы: price, date\. Параметр: sort\./);
  assert.doesNotMatch(textIn('ru'), /must be/);
  assert.match(textIn('en'), /sort must be one of: price/);
});

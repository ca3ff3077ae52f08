import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toHtml } from '../../../src/report/html.ts';
import { h } from '../../../src/report/tree.ts';
import { pageAddress } from '../../../src/ui/page/assets/address.ts';
import { answerFrom, fetchAnswer, type PageModel, type Shown } from '../../../src/ui/page/assets/model.ts';
import { provenanceOf } from '../../../src/ui/page/assets/provenance.ts';
import { documentHtml } from '../../../src/ui/page/first-page.ts';
import { eachPlace, HOSTILE_VALUES, partsOf } from '../../fakes/hostile.ts';
import { plain } from '../../plain.ts';
import { ASSETS, SITE } from './harness.ts';

const ADDRESS = 'q=tea&domain=goods&filter=city:Tula&filter=price:1..9&sort=-price&page=2&limit=5&region=kz';
const PROVENANCE = provenanceOf('serpcache-l2; hit; ttl=9, serpcache-l1; fwd=uri-miss; detail=unseen', 'total;dur=1');

const result = (n: number) => ({
  id: `id-${n}`,
  title: `Tea ${n}`,
  snippet: 'green <em>tea</em> &amp; more',
  score: n,
  attributes: { city: 'Tula', price: 990, date: '2026-05-03', currency: 'RUB' },
});
const BODY = {
  ...{ query: 'tea', domain: 'goods', page: 2, limit: 5, total: 14, totalRelation: 'eq', degraded: true },
  results: [1, 2, 3].map(result),
  facets: { city: [1, 2, 3].map((n) => ({ value: `Town ${n}`, count: n })) },
};
const FAILURE = {
  kind: 'failure',
  code: 'invalid-filter',
  detail: 'no',
  parameter: 'filter',
  retryAfterSeconds: 3,
} as const;

const answer = (body: unknown): Shown => ({ kind: 'answer', answer: answerFrom(body), provenance: PROVENANCE });
const html = (shown: Shown, search = ADDRESS, language: PageModel['language'] = 'en'): string =>
  documentHtml(
    { site: SITE, address: pageAddress(new URLSearchParams(search), SITE), language, shown },
    ASSETS,
  ).toString();

/** The elements and attributes of pages with ordinary values, in each state of the page. */
const OURS = new Set(
  [
    html(answer(BODY)),
    html(answer({ ...BODY, total: 900 })),
    html(answer({ ...BODY, results: [], total: 0 })),
    html(answer({ ...BODY, results: [] })),
    html({ kind: 'start' }, ''),
    html(FAILURE),
    html(FAILURE, `${ADDRESS}&filter=${'a'.repeat(99)}`, 'ru'),
  ].flatMap((page) => [...partsOf(page)]),
);
const foreignIn = (page: string): readonly string[] => [...partsOf(page)].filter((part) => !OURS.has(part));

describe('a hostile value becomes text, and the page is drawn', () => {
  for (const [name, value] of HOSTILE_VALUES) {
    it(`${name}, in every field of an answer`, () => {
      assert.deepEqual(foreignIn(html(answer(value))), [], 'as the whole answer');
      for (const [path, put] of eachPlace(BODY)) assert.deepEqual(foreignIn(html(answer(put(value)))), [], path);
    });

    it(`${name}, in every field of a refusal and of a provenance`, () => {
      for (const language of ['en', 'ru'] as const) {
        for (const [path, put] of eachPlace(FAILURE)) {
          if (path !== 'kind') assert.deepEqual(foreignIn(html(put(value), ADDRESS, language)), [], path);
        }
      }
      const told = String(value);
      const provenance = provenanceOf(`serpcache-l1; fwd=${told}; detail=${told}`, `cache;desc=${told};dur=${told}`);
      assert.deepEqual(foreignIn(html({ kind: 'answer', answer: answerFrom(BODY), provenance })), []);
    });

    it(`${name}, in every parameter of the address`, () => {
      for (const parameter of ['q', 'domain', 'page', 'limit', 'sort', 'filter', 'region', 'price.from', 'utm']) {
        const address = new URLSearchParams(ADDRESS);
        address.set(parameter, typeof value === 'string' ? value : JSON.stringify(value));
        for (const shown of [answer(BODY), FAILURE]) {
          assert.deepEqual(foreignIn(html(shown, address.toString())), [], parameter);
        }
      }
    });
  }

  it('an object with the members of an element is shown as JSON', () => {
    const planted = { tag: 'b', attributes: {}, children: ['x'] };
    const shown = html(answer({ ...BODY, results: [{ ...result(1), title: planted }] }));
    assert.match(shown, /<h3[^>]*>\{&quot;tag&quot;:&quot;b&quot;/);
    assert.doesNotMatch(shown, /<h3[^>]*><b>/);
  });
});

it('an answer that the browser fetches is converted as on the server', async (context) => {
  const body = { ...BODY, page: 1e308, limit: '5', results: Array.from({ length: 1000 }, (_, n) => result(n)) };
  context.mock.method(globalThis, 'fetch', async () => Response.json(body));
  const address = pageAddress(new URLSearchParams(ADDRESS), SITE);
  const shown = await fetchAnswer(address, SITE, new AbortController().signal);
  assert.ok(shown.kind === 'answer');
  const { page, limit, results } = shown.answer;
  assert.deepEqual([page, limit, results.length], [1000, 1, 100]);
});

it('a refusal whose problem document is not an object is shown as an unknown refusal', async (context) => {
  const headers = { 'content-type': 'application/problem+json' };
  for (const document of ['null', '[]', '"x"']) {
    context.mock.method(globalThis, 'fetch', async () => new Response(document, { status: 500, headers }));
    const address = pageAddress(new URLSearchParams(ADDRESS), SITE);
    const shown = await fetchAnswer(address, SITE, new AbortController().signal);
    assert.deepEqual(plain(shown), { kind: 'failure', code: 'other' }, document);
  }
});

describe('an address', () => {
  it('that could run as a script is left out, in any spelling', () => {
    const hrefs = [
      'javascript:alert(1)',
      ' javascript:alert(1)',
      'java\nscript:alert(1)',
      'data:text/html,x',
      '//evil/',
      '/\\evil/',
    ];
    for (const href of [...hrefs, 'vbscript:x', 'JAVASCRIPT:x', '/\t/evil/']) {
      assert.equal(toHtml(h('a', { href })('x')), '<a>x</a>', href);
    }
    for (const href of ['/?q=a', '/', '?q=a', '#content', '#/goods/live', 'https://example.org/', 'blob:http://a/b']) {
      assert.equal(toHtml(h('a', { href })('x')), `<a href="${href}">x</a>`);
    }
  });
});

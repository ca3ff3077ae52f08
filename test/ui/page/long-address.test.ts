import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Site } from '../../../src/ui/page/assets/address.mjs';
import { addressFrom, maxLinks } from '../../../src/ui/page/assets/address.mjs';
import { type AnswerBody, answerFrom } from '../../../src/ui/page/assets/model.mjs';
import { provenanceOf } from '../../../src/ui/page/assets/provenance.mjs';
import { documentHtml } from '../../../src/ui/page/first-page.ts';
import { SITE } from './shop-site.ts';

/** As many attributes as a domain may have. */
const NAMES = Array.from({ length: 64 }, (_, i) => `a${i}`);
const site: Site = {
  ...SITE,
  domains: [
    {
      name: 'goods',
      attributes: NAMES.map((name) => ({ name, type: 'integer', facet: true, sort: true })),
      context: [],
    },
  ],
};
const ANSWER: AnswerBody = answerFrom({
  ...{ query: 'tea', domain: 'goods', page: 1, limit: 20, total: 900 },
  results: [{ id: '1', title: 'tea', attributes: {} }],
  facets: Object.fromEntries(
    NAMES.map((name) => [name, Array.from({ length: 20 }, (_, value) => ({ value, count: 1 }))]),
  ),
});

function linksOf(search: string): { readonly facets: number; readonly sorts: number; readonly room: number } {
  const address = addressFrom(new URLSearchParams(search), site);
  const provenance = provenanceOf('serpcache-l1; hit; ttl=9', 'total;dur=1');
  const html = documentHtml(
    { site, address, language: 'en', shown: { kind: 'answer', answer: ANSWER, provenance } },
    { prefix: '/assets/page', version: 'v1', byName: new Map() },
  ).toString();
  const count = (pattern: RegExp): number => html.match(pattern)?.length ?? 0;
  return { facets: count(/class="choice"/g), sorts: count(/data-focus="sort /g), room: maxLinks(address) };
}

test('the links of one kind on a page take no more room than they may, however many attributes a domain has', () => {
  const short = linksOf('q=tea');
  assert.deepEqual([short.facets, short.sorts], [64 * 20, 65]);
  const long = linksOf(`q=tea&filter=a0:${'1,'.repeat(30)}${'0'.repeat(15_000)}1`);
  assert.ok(long.room < 20, `${long.room}`);
  assert.ok(long.facets <= long.room, `${long.facets} values, room for ${long.room}`);
  assert.ok(long.sorts <= long.room + 1, `${long.sorts} orders, room for ${long.room}`);
});

test('a bound that is left empty reads no filter of another attribute', (context) => {
  const read = context.mock.method(String.prototype, 'matchAll');
  const empty = NAMES.slice(1).map((name) => `${name}.from=`);
  const address = addressFrom(new URLSearchParams(`q=tea&filter=a0:${'1,'.repeat(7000)}&${empty.join('&')}`), site);
  assert.equal(address.filters.length, 1);
  assert.equal(read.mock.callCount(), 0);
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { toHtml } from '../../../src/report/html.ts';
import { h } from '../../../src/report/tree.ts';
import type { Attribute } from '../../../src/search/domain.ts';
import { maxLinks, pageAddress, pageHref, type Site, searchPairs } from '../../../src/ui/page/assets/address.ts';
import { valuesOf } from '../../../src/ui/page/assets/filters.ts';
import { attributeName, currencyIn, durationIn, formatValue } from '../../../src/ui/page/assets/locale.ts';
import { type AnswerBody, answerFrom, type PageModel } from '../../../src/ui/page/assets/model.ts';
import { provenanceOf } from '../../../src/ui/page/assets/provenance.ts';
import { pageView } from '../../../src/ui/page/assets/view/page.ts';
import { numbersAround, snippetTree } from '../../../src/ui/page/assets/view/results.ts';
import { documentHtml } from '../../../src/ui/page/first-page.ts';
import { plain } from '../../plain.ts';
import { ASSETS, CITY, PRICE, SITE } from './harness.ts';

/** The maximum number of attributes of a domain. */
const ATTRIBUTE_NAMES = Array.from({ length: 64 }, (_, i) => `a${i}`);
const WIDE_SITE: Site = {
  ...SITE,
  domains: [
    {
      name: 'goods',
      attributes: ATTRIBUTE_NAMES.map((name) => ({ name, type: 'integer', facet: true, sort: true })),
      context: [],
    },
  ],
};
const WIDE_ANSWER: AnswerBody = answerFrom({
  ...{ query: 'tea', domain: 'goods', page: 1, limit: 20, total: 900 },
  results: [{ id: '1', title: 'tea', attributes: {} }],
  facets: Object.fromEntries(
    ATTRIBUTE_NAMES.map((name) => [name, Array.from({ length: 20 }, (_, value) => ({ value, count: 1 }))]),
  ),
});

describe('markup', () => {
  it('any text is escaped within our own tags, and is read back whole', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, unit: fc.constantFrom('<', '>', '&', '"', "'", 'em', '/', 'a', 'lt;', '#60;') }),
        (text) => {
          const html = toHtml(h('p', { title: text })(text));
          const [, title = '', content = ''] = html.match(/^<p title="([^"<>]*)">([^<>"]*)<\/p>$/) ?? assert.fail(html);
          assert.equal(decode(title), text);
          assert.equal(decode(content), text);
        },
      ),
    );
  });

  it('a snippet can contain no markup but em', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('<em>', '</em>', '<em ', '<b>', '<script>', '&lt;', '&amp;', '&#x3c;', 'a', '"'), {
          maxLength: 12,
        }),
        (parts) => {
          const html = snippetTree(parts.join('')).map(toHtml).join('');
          assert.doesNotMatch(html.replaceAll(/<\/?em>/g, ''), /[<>"]/);
          assert.equal(html.split('<em>').length, html.split('</em>').length);
        },
      ),
    );
  });

  it('the entities and the em of a snippet are read as the engine wrote them', () => {
    const html = (snippet: string) => snippetTree(snippet).map(toHtml).join('');
    assert.equal(html('a &lt;b&gt; <em>c &amp; d</em> e'), 'a &lt;b&gt; <em>c &amp; d</em> e');
    assert.equal(html('open <em>for ever'), 'open for ever');
    assert.equal(html('&#39;&#x27;&#0;&#xd800;&bogus;'), '&#39;&#39;&amp;#0;&amp;#xd800;&amp;bogus;');
  });
});

describe('the address', () => {
  it('is read back as it was written', () => {
    const search = '?q=a%26b&domain=goods&page=3&limit=5&sort=-price&filter=city%3AA%5C%2CB%2CC&region=kz';
    const address = pageAddress(new URLSearchParams(search), SITE);
    assert.deepEqual(pageAddress(new URLSearchParams(pageHref(address).slice(2)), SITE), address);
    assert.deepEqual(valuesOf(address.filters, [CITY, PRICE], 'city'), ['A,B', 'C']);
    assert.deepEqual(address.context, [['region', 'kz']]);
  });

  it('of a form with one bound or two has a range filter, and with empty bounds none', () => {
    const filters = (search: string) => pageAddress(new URLSearchParams(search), SITE).filters;
    assert.deepEqual(filters('q=a&price.from=10&price.to='), ['price:10..']);
    assert.deepEqual(filters('q=a&price.from=10&price.to=20&filter=price:1..2'), ['price:10..20']);
    assert.deepEqual(filters('q=a&price.from=&price.to=&filter=city:X&filter=price:1..2'), ['city:X']);
    assert.deepEqual(filters('q=a&price.from=&price.to=&filter=price:5'), ['price:5']);
  });

  it('that repeats a single-value parameter keeps it in the search, and in no link', () => {
    const address = pageAddress(new URLSearchParams('q=a&q=b&page=1&page=2&utm=x&utm=y'), SITE);
    const asked = searchPairs(address, SITE).map(([name]) => name);
    assert.ok(asked.filter((name) => name === 'q').length > 1);
    assert.ok(asked.filter((name) => name === 'page').length > 1);
    assert.ok(!asked.includes('utm'));
    assert.equal(pageHref(address), '/?q=a&domain=goods');
  });

  it('leaves out defaults, so that each search has one address', () => {
    const address = pageAddress(new URLSearchParams('q=a&page=1&sort=relevance'), SITE);
    assert.equal(pageHref(address), '/?q=a&domain=goods');
  });
});

describe('provenance', () => {
  const source = (cacheStatus: string, serverTiming = '') => provenanceOf(cacheStatus, serverTiming).source;

  it('is read from Cache-Status in every shape serpcache writes', () => {
    assert.equal(source('serpcache-l1; hit; ttl=287'), 'memory');
    assert.equal(source('serpcache-l2; hit; ttl=287, serpcache-l1; fwd=uri-miss'), 'store');
    assert.equal(source('serpcache-l2; fwd=uri-miss; stored, serpcache-l1; fwd=uri-miss; stored'), 'engine');
    assert.equal(source('serpcache-l1; fwd=uri-miss; collapsed; detail=unseen'), 'shared');
    assert.equal(source('serpcache-l1; hit; ttl=-1'), 'stale');
    assert.equal(source('serpcache-l1; fwd=stale; fwd-status=504; detail=expired'), 'stale-after-failure');
    assert.equal(source('serpcache-l1; fwd=uri-miss', 'cache;desc=lifeboat'), 'lifeboat');
  });

  it('that is missing or foreign is unknown, not an error', () => {
    assert.equal(source(''), 'unknown');
    assert.equal(source('cdn.example; hit, ;;;=,'), 'unknown');
    assert.equal(source('cdn.example; hit, serpcache-l1; hit; ttl=1'), 'memory');
  });

  it('lists the tiers in the order of a read, the first reason, and the times', () => {
    const told = provenanceOf(
      'serpcache-l2; fwd=uri-miss; stored; detail=store-slow, serpcache-l1; fwd=uri-miss; stored',
      'cache;desc=engine, l2;dur=50.1, engine;dur=35.1, total;dur=86.4',
      90,
    );
    assert.deepEqual(plain(told), {
      source: 'engine',
      tiers: [
        { tier: 'l1', did: 'kept' },
        { tier: 'l2', did: 'kept' },
      ],
      reason: 'store-slow',
      serverMs: 86.4,
      engineMs: 35.1,
      totalMs: 90,
    });
  });
});

describe('labels', () => {
  it('the attribute currency has a label in the language of the page', () => {
    assert.deepEqual(
      [attributeName({ name: 'currency' }, 'shop', 'ru'), attributeName({ name: 'currency' }, 'shop', 'en')],
      ['Валюта', 'Currency'],
    );
  });

  it('an attribute has the label that its domain declares', () => {
    const price = { name: 'price', label: 'Цена за метр' };
    assert.deepEqual(
      [attributeName(price, 'jobs', 'ru'), attributeName(price, 'goods', 'en')],
      Array(2).fill(price.label),
    );
  });

  it('the price of a vacancy is labelled as pay on every part of its page, and in no other domain', () => {
    assert.equal(attributeName({ name: 'price' }, 'jobs', 'ru'), 'Зарплата');
    assert.equal(attributeName({ name: 'price' }, 'goods', 'ru'), 'Цена');
    assert.equal(attributeName({ name: 'constructor' }, 'jobs', 'en'), 'Constructor');
    const site = { ...SITE, domains: [{ name: 'jobs', attributes: [CITY, PRICE], context: [] }] };
    const address = pageAddress(new URLSearchParams('q=a&filter=price:1..2'), site);
    const results = [{ id: '1', title: 'a', snippet: 'a', score: 1, attributes: { price: 5 } }];
    const answer = {
      query: 'a',
      domain: 'jobs',
      page: 1,
      limit: 20,
      total: 1,
      totalRelation: 'eq',
      results,
      facets: {},
    } as const;
    const shown = { kind: 'answer', answer, provenance: provenanceOf('', '') } as const;
    const model: PageModel = { site, address, language: 'en', shown };
    const html = pageView(model).map(toHtml).join('');
    assert.equal(html.match(/\bPay\b/g)?.length, 5, 'chip with its label, range, sort, result');
    assert.doesNotMatch(html, /\bPrice\b/);
  });
});

describe('an attribute with several values', () => {
  const sizes: Attribute = { name: 'sizes', type: 'string', facet: true, sort: false, multiple: true };
  const site: Site = { ...SITE, domains: [{ name: 'goods', attributes: [sizes], context: [] }] };
  const page = (search: string): string => {
    const body = {
      query: 'tea',
      domain: 'goods',
      page: 1,
      limit: 20,
      total: 1,
      results: [{ id: '1', title: 'tea', attributes: { sizes: ['<M>', 'S'] } }],
      facets: { sizes: ['<M>', 'S'].map((value) => ({ value, count: 1 })) },
    };
    const shown = { kind: 'answer', answer: answerFrom(body), provenance: provenanceOf('', '') } as const;
    const address = pageAddress(new URLSearchParams(search), site);
    return documentHtml({ site, address, language: 'en', shown }, ASSETS).toString();
  };

  it('is shown in the order given', () => {
    assert.match(page('q=tea'), /<dd[^>]*>&lt;M&gt;, S<\/dd>/);
  });

  it('is chosen by one value after the other', () => {
    assert.match(page('q=tea&filter=sizes:s'), /href="[^"]*filter=sizes%3As%2C%3CM%3E/i);
  });
});

describe('formatted numbers', () => {
  it('money has its currency, a year no separator, a date its month, a short time its microseconds', () => {
    const year: Attribute = { name: 'year', type: 'integer', facet: false, sort: true };
    const date: Attribute = { name: 'date', type: 'date', facet: false, sort: true };
    assert.equal(formatValue(PRICE, 12990, 'ru', 'RUB').replaceAll(/\s/g, ' '), '12 990 ₽');
    assert.equal(formatValue(PRICE, 12990.5, 'en'), '12,990.50');
    assert.equal(formatValue({ ...PRICE, name: 'deposit', currency: 'EUR' }, 5, 'en'), '€5');
    assert.equal(formatValue({ ...PRICE, currency: 'EUR' }, 5, 'en', 'USD'), '$5');
    const rows: Record<string, string | number>[] = [{ currency: 'USD' }, { currency: 'руб.' }, { currency: 5 }, {}];
    assert.deepEqual(rows.map(currencyIn), ['USD', undefined, undefined, undefined]);
    assert.equal(formatValue(year, 2007, 'en', 'RUB'), '2007');
    // As `init` names the columns «Год выпуска», «Код» and "Year built".
    for (const name of ['god_vypuska', 'kod', 'model_year', 'year_built', 'tovar_id']) {
      assert.equal(formatValue({ ...year, name }, 2019, 'ru'), '2019', name);
    }
    for (const name of ['rashod', 'video', 'yearly_cost', 'codec', 'godnost_dney'])
      assert.notEqual(formatValue({ ...year, name }, 2019, 'ru'), '2019', name);
    assert.equal(formatValue(date, '2026-05-03', 'en', undefined), 'May 3, 2026');
    assert.equal(formatValue(date, 'soon', 'en', undefined), 'soon');
    assert.equal(
      formatValue({ ...date, multiple: true }, ['2026-05-03', '2026-05-01'], 'en'),
      'May 3, 2026, May 1, 2026',
    );
    assert.equal(durationIn(0.0412, 'ru'), '41 мкс');
    assert.equal(durationIn(12.3, 'en'), '12 ms');
  });

  it('the pager shows the ends and the neighbours', () => {
    assert.deepEqual(numbersAround(1, 3), [1, 2, 3]);
    assert.deepEqual(numbersAround(10, 50), [1, 8, 9, 10, 11, 12, 50]);
  });
});

describe('a domain with the maximum number of attributes', () => {
  it('the links of one kind stay below their maximum size, for any number of attributes', () => {
    const short = linksOf('q=tea');
    assert.deepEqual([short.facets, short.sorts], [64 * 20, 65]);
    const long = linksOf(`q=tea&filter=a0:${'1,'.repeat(30)}${'0'.repeat(15_000)}1`);
    assert.ok(long.room < 20, `${long.room}`);
    assert.ok(long.facets <= long.room, `${long.facets} values, room for ${long.room}`);
    assert.ok(long.sorts <= long.room + 1, `${long.sorts} orders, room for ${long.room}`);
  });

  it('an empty bound reads no filter of another attribute', (context) => {
    const read = context.mock.method(String.prototype, 'matchAll');
    const empty = ATTRIBUTE_NAMES.slice(1).map((name) => `${name}.from=`);
    const address = pageAddress(
      new URLSearchParams(`q=tea&filter=a0:${'1,'.repeat(7000)}&${empty.join('&')}`),
      WIDE_SITE,
    );
    assert.equal(address.filters.length, 1);
    assert.equal(read.mock.callCount(), 0);
  });
});

function decode(html: string): string {
  const named: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' };
  return html.replace(/&(?:lt|gt|quot|amp|#39);/g, (entity) => named[entity] ?? entity);
}

function linksOf(search: string): { readonly facets: number; readonly sorts: number; readonly room: number } {
  const address = pageAddress(new URLSearchParams(search), WIDE_SITE);
  const provenance = provenanceOf('serpcache-l1; hit; ttl=9', 'total;dur=1');
  const html = documentHtml(
    { site: WIDE_SITE, address, language: 'en', shown: { kind: 'answer', answer: WIDE_ANSWER, provenance } },
    ASSETS,
  ).toString();
  const count = (pattern: RegExp): number => html.match(pattern)?.length ?? 0;
  return { facets: count(/class="choice"/g), sorts: count(/data-focus="sort /g), room: maxLinks(address) };
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalText } from '../../src/search/canonical.ts';
import { prepareSearch } from '../../src/search/key.ts';
import { searchParametersOf, searchTextOf } from '../../src/search/query.ts';
import { readFilter, withValues } from '../../src/ui/page/assets/filters.ts';
import { domain, type Pair, pairsOf, prepare } from './harness.ts';

const anyText = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'abcXYZ абвЁёЙ 019&=%,:"+#\\?/.'), minLength: 1, maxLength: 30 }),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
);
const words = anyText.filter((text) => text.trim() !== '' && !/\p{Cc}/u.test(text));
const escaped = (value: string): string => value.replace(/[\\,]|\.\./g, '\\$&');
const date = fc.date({ min: new Date('0000-01-02'), max: new Date('9999-12-30'), noInvalidDate: true });
const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.double({ min: -1e-5, max: 1e-5 }));
const among = (name: string, values: fc.Arbitrary<string>): fc.Arbitrary<Pair> =>
  values.map((value): Pair => [name, value]);

const range = <T>(values: fc.Arbitrary<T>, less: (a: T, b: T) => boolean, text: (value: T) => string) =>
  fc.tuple(values, values, fc.constantFrom('both', 'from', 'to', 'list')).map(([a, b, open]) => {
    const [low, high] = less(a, b) ? [a, b] : [b, a];
    if (open === 'list') return `${text(low)},${text(high)}`;
    return `${open === 'to' ? '' : text(low)}..${open === 'from' ? '' : text(high)}`;
  });

const request = fc
  .record(
    {
      page: among('page', fc.integer({ min: 1, max: 9 }).map(String)),
      limit: among('limit', fc.integer({ min: 1, max: 100 }).map(String)),
      sort: among('sort', fc.constantFrom('relevance', 'price', '-price', '-date', 'area')),
      category: among(
        'filter',
        fc
          .uniqueArray(words, { minLength: 1, maxLength: 4 })
          .map((values) => `category:${values.map(escaped).join(',')}`),
      ),
      price: among(
        'filter',
        range(fc.maxSafeInteger(), (a, b) => a < b, String).map((text) => `price:${text}`),
      ),
      area: among(
        'filter',
        range(
          number,
          (a, b) => a < b,
          (value) => value.toExponential(),
        ).map((text) => `area:${text}`),
      ),
      date: among(
        'filter',
        range(
          date,
          (a, b) => a < b,
          (value) => value.toISOString().slice(0, 10),
        ).map((text) => `date:${text}`),
      ),
      facets: fc.constantFrom('facet=city', 'facet=city&facet=category').map(pairsOf),
      highlight: among('highlight', fc.constantFrom('true', 'false')),
      region: among('region', fc.constantFrom('all', 'msk', 'spb')),
    },
    { requiredKeys: [] },
  )
  .chain(({ facets = [], ...rest }) => words.map((q): Pair[] => [['q', q], ...Object.values(rest), ...facets]));

/** Undefined for an invalid search. */
function prepared(pairs: readonly Pair[], variant: string | undefined) {
  try {
    return prepare(pairs, variant);
  } catch {
    return undefined;
  }
}

test('the text of a search gives the same key again, for all parameters, filters and contexts', () => {
  let valid = 0;
  fc.assert(
    fc.property(request, fc.constantFrom(undefined, 'a', 'b'), (pairs, variant) => {
      const first = prepared(pairs, variant);
      if (first === undefined) return;
      valid += 1;
      const text = searchTextOf(first.request, domain);
      assert.ok(text !== undefined);
      const again = prepareSearch(searchParametersOf(text), [domain]);
      assert.equal(again.canonical, first.canonical, text);
      assert.equal(searchTextOf(again.request, domain), text);
      assert.ok(!/[\n\r\t ]/.test(text), 'one word of one line');
    }),
    { numRuns: 2000 },
  );
  assert.ok(valid > 1500, `only ${valid} searches were valid`);
});

test('every text can be a filter, also one with the form of a range', () => {
  const bound = fc.constantFrom('', '10', '-1.5', '2026-01-02', '1e3', 'a', ' ', '\\', ',', '.');
  const like = fc
    .tuple(bound, fc.constantFrom('..', '...', '....', '\u2025', '\uff0e\uff0e'), bound)
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.uniqueArray(fc.oneof(like, words), { minLength: 1, maxLength: 4 }), (values) => {
      const wanted = [...new Set(values.map(canonicalText))].sort();
      if (wanted.includes('')) return;
      const filter: Pair = ['filter', `category:${values.map(escaped).join(',')}`];
      const { request: made, canonical } = prepare([['q', 'a'], filter]);
      assert.deepEqual(made.filters, [{ kind: 'strings', attribute: 'category', values: wanted }]);
      const again = prepareSearch(searchParametersOf(searchTextOf(made, domain) ?? ''), [domain]);
      assert.equal(again.canonical, canonical);
      const shown = readFilter(withValues([], 'category', values)[0] ?? '', domain.attributes);
      assert.deepEqual(shown, { attribute: 'category', kind: 'values', values: values.map((value) => value.trim()) });
    }),
    { numRuns: 2000 },
  );
});

test('the text is short and readable, and leaves the defaults out', () => {
  const pairs: Pair[] = [
    ['q', 'Красные  кроссовки 100% & more'],
    ['filter', 'price:1000..'],
    ['region', 'msk'],
    ['limit', '20'],
    ['sort', 'relevance'],
  ];
  const text = 'q=красные+кроссовки+100%25+%26+more&region=msk&filter=price:1000..';
  assert.equal(searchTextOf(prepare(pairs).request, domain), text);
  assert.equal(searchTextOf(prepare(pairs, 'b').request, domain), text.replace('&region', '&x-variant=b&region'));
});

test('a canonical text longer than q may be has no search text', () => {
  const { request: long } = prepare(`q=${'ﷺ'.repeat(20)}`);
  assert.ok(long.text.length > 256);
  assert.equal(searchTextOf(long, domain), undefined);
  const { request: most } = prepare(`q=${'🙂'.repeat(256)}`);
  assert.ok(searchTextOf(most, domain)?.startsWith('q=🙂'));
});

test('plain words are a search', () => {
  const read = (text: string): string => prepareSearch(searchParametersOf(text), [domain]).canonical;
  assert.equal(read('Диван & кресло=2'), prepare([['q', 'диван & кресло=2']]).canonical);
  assert.equal(read('q=a&page=2'), prepare('q=a&page=2').canonical);
});

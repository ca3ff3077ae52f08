import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalForm } from '../../src/search/canonical.ts';
import type { SearchRequest, Sort } from '../../src/search/domain.ts';
import { profileHash } from '../../src/search/key.ts';
import { domain, type Pair, pairsOf, prepare } from './harness.ts';

const canonical = (search: readonly Pair[] | string): string => prepare(search).canonical;

const words = fc.string({ unit: fc.constantFrom(...'abcXYZ абвЁёЙ 019&=%,:"'), minLength: 1, maxLength: 30 });
const query = words.filter((text) => /[^\s]/u.test(text));
const pair =
  (name: string) =>
  (value: string): Pair => [name, value];

/** A plausible request: at most one of each parameter, in any order. */
const request = fc
  .record(
    {
      page: fc.integer({ min: 1, max: 9 }).map(String).map(pair('page')),
      limit: fc.integer({ min: 1, max: 100 }).map(String).map(pair('limit')),
      sort: fc.constantFrom('relevance', 'price', '-price', '-date').map(pair('sort')),
      category: fc
        .uniqueArray(query, { minLength: 1, maxLength: 3 })
        .map((v): Pair => ['filter', `category:${v.map((each) => each.replaceAll(',', '\\,')).join(',')}`]),
      price: fc.tuple(fc.nat(500), fc.nat(500)).map(([a, b]): Pair => ['filter', `price:${a}..${a + b}`]),
      facet: fc.constantFrom('category', 'city').map(pair('facet')),
      highlight: fc.constantFrom('true', 'false').map(pair('highlight')),
      region: fc.constantFrom('all', 'msk', 'spb').map(pair('region')),
    },
    { requiredKeys: [] },
  )
  .chain((options) => query.map((q): Pair[] => [['q', q], ...(Object.values(options) as Pair[])]));

test('the order of parameters, explicit defaults and undeclared parameters change nothing', () => {
  fc.assert(
    fc.property(
      request.chain((pairs) => fc.tuple(fc.constant(pairs), fc.shuffledSubarray(pairs, { minLength: pairs.length }))),
      ([pairs, shuffled]) => {
        const names = new Set(pairs.map(([name]) => name));
        const defaults = pairsOf('domain=goods&page=1&limit=20&sort=relevance&highlight=true&region=all');
        const ungiven = defaults.filter(([name]) => !names.has(name));
        const noise = pairsOf('utm_source=x&utm_source=y&_=1');
        assert.equal(canonical([...noise, ...shuffled, ...ungiven]), canonical(pairs));
      },
    ),
    { numRuns: 500 },
  );
});

test('words keep their order: two orders are two searches', () => {
  assert.notEqual(canonical('q=красный диван'), canonical('q=диван красный'));
});

test('every parameter that changes the answer changes the key', () => {
  const parts = ['q=диван', 'filter=price:10..50', 'filter=category:мебель,столы', 'facet=city', 'sort=price'];
  const base = parts.join('&');
  const change = (name: string, ...to: string[]): string =>
    [...parts.filter((part) => !part.startsWith(name)), ...to].join('&');
  const variants = [
    base,
    change('q', 'q=диваны'),
    change('filter=price', 'filter=price:10..51'),
    change('filter=price', 'filter=price:11..50'),
    change('filter=price', 'filter=price:10..'),
    change('filter=price', 'filter=price:..50'),
    change('filter=price', 'filter=price:10,50'),
    change('filter=price', 'filter=area:10..50'),
    change('filter=price'),
    change('filter=category', 'filter=category:мебель'),
    change('filter=category', 'filter=category:мебель\\,столы'),
    change('filter=category', 'filter=city:мебель,столы'),
    change('facet', 'facet=category'),
    change('facet', 'facet=category', 'facet=city'),
    change('facet'),
    change('sort', 'sort=-price'),
    change('sort', 'sort=-date'),
    change('sort'),
    `${base}&page=2`,
    `${base}&limit=21`,
    `${base}&highlight=false`,
    `${base}&region=msk`,
    [['q', 'диван&page=2'] as const],
    'q=диван&page=2',
    'q=диван&domain=auto',
    'q=диван%26page%3d2',
  ];
  const keys = [...variants.map((search) => prepare(search).key), prepare(base, 'b').key];
  assert.equal(new Set(keys).size, keys.length);
});

test('different requests have different canonical forms: no text can imitate a parameter', () => {
  fc.assert(
    fc.property(request, request, (a, b) => {
      const [one, two] = [prepare(a), prepare(b)];
      assert.equal(one.canonical === two.canonical, JSON.stringify(one.request) === JSON.stringify(two.request));
    }),
    { numRuns: 1000 },
  );
});

/** Values of every member of a request; a member without values does not compile. */
const MEMBERS: { readonly [Name in keyof SearchRequest]: fc.Arbitrary<SearchRequest[Name]> } = {
  domain: fc.constantFrom('goods', 'auto'),
  text: query,
  page: fc.integer({ min: 1, max: 3 }),
  limit: fc.integer({ min: 19, max: 21 }),
  sort: fc.oneof(
    fc.constant<Sort>({ by: 'relevance' }),
    fc.record({ by: fc.constant('attribute' as const), attribute: words, descending: fc.boolean() }),
  ),
  filters: fc.array(
    fc.oneof(
      fc.record({
        kind: fc.constant('strings' as const),
        attribute: fc.constant('category'),
        values: fc.array(words, { minLength: 1, maxLength: 2 }),
      }),
      fc.record({
        kind: fc.constant('numbers' as const),
        attribute: fc.constantFrom('price', 'date'),
        values: fc.array(fc.nat(3), { minLength: 1, maxLength: 2 }),
      }),
      fc.record(
        {
          kind: fc.constant('range' as const),
          attribute: fc.constantFrom('price', 'date'),
          from: fc.nat(2),
          to: fc.nat(2),
        },
        { requiredKeys: ['kind', 'attribute'] },
      ),
    ),
    { maxLength: 2 },
  ),
  facets: fc.array(words, { maxLength: 2 }),
  highlight: fc.boolean(),
  context: fc.array(fc.tuple(fc.constantFrom('region', 'X-Variant'), words), { maxLength: 2 }),
};

for (const member of Object.keys(MEMBERS) as (keyof SearchRequest)[]) {
  test(`two requests that differ in ${member} alone have different canonical forms`, () => {
    fc.assert(
      fc.property(fc.record(MEMBERS), MEMBERS[member] as fc.Arbitrary<unknown>, (one, value) => {
        const other = { ...one, [member]: value };
        // Not by isDeepStrictEqual, because a generated object may have no prototype.
        const isSame = JSON.stringify(one[member]) === JSON.stringify(value);
        assert.equal(canonicalForm(one, domain) === canonicalForm(other, domain), isSame);
      }),
    );
  });
}

test('a changed answer profile gives another key', () => {
  const profile = {
    engine: 'sphinx',
    revision: 1,
    index: 'goods',
    ranker: 'bm25',
    details: ['doc_id', 1000],
    snippetLength: 200,
    attributes: domain.attributes,
  };
  const hashes = [
    profileHash(profile),
    profileHash({ ...profile, engine: 'sqlite' }),
    profileHash({ ...profile, index: 'goods2' }),
    profileHash({ ...profile, ranker: 'none' }),
    profileHash({ ...profile, revision: 2 }),
    profileHash({ ...profile, details: ['doc_id', 500] }),
    profileHash({ ...profile, snippetLength: 201 }),
    profileHash({ ...profile, attributes: domain.attributes.slice(1) }),
    profileHash({ ...profile, attributes: domain.attributes.map((attribute) => ({ ...attribute, multiple: true })) }),
  ];
  assert.equal(new Set(hashes).size, hashes.length);
});

test('the key has 22 characters; its hash tag puts entry and lease on one slot, and the domain is never the tag', () => {
  const { key, storeName, bucket } = prepare('q=Кроссовки');
  assert.match(key, /^[A-Za-z0-9_-]{22}$/);
  assert.equal(storeName, `sc1:goods:{${key}}`);
  assert.ok(Number.isInteger(bucket) && bucket >= 0 && bucket < 10_000);
});

test('the answer profile is part of the key: a changed configuration has none of the old answers', () => {
  const { request } = prepare('q=x');
  const changed = canonicalForm(request, { ...domain, answerProfile: 'another' });
  assert.notEqual(changed, canonicalForm(request, domain));
});

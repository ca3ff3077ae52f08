import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalText, explainCanonicalText } from '../../src/search/canonical-text.ts';
import type { SearchDomain } from '../../src/search/domain.ts';
import { InvalidSearch } from '../../src/search/failure.ts';
import { prepareSearch } from '../../src/search/prepare.ts';
import { profileHash } from '../../src/search/profile.ts';

const domain: SearchDomain = {
  name: 'goods',
  answerProfile: 'profile',
  attributes: [
    { name: 'category', type: 'string', facet: true, sort: false },
    { name: 'city', type: 'string', facet: true, sort: false },
    { name: 'price', type: 'integer', facet: false, sort: true },
    { name: 'area', type: 'number', facet: false, sort: true },
    { name: 'date', type: 'date', facet: false, sort: true },
  ],
  context: [
    { name: 'region', source: 'query', values: ['all', 'msk', 'spb'] },
    { name: 'X-Variant', source: 'header', values: ['a', 'b'] },
  ],
};
const other: SearchDomain = { ...domain, name: 'auto', attributes: [] };

type Pair = readonly [string, string];
const prepare = (pairs: readonly Pair[], variant?: string) =>
  prepareSearch({ pairs, header: (name) => (name === 'x-variant' ? variant : undefined) }, [domain, other]);
const canonical = (pairs: readonly Pair[]): string => prepare(pairs).canonical;

const anyText = fc.string({ unit: 'grapheme', maxLength: 40 });
const words = fc.string({ unit: fc.constantFrom(...'abcXYZ абвЁёЙ 019&=%,:"'), minLength: 1, maxLength: 30 });
const query = words.filter((text) => /[^\s]/u.test(text));
const pair =
  (name: string) =>
  (value: string): Pair => [name, value];

/** A request as a person might put it: at most one of each parameter, any order. */
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

test('canonical text is the same when made canonical again, whatever the input', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
      const once = canonicalText(text);
      assert.equal(canonicalText(once), once);
    }),
    { numRuns: 3000 },
  );
});

test('case never matters, in any script', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      assert.equal(canonicalText(text.toUpperCase()), canonicalText(text));
      assert.equal(canonicalText(text.toLowerCase()), canonicalText(text));
    }),
    { numRuns: 2000 },
  );
});

test('signs written on words are not letters of them', () => {
  assert.equal(canonicalText('Intel Core™ i5'), 'intel core i5');
  assert.equal(canonicalText('Шанель №5'), 'шанель 5');
});

test('neither do composition, ё and white space', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      assert.equal(canonicalText(text.normalize('NFD')), canonicalText(text));
      assert.equal(canonicalText(text.replaceAll('ё', 'е').replaceAll('Ё', 'Е')), canonicalText(text));
      assert.equal(canonicalText(`  ${text.replaceAll(' ', ' \u00a0 ')} `), canonicalText(text));
    }),
  );
});

test('the quick way through plain text gives what the rules give', () => {
  fc.assert(
    fc.property(words, (text) => {
      const last = explainCanonicalText(text).at(-1);
      assert.equal(canonicalText(text), last === undefined ? text : last.after);
    }),
  );
});

test('the order of parameters, explicit defaults and undeclared parameters change nothing', () => {
  fc.assert(
    fc.property(
      request.chain((pairs) => fc.tuple(fc.constant(pairs), fc.shuffledSubarray(pairs, { minLength: pairs.length }))),
      ([pairs, shuffled]) => {
        const names = new Set(pairs.map(([name]) => name));
        const defaults: Pair[] = (
          [
            ['domain', 'goods'],
            ['page', '1'],
            ['limit', '20'],
            ['sort', 'relevance'],
            ['highlight', 'true'],
            ['region', 'all'],
          ] as Pair[]
        ).filter(([name]) => !names.has(name));
        const noise: Pair[] = [
          ['utm_source', 'x'],
          ['utm_source', 'y'],
          ['_', '1'],
        ];
        assert.equal(canonical([...noise, ...shuffled, ...defaults]), canonical(pairs));
      },
    ),
    { numRuns: 500 },
  );
});

test('words keep their order: two orders are two questions', () => {
  assert.notEqual(canonical([['q', 'красный диван']]), canonical([['q', 'диван красный']]));
});

test('whatever changes the answer changes the key', () => {
  const base: Pair[] = [
    ['q', 'диван'],
    ['filter', 'price:10..50'],
    ['filter', 'category:мебель,столы'],
    ['facet', 'city'],
    ['sort', 'price'],
  ];
  const change = (name: string, ...to: Pair[]): Pair[] => [
    ...base.filter(([each, value]) => !`${each}:${value}`.startsWith(name)),
    ...to,
  ];
  const variants = [
    base,
    change('q', ['q', 'диваны']),
    change('filter:price', ['filter', 'price:10..51']),
    change('filter:price', ['filter', 'price:11..50']),
    change('filter:price', ['filter', 'price:10..']),
    change('filter:price', ['filter', 'price:..50']),
    change('filter:price', ['filter', 'price:10,50']),
    change('filter:price', ['filter', 'area:10..50']),
    change('filter:price'),
    change('filter:category', ['filter', 'category:мебель']),
    change('filter:category', ['filter', 'category:мебель\\,столы']),
    change('filter:category', ['filter', 'city:мебель,столы']),
    change('facet', ['facet', 'category']),
    change('facet', ['facet', 'category'], ['facet', 'city']),
    change('facet'),
    change('sort', ['sort', '-price']),
    change('sort', ['sort', '-date']),
    change('sort'),
    [...base, ['page', '2']],
    [...base, ['limit', '21']],
    [...base, ['highlight', 'false']],
    [...base, ['region', 'msk']],
    [['q', 'диван&page=2']],
    [
      ['q', 'диван'],
      ['page', '2'],
    ],
    [
      ['q', 'диван'],
      ['domain', 'auto'],
    ],
    [['q', 'диван%26page%3d2']],
  ] as Pair[][];
  const keys = [...variants.map((pairs) => prepare(pairs).key), prepare(base, 'b').key];
  assert.equal(new Set(keys).size, keys.length);
});

test('different requests read differently: no text can imitate a parameter', () => {
  fc.assert(
    fc.property(request, request, (a, b) => {
      const [one, two] = [prepare(a), prepare(b)];
      assert.equal(one.canonical === two.canonical, JSON.stringify(one.request) === JSON.stringify(two.request));
    }),
    { numRuns: 1000 },
  );
});

test('a changed answer profile is another key', () => {
  const profile = {
    engine: 'sphinx',
    index: 'goods',
    ranker: 'bm25',
    snippetLength: 200,
    attributes: domain.attributes,
  };
  const hashes = [
    profileHash(profile),
    profileHash({ ...profile, engine: 'sqlite' }),
    profileHash({ ...profile, index: 'goods2' }),
    profileHash({ ...profile, ranker: 'none' }),
    profileHash({ ...profile, snippetLength: 201 }),
    profileHash({ ...profile, attributes: domain.attributes.slice(1) }),
  ];
  assert.equal(new Set(hashes).size, hashes.length);
});

test('the key is 22 characters, tagged for one slot with its lease, and the domain is never the tag', () => {
  const { key, storeName, bucket } = prepare([['q', 'Кроссовки']]);
  assert.match(key, /^[A-Za-z0-9_-]{22}$/);
  assert.equal(storeName, `sc1:goods:{${key}}`);
  assert.ok(Number.isInteger(bucket) && bucket >= 0 && bucket < 10_000);
});

const bad: readonly (readonly [string, readonly Pair[], string, RegExp])[] = [
  ['no q', [], 'invalid-query', /required: 1 to 256/],
  ['an empty q', [['q', ' \u00a0 ']], 'invalid-query', /1 to 256/],
  ['a q of nothing visible', [['q', '\u200b\u00ad']], 'invalid-query', /1 to 256/],
  ['257 characters', [['q', '😀'.repeat(257)]], 'invalid-query', /at most 256/],
  ['a NUL', [['q', 'a\0b']], 'invalid-query', /control characters/],
  ['a lone surrogate', [['q', 'a\ud800']], 'invalid-query', /surrogates/],
  [
    'two q',
    [
      ['q', 'a'],
      ['q', 'b'],
    ],
    'invalid-query',
    /only once/,
  ],
  [
    'an unknown domain',
    [
      ['q', 'a'],
      ['domain', 'x'],
    ],
    'unknown-domain',
    /goods, auto/,
  ],
  [
    'page 0',
    [
      ['q', 'a'],
      ['page', '0'],
    ],
    'invalid-page',
    /1 to 1000/,
  ],
  [
    'page 01',
    [
      ['q', 'a'],
      ['page', '01'],
    ],
    'invalid-page',
    /page must be/,
  ],
  [
    'limit 101',
    [
      ['q', 'a'],
      ['limit', '101'],
    ],
    'invalid-page',
    /limit must be a whole number from 1 to 100/,
  ],
  [
    'page × limit over 1000',
    [
      ['q', 'a'],
      ['page', '51'],
    ],
    'invalid-page',
    /at most 1000; it is 1020/,
  ],
  [
    'an unknown sort',
    [
      ['q', 'a'],
      ['sort', 'city'],
    ],
    'invalid-sort',
    /relevance, price, -price/,
  ],
  [
    '-relevance',
    [
      ['q', 'a'],
      ['sort', '-relevance'],
    ],
    'invalid-sort',
    /one of/,
  ],
  [
    'an unknown attribute',
    [
      ['q', 'a'],
      ['filter', 'colour:red'],
    ],
    'invalid-filter',
    /category, city, price/,
  ],
  [
    'a filter without a value',
    [
      ['q', 'a'],
      ['filter', 'price'],
    ],
    'invalid-filter',
    /price:from\.\.to/,
  ],
  [
    'words as a price',
    [
      ['q', 'a'],
      ['filter', 'price:cheap'],
    ],
    'invalid-filter',
    /whole numbers/,
  ],
  [
    '1e9 as a price',
    [
      ['q', 'a'],
      ['filter', 'price:1e9'],
    ],
    'invalid-filter',
    /whole numbers/,
  ],
  [
    'a range backwards',
    [
      ['q', 'a'],
      ['filter', 'price:5..1'],
    ],
    'invalid-filter',
    /ends before/,
  ],
  [
    'a range of nothing',
    [
      ['q', 'a'],
      ['filter', 'price:..'],
    ],
    'invalid-filter',
    /bound/,
  ],
  [
    '30 February',
    [
      ['q', 'a'],
      ['filter', 'date:2026-02-30..'],
    ],
    'invalid-filter',
    /YYYY-MM-DD/,
  ],
  [
    'one attribute twice',
    [
      ['q', 'a'],
      ['filter', 'price:1'],
      ['filter', 'price:2'],
    ],
    'invalid-filter',
    /twice/,
  ],
  [
    '33 values',
    [
      ['q', 'a'],
      ['filter', `price:${Array.from({ length: 33 }, (_, i) => i).join(',')}`],
    ],
    'invalid-filter',
    /at most 32/,
  ],
  [
    'a facet not declared as one',
    [
      ['q', 'a'],
      ['facet', 'price'],
    ],
    'invalid-facet',
    /category, city/,
  ],
  [
    'highlight yes',
    [
      ['q', 'a'],
      ['highlight', 'yes'],
    ],
    'invalid-highlight',
    /true or false/,
  ],
  [
    'an unknown region',
    [
      ['q', 'a'],
      ['region', 'nsk'],
    ],
    'invalid-context',
    /all, msk, spb/,
  ],
];
for (const [what, pairs, code, detail] of bad) {
  test(`${what} is refused with what is allowed`, () => {
    assert.throws(
      () => prepare(pairs),
      (error) => error instanceof InvalidSearch && error.code === code && detail.test(error.message),
    );
  });
}

test('filters become what an index holds: folded text, numbers, days', () => {
  const { request: made } = prepare([
    ['q', 'Ёлка'],
    ['filter', 'city:МОСКВА,Орёл,москва'],
    ['filter', 'date:1970-01-02..2026-11-20'],
    ['filter', 'area:12.50,-0'],
  ]);
  assert.equal(made.text, 'елка');
  assert.deepEqual(made.filters, [
    { kind: 'numbers', attribute: 'area', values: [0, 12.5] },
    { kind: 'strings', attribute: 'city', values: ['москва', 'орел'] },
    { kind: 'range', attribute: 'date', from: 1, to: 20_777 },
  ]);
});

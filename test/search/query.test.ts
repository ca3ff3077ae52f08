import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidSearch } from '../../src/search/query.ts';
import { prepare } from './harness.ts';

/** [what, the search, the code, what the refusal says] */
const bad: readonly (readonly [string, string, string, RegExp])[] = [
  ['no q', '', 'invalid-query', /required: 1 to 256/],
  ['an empty q', 'q= \u00a0 ', 'invalid-query', /1 to 256/],
  ['a q without visible characters', 'q=\u200b\u00ad', 'invalid-query', /1 to 256/],
  ['257 characters', `q=${'😀'.repeat(257)}`, 'invalid-query', /at most 256/],
  ['a NUL', 'q=a\0b', 'invalid-query', /control characters/],
  ['a lone surrogate', 'q=a\ud800', 'invalid-query', /surrogates/],
  ['two q', 'q=a&q=b', 'invalid-query', /only once/],
  ['an unknown domain', 'q=a&domain=x', 'unknown-domain', /goods, auto/],
  ['page 0', 'q=a&page=0', 'invalid-page', /1 to 1000/],
  ['page 01', 'q=a&page=01', 'invalid-page', /page must be/],
  ['limit 101', 'q=a&limit=101', 'invalid-page', /limit must be a whole number from 1 to 100/],
  ['page × limit over 1000', 'q=a&page=51', 'invalid-page', /at most 1000; it is 1020/],
  ['an unknown sort', 'q=a&sort=city', 'invalid-sort', /relevance, price, -price/],
  ['-relevance', 'q=a&sort=-relevance', 'invalid-sort', /one of/],
  ['an unknown attribute', 'q=a&filter=colour:red', 'invalid-filter', /category, city, price/],
  ['a filter without a value', 'q=a&filter=price', 'invalid-filter', /price:from\.\.to/],
  ['a filter of commas', 'q=a&filter=category:,', 'invalid-filter', /1 to 256 characters/],
  ['a price that is empty', 'q=a&filter=price:10,', 'invalid-filter', /whole numbers/],
  ['words as a price', 'q=a&filter=price:cheap', 'invalid-filter', /whole numbers/],
  ['a fraction as a price', 'q=a&filter=price:1.5', 'invalid-filter', /whole numbers/],
  ['a range whose end is below its start', 'q=a&filter=price:5..1', 'invalid-filter', /ends before/],
  ['a range without bounds', 'q=a&filter=price:..', 'invalid-filter', /bound/],
  ['30 February', 'q=a&filter=date:2026-02-30..', 'invalid-filter', /YYYY-MM-DD/],
  ['a NUL in a filter', 'q=a&filter=category:a\0b', 'invalid-filter', /control characters/],
  ['a lone surrogate in a filter', 'q=a&filter=city:\ud800', 'invalid-filter', /well-formed/],
  ['one attribute twice', 'q=a&filter=price:1&filter=price:2', 'invalid-filter', /twice/],
  ['33 values', `q=a&filter=price:${[...Array(33).keys()].join(',')}`, 'invalid-filter', /at most 32/],
  ['a facet of an attribute that is not declared as a facet', 'q=a&facet=price', 'invalid-facet', /category, city/],
  ['highlight yes', 'q=a&highlight=yes', 'invalid-highlight', /true or false/],
  ['an unknown region', 'q=a&region=nsk', 'invalid-context', /all, msk, spb/],
];
for (const [what, search, code, detail] of bad) {
  test(`${what} is refused with what is allowed`, () => {
    assert.throws(
      () => prepare(search),
      (error) => error instanceof InvalidSearch && error.code === code && detail.test(error.message),
    );
  });
}

test('a tab or a line break that is pasted along is a space', () => {
  const key = (q: string, filter: string): string => prepare(`q=${q}&filter=${filter}`).canonical;
  const plain = key('red lamp', 'category:table lamps,red');
  for (const space of ['\t', '\n', '\r\n', '\v', '\f', '\u0085', '\u2028', '\u2029', '\u00a0', ' \t ']) {
    assert.equal(key(`red${space}lamp`, `category:table${space}lamps,red`), plain, JSON.stringify(space));
    assert.equal(key(`${space}red lamp${space}`, `category:table lamps${space},${space}red`), plain, 'at the ends');
    assert.equal(key('a', `price:${space}10..50${space}`), key('a', 'price:10..50'));
    assert.throws(() => prepare(`q=${space}`), /1 to 256/);
  }
  assert.doesNotThrow(() => prepare(`q=${'x'.repeat(256)}\r\n`), 'not counted at the ends');
});

test('any other control character is refused, because no text has it', () => {
  for (const control of ['\0', '\x07', '\b', '\x0e', '\x1b', '\x1c', '\x1f', '\x7f', '\x80', '\x84', '\x86', '\x9f']) {
    for (const text of [`a${control}b`, `a${control}`, control]) {
      for (const search of [`q=${text}`, `q=a&filter=category:x${text}`])
        assert.throws(() => prepare(search), /control characters/, JSON.stringify(text));
    }
  }
});

test('filters become the values of an index: folded text, numbers, days', () => {
  const { request: made } = prepare(
    'q=Ёлка&filter=city:МОСКВА,Орёл,москва&filter=date:1970-01-02..2026-11-20&filter=area:12.50,-0',
  );
  assert.equal(made.text, 'елка');
  assert.deepEqual(made.filters, [
    { kind: 'numbers', attribute: 'area', values: [0, 12.5] },
    { kind: 'strings', attribute: 'city', values: ['москва', 'орел'] },
    { kind: 'range', attribute: 'date', from: 1, to: 20_777 },
  ]);
});

test('a backslash escapes a comma, itself and two dots, and nothing else', () => {
  const { request: made } = prepare('q=a&filter=category:a\\,b,c\\\\,\\d,1\\..2,e\\.f');
  const values = ['1..2', '\\d', 'a,b', 'c\\', 'e\\.f'];
  assert.deepEqual(made.filters, [{ kind: 'strings', attribute: 'category', values }]);
});

test('a range of a text attribute is refused with its type, and with the way to write the text', () => {
  const refusalOf = (filter: string): string => {
    try {
      prepare(`q=a&filter=${filter}`);
      return '';
    } catch (error) {
      assert.ok(error instanceof InvalidSearch && error.code === 'invalid-filter' && error.parameter === 'filter');
      return error.message;
    }
  };
  const ranges = ['10..50', '..50', '10..', '-1.5..2', ' 10 .. 50 ', '2026-01-01..2026-02-01', '2026-01-01..', '1e3..'];
  for (const range of [...ranges, 'shoes,10..50', '10..50,shoes']) {
    const told = refusalOf(`category:${range}`);
    assert.match(told, /^"category" is of type string, and a range needs an integer, a number or a date; /, range);
    assert.equal(refusalOf(told.replace(/^.*itself is /, '')), '', 'the advice can be followed');
  }
  const texts = ['a..z', 'Dr..', '..net', 'v1..2', '10...50', '10..50 mm', '1..2..3', '..', '1.2.3..'];
  for (const text of [...texts, '10\\..50', '10.50']) assert.equal(refusalOf(`category:${text}`), '', text);
  assert.equal(refusalOf('price:10..50'), '');
});

test('every number that a page can show can be a filter', () => {
  for (const number of [9007199254740991, -5, 0.1234567, 1e-7, 1e17]) {
    const attribute = Number.isSafeInteger(number) ? 'price' : 'area';
    const { request: made } = prepare(`q=a&filter=${attribute}:${number}`);
    assert.deepEqual(made.filters, [{ kind: 'numbers', attribute, values: [number] }]);
  }
});

test('a range of one value has the key of that value', () => {
  assert.equal(prepare('q=a&filter=price:5..5').canonical, prepare('q=a&filter=price:5').canonical);
});

test('a field of a form that was left empty is not given', () => {
  const names = ['domain', 'page', 'limit', 'sort', 'filter', 'facet', 'highlight'];
  const empty = names.map((name) => `&${name}=`);
  for (const search of [`q=lamp${empty.join('')}`, 'q=lamp&page= '])
    assert.equal(prepare(search).key, prepare('q=lamp').key);
});

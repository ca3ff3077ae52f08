import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Refusal } from '../../src/http/transport/problem.ts';
import { MAX_PAIRS, parseQueryString } from '../../src/http/transport/request-target.ts';

test('pairs come out in the order given, duplicates included', () => {
  assert.deepEqual(parseQueryString('q=a&filter=x:1&&filter=x:2&flag'), [
    ['q', 'a'],
    ['filter', 'x:1'],
    ['filter', 'x:2'],
    ['flag', ''],
  ]);
});

test('a plus is a space and an escaped plus is a plus', () => {
  assert.deepEqual(parseQueryString('q=c%2B%2B+book&a=b=c'), [
    ['q', 'c++ book'],
    ['a', 'b=c'],
  ]);
});

test('UTF-8 is read escaped and as the raw bytes node hands over', () => {
  const raw = Buffer.from('ёж 😀').toString('latin1');
  assert.deepEqual(parseQueryString(`q=${encodeURIComponent('ёж 😀')}&p=${raw}`), [
    ['q', 'ёж 😀'],
    ['p', 'ёж 😀'],
  ]);
});

test('whatever a browser encodes is read back', () => {
  const text = fc.string({ unit: 'binary' }).filter((each) => each.isWellFormed());
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 10 }), (pairs) => {
      const given = pairs.filter(([name, value]) => name !== '' || value !== '');
      assert.deepEqual(parseQueryString(new URLSearchParams(given).toString()), given);
    }),
  );
});

for (const bad of ['%', '%4', '%zz', '%ED%A0%80', '%C0%AF', '%FF', '%D0', '\xff', '%F5%80%80%80']) {
  test(`${JSON.stringify(bad)} is refused by name`, () => {
    assert.throws(
      () => parseQueryString(`page=1&filter=${bad}`),
      (error) =>
        error instanceof Refusal && error.problem.code === 'invalid-url' && error.problem.parameter === 'filter',
    );
  });
}

test('a URL has a bounded number of parameters', () => {
  const of = (count: number): string => Array.from({ length: count }, (_, i) => `p${i}=1`).join('&');
  assert.equal(parseQueryString(of(MAX_PAIRS)).length, MAX_PAIRS);
  assert.throws(() => parseQueryString(of(MAX_PAIRS + 1)), Refusal);
});

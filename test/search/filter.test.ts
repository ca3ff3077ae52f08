import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pair, prepare } from './harness.ts';

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

test('a backslash escapes a comma and itself, and nothing else', () => {
  const { request: made } = prepare([
    ['q', 'a'],
    ['filter', 'category:a\\,b,c\\\\,\\d'],
  ]);
  assert.deepEqual(made.filters, [{ kind: 'strings', attribute: 'category', values: ['\\d', 'a,b', 'c\\'] }]);
});

test('every number a page can show can be filtered by', () => {
  for (const number of [9007199254740991, -5, 0.1234567, 1e-7, 1e17]) {
    const attribute = Number.isSafeInteger(number) ? 'price' : 'area';
    const { request: made } = prepare([
      ['q', 'a'],
      ['filter', `${attribute}:${number}`],
    ]);
    assert.deepEqual(made.filters, [{ kind: 'numbers', attribute, values: [number] }]);
  }
});

test('a range of one value is that value: one question, one key', () => {
  const one = prepare([
    ['q', 'a'],
    ['filter', 'price:5..5'],
  ] as Pair[]);
  assert.equal(
    one.canonical,
    prepare([
      ['q', 'a'],
      ['filter', 'price:5'],
    ] as Pair[]).canonical,
  );
});

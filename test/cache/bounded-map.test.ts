import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBoundedMap } from '../../src/runtime.ts';

const keys = ['a', 'b', 'c', 'd', 'e'];

test('the latest keys written stay, up to the bound', () => {
  const map = createBoundedMap<number>(3);
  keys.forEach((key, i) => {
    map.set(key, i);
  });
  assert.deepEqual(
    keys.map((key) => map.get(key)),
    [undefined, undefined, 2, 3, 4],
  );
});

test('a full map loses nothing until one more key comes', () => {
  const map = createBoundedMap<number>(3);
  for (const key of ['a', 'b', 'c']) map.set(key, 1);
  map.set('b', 2);
  assert.deepEqual([map.get('a'), map.get('b'), map.get('c')], [1, 2, 1]);
});

test('an overwritten key becomes the newest, a read key does not', () => {
  const map = createBoundedMap<number>(3);
  for (const key of ['a', 'b', 'c']) map.set(key, 1);
  map.set('a', 2);
  map.get('b');
  map.set('d', 1);
  assert.deepEqual([map.get('a'), map.get('b'), map.get('c'), map.get('d')], [2, undefined, 1, 1]);
});

test('a deleted key leaves its place to another key', () => {
  const map = createBoundedMap<number>(2);
  map.set('a', 1);
  map.set('b', 1);
  map.delete('b');
  map.set('c', 1);
  assert.deepEqual([map.get('a'), map.get('b'), map.get('c')], [1, undefined, 1]);
});

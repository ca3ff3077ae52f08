import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createThinned } from '../../../loadtest/sample/sampler.ts';

test('up to its maximum it keeps every item', () => {
  const list = createThinned<number>(4);
  for (const n of [1, 2, 3, 4]) list.add(n);
  assert.deepEqual(list.all(), [1, 2, 3, 4]);
  assert.equal(list.stride(), 1);
});

test('beyond its maximum every second item is removed, and a caller that then adds half as often gets even intervals', () => {
  const list = createThinned<number>(4);
  for (let n = 0; n <= 40; n += list.stride()) list.add(n);
  assert.deepEqual(list.all(), [0, 16, 32]);
  assert.equal(list.stride(), 16);
});

test('it never holds more than its maximum, and always the first and the newest item', () => {
  const list = createThinned<number>(6);
  for (let n = 0; n < 1000; n += 1) {
    list.add(n);
    assert.ok(list.all().length <= 6);
    assert.equal(list.all()[0], 0);
    assert.equal(list.all().at(-1), n);
  }
});

test('a maximum that cannot be halved is refused', () => {
  for (const max of [0, 1, 3, 2.5, Number.NaN]) assert.throws(() => createThinned(max), /even number from 2/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manyGoods } from '../../../loadtest/stack/realtime.ts';

test('goods beyond the ads of the demo have ids and titles of their own', () => {
  const documents = [...manyGoods(50_002)];
  assert.equal(new Set(documents.map(({ id }) => id)).size, 50_002);
  const [first, again] = [documents[0], documents[50_000]];
  assert.deepEqual([again?.attributes, again?.title], [first?.attributes, `${first?.title} вариант 1`]);
});

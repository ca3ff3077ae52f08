import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillCommands, gaussianKey, PUBLISHED_MIX, valueBytes } from '../../../../loadtest/labs/kit/mix.ts';
import { createRandom } from '../../../../loadtest/random.ts';

const many = (draw: (random: () => number) => number): number[] => {
  const random = createRandom(7).next;
  return Array.from({ length: 20_000 }, () => draw(random));
};
const shareOf = (values: readonly number[], holds: (value: number) => boolean): number =>
  values.filter(holds).length / values.length;

test('keys follow a normal distribution: two thirds are within one standard deviation of the mean', () => {
  const keys = many((random) => gaussianKey(600, random));
  assert.ok(keys.every((key) => Number.isInteger(key) && key >= 0 && key < 600));
  const within = shareOf(keys, (key) => Math.abs(key - 300) < 100);
  assert.ok(within > 0.66 && within < 0.71, `${within}`);
  assert.ok(shareOf(keys, (key) => key < 300) > 0.48);
});

test('value sizes are uniformly distributed, both ends included', () => {
  const sizes = many((random) => valueBytes({ ...PUBLISHED_MIX, leastBytes: 3, mostBytes: 6 }, random));
  for (const size of [3, 4, 5, 6]) assert.ok(Math.abs(shareOf(sizes, (one) => one === size) - 0.25) < 0.02, `${size}`);
});

test('a fill sets every key once, with values of the requested sizes', () => {
  const commands = [...fillCommands({ keys: 50, leastBytes: 10, mostBytes: 20 }, createRandom(1).next)];
  assert.equal(new Set(commands.map(([, key]) => String(key))).size, 50);
  assert.ok(commands.every(([name, , value]) => name === 'SET' && Buffer.byteLength(value ?? '') >= 10));
  assert.ok(commands.every(([, , value]) => Buffer.byteLength(value ?? '') <= 20));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { seededRandom } from '../../loadtest/random.ts';
import { createPopularity, type Popularity } from '../../src/popularity/popularity.ts';
import { createFakeClock } from '../fakes/clock.ts';

const HALF_LIFE_MS = 64_000;

function start(maxQueries: number) {
  const clock = createFakeClock();
  return { clock, popularity: createPopularity<string>({ maxQueries, halfLifeMs: HALF_LIFE_MS, clock }) };
}

const keysOf = (popularity: Popularity<string>, n: number): string =>
  popularity
    .top(n)
    .map(({ key }) => key)
    .join('');

test('while there is room every count is exact, in descending order, with the item of the first note', () => {
  const { popularity } = start(10);
  for (const key of 'abcbcc') popularity.note(key, `item ${key}`);
  popularity.note('c', 'another item');
  assert.deepEqual(popularity.top(2), [
    { key: 'c', item: 'item c', count: 4, error: 0 },
    { key: 'b', item: 'item b', count: 2, error: 0 },
  ]);
  assert.deepEqual([popularity.size(), popularity.top(99).length, popularity.top(0).length], [3, 3, 0]);
  popularity.note('d', 'd');
  assert.equal(popularity.top(3).length, 3, 'one of two equal counts is returned');
});

test('a new key replaces the one with the lowest count, and its error is the inherited count', () => {
  const { popularity } = start(3);
  for (const key of 'aaabbc') popularity.note(key, key);
  popularity.note('d', 'd');
  assert.deepEqual(popularity.top(3).at(-1), { key: 'd', item: 'd', count: 2, error: 1 });
  assert.equal(keysOf(popularity, 3), 'abd');
});

test('a key that was noted again is not replaced before one that was not', () => {
  const { popularity } = start(4);
  for (const key of 'abcd') popularity.note(key, key);
  for (const key of 'aab') popularity.note(key, key);
  popularity.note('e', 'e');
  popularity.note('f', 'f');
  assert.deepEqual([...keysOf(popularity, 4)].sort().join(''), 'abef');
  for (const key of 'eeeffff') popularity.note(key, key);
  popularity.note('g', 'g');
  assert.deepEqual([...keysOf(popularity, 4)].sort().join(''), 'aefg', 'b had the lowest count, two');
});

test('in any stream count − error ≤ true count ≤ count, and every key above total ÷ maxQueries is tracked', () => {
  const stream = fc.array(
    fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 12 }), fc.nat({ max: 200 })).map((number) => `k${number}`),
    { maxLength: 600 },
  );
  fc.assert(
    fc.property(stream, fc.integer({ min: 1, max: 20 }), (keys, maxQueries) => {
      const { popularity } = start(maxQueries);
      const counts = new Map<string, number>();
      for (const key of keys) {
        popularity.note(key, key);
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      const top = popularity.top(maxQueries);
      assert.equal(top.length, Math.min(maxQueries, counts.size));
      assert.equal(
        top.reduce((sum, { count }) => sum + count, 0),
        keys.length,
        'a replaced key passes its count on',
      );
      for (const { key, count, error } of top) {
        const truth = counts.get(key) ?? 0;
        assert.ok(count - error <= truth && truth <= count, `${key}: ${count} − ${error}, true count ${truth}`);
      }
      const held = new Set(top.map(({ key }) => key));
      for (const [key, count] of counts) assert.ok(count <= keys.length / maxQueries || held.has(key), key);
    }),
    { numRuns: 400 },
  );
});

test('the same holds for decayed counts', () => {
  const random = seededRandom(5);
  const { popularity, clock } = start(50);
  const counts = new Map<string, number>();
  let total = 0;
  for (let second = 0; second < 500; second += 1) {
    popularity.top(1);
    for (let i = 0; i < 10; i += 1) {
      const key = `k${Math.floor(400 * random() ** 4)}`;
      popularity.note(key, key);
      counts.set(key, (counts.get(key) ?? 0) + 1);
      total += 1;
    }
    clock.advance(1000);
    for (const [key, count] of counts) counts.set(key, count * 2 ** (-1 / 64));
    total *= 2 ** (-1 / 64);
  }
  const top = popularity.top(50);
  for (const { key, count, error } of top) {
    const truth = counts.get(key) ?? 0;
    assert.ok(
      count - error <= truth * 1.000_001 && truth <= count * 1.000_001,
      `${key}: ${count} − ${error}, ${truth}`,
    );
  }
  const sum = top.reduce((before, { count }) => before + count, 0);
  assert.ok(Math.abs(sum / total - 1) < 1e-9, 'a replaced key passes its count on');
  const held = new Set(top.map(({ key }) => key));
  for (const [key, count] of counts) assert.ok(count <= total / 50 || held.has(key), key);
  assert.ok([...counts.values()].filter((count) => count > total / 50).length >= 3, 'the stream has popular keys');
});

test('a count halves with every half-life, and old keys are replaced', () => {
  const { popularity, clock } = start(5);
  for (let i = 0; i < 100; i += 1) popularity.note('old', 'old');
  clock.advance(HALF_LIFE_MS);
  assert.equal(popularity.top(1)[0]?.count, 50);
  clock.advance(9 * HALF_LIFE_MS);
  popularity.top(1);
  popularity.note('new', 'new');
  assert.deepEqual(
    popularity.top(2).map(({ key }) => key),
    ['new', 'old'],
  );
  for (const key of ['a', 'b', 'c', 'd']) popularity.note(key, key);
  assert.equal(popularity.size(), 5);
  assert.ok(popularity.top(5).every(({ key }) => key !== 'old'));
});

test('an error decays with its count, and parts of a decay step add up', () => {
  const { popularity, clock } = start(1);
  for (const key of 'aaab') popularity.note(key, key);
  for (let look = 0; look < 80; look += 1) {
    clock.advance(HALF_LIFE_MS / 80);
    popularity.top(1);
  }
  const [only] = popularity.top(1);
  assert.ok(only !== undefined && Math.abs(only.count - 2) < 1e-9 && Math.abs(only.error - 1.5) < 1e-9);
});

test('counts decay without calls of top', () => {
  const { popularity, clock } = start(2);
  for (let i = 0; i < 1600; i += 1) popularity.note('old', 'old');
  for (let minute = 0; minute < 60; minute += 1) {
    clock.advance(HALF_LIFE_MS);
    for (let i = 0; i < 16; i += 1) popularity.note('new', 'new');
  }
  const [first, second] = popularity.top(2);
  assert.equal(first?.key, 'new');
  assert.ok((second?.count ?? 1) < 1e-9);
});

test('it works after a year of silence', () => {
  const { popularity, clock } = start(3);
  for (const key of 'aabbcd') popularity.note(key, key);
  clock.advance(365 * 86_400_000);
  popularity.top(3);
  for (const key of 'xxxyyz') popularity.note(key, key);
  assert.deepEqual(
    popularity.top(3).map(({ key, count, error }) => [key, count, error]),
    [
      ['x', 3, 0],
      ['y', 2, 0],
      ['z', 1, 0],
    ],
  );
});

test('it never tracks more than maxQueries keys, and finds popular keys among 100,000 that occur once', () => {
  const { popularity } = start(100);
  for (let i = 0; i < 100_000; i += 1) {
    popularity.note(`once${i}`, '');
    if (i % 12 === 0) popularity.note(`hot${(i / 12) % 5}`, '');
  }
  assert.equal(popularity.size(), 100);
  assert.match(keysOf(popularity, 5), /^(hot\d){5}$/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createPopularity } from '../../src/popularity/popularity.ts';
import { createFakeClock } from '../fakes/clock.ts';

const HALF_LIFE_MS = 64_000;

function start(maxQueries: number) {
  const clock = createFakeClock();
  return { clock, popularity: createPopularity<string>({ maxQueries, halfLifeMs: HALF_LIFE_MS, clock }) };
}

test('a drain gives the most notes since the last one, and the other queries keep theirs', () => {
  const { popularity } = start(10);
  for (const key of 'abbccc') popularity.note(key, `item ${key}`);
  assert.deepEqual(popularity.drain(2), [
    { key: 'c', item: 'item c', notes: 3 },
    { key: 'b', item: 'item b', notes: 2 },
  ]);
  popularity.note('c', 'c');
  popularity.note('a', 'a');
  assert.deepEqual(
    popularity.drain(9).map(({ key, notes }) => [key, notes]),
    [
      ['a', 2],
      ['c', 1],
    ],
  );
  assert.deepEqual([popularity.drain(9), popularity.drain(0)], [[], []]);
});

test('decay does not change notes: after an hour of silence a drain gives nothing, and one note gives one', () => {
  const { popularity, clock } = start(10);
  for (let i = 0; i < 100; i += 1) popularity.note('a', 'a');
  popularity.drain(9);
  clock.advance(60 * HALF_LIFE_MS);
  popularity.top(1);
  assert.deepEqual(popularity.drain(9), []);
  popularity.note('a', 'a');
  assert.deepEqual(popularity.drain(9), [{ key: 'a', item: 'a', notes: 1 }]);
});

test('a key that replaces another does not inherit its notes, and a key that returns starts from zero', () => {
  const { popularity } = start(1);
  for (const key of 'aaab') popularity.note(key, key);
  assert.deepEqual(popularity.drain(9), [{ key: 'b', item: 'b', notes: 1 }]);
  for (const key of 'aba') popularity.note(key, key);
  assert.deepEqual(popularity.drain(9), [{ key: 'a', item: 'a', notes: 1 }]);
});

test('in any stream with room for all keys the drained notes add up to all notes', () => {
  const step = fc.oneof(fc.nat({ max: 9 }), fc.constantFrom('drain', 'wait'));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 5 }), (steps, n) => {
      const { popularity, clock } = start(10);
      const noted = new Map<string, number>();
      const drained = new Map<string, number>();
      const count = (into: Map<string, number>, key: string, more: number) =>
        into.set(key, (into.get(key) ?? 0) + more);
      const drain = (most: number): void => {
        const found = popularity.drain(most);
        assert.ok(found.length <= most);
        for (const { key, notes } of found) count(drained, key, notes);
      };
      for (const each of steps) {
        if (each === 'drain') drain(n);
        else if (each === 'wait') clock.advance(HALF_LIFE_MS);
        else {
          popularity.note(`${each}`, '');
          count(noted, `${each}`, 1);
        }
      }
      drain(10);
      assert.deepEqual([...drained].sort(), [...noted].sort());
    }),
    { numRuns: 300 },
  );
});

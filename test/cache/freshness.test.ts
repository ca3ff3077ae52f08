import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../loadtest/random.ts';
import { freshnessOf, lifetimesOf, remainingMs, storedForMs } from '../../src/cache/entry.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';

const policy = {
  ttlMs: 300_000,
  staleWhileRevalidateMs: 60_000,
  staleIfErrorMs: 3_600_000,
  emptyTtlMs: 30_000,
  degradedTtlMs: 5_000,
  jitter: 0.1,
};

test('an entry is fresh, then stale, then stale-if-error, then expired', () => {
  const clock = createFakeClock();
  const entry = entryOf(clock, { freshForMs: 100, revalidateForMs: 50, errorForMs: 500 });
  const seen: string[] = [];
  for (let age = 0; age <= 700; age += 1) {
    const state = freshnessOf(entry, clock.monotonicMs());
    if (seen.at(-1)?.split(' ')[0] !== state) seen.push(`${state} from ${age}`);
    clock.advance(1);
  }
  assert.deepEqual(seen, ['fresh from 0', 'stale from 100', 'stale-if-error from 150', 'expired from 600']);
});

test('a stepped wall clock changes no age', () => {
  const clock = createFakeClock();
  const entry = entryOf(clock, { freshForMs: 100 });
  clock.stepWall(3_600_000);
  assert.equal(freshnessOf(entry, clock.monotonicMs()), 'fresh');
  clock.stepWall(-7_200_000);
  clock.advance(101);
  assert.equal(freshnessOf(entry, clock.monotonicMs()), 'stale');
  assert.equal(remainingMs(entry, clock.monotonicMs()), -1);
});

test('the time to live in a store ends with the longest window, and is at least a millisecond', () => {
  const clock = createFakeClock();
  const entry = entryOf(clock, { freshForMs: 100, revalidateForMs: 50, errorForMs: 500 });
  clock.advance(40);
  assert.equal(storedForMs(entry, clock.monotonicMs()), 560);
  clock.advance(10_000);
  assert.equal(storedForMs(entry, clock.monotonicMs()), 1);
});

test('lifetimes are spread by the jitter and no further', () => {
  const random = seededRandom(7);
  const seen = Array.from(
    { length: 1000 },
    () => lifetimesOf({ empty: false, degraded: false }, policy, random).freshForMs,
  );
  assert.ok(Math.min(...seen) >= 270_000 && Math.max(...seen) <= 330_000);
  assert.ok(Math.max(...seen) - Math.min(...seen) > 50_000);
});

test('empty pages have a short life, degraded pages a shorter one without stale windows', () => {
  const empty = lifetimesOf({ empty: true, degraded: false }, policy, () => 0.5);
  assert.deepEqual(empty, { freshForMs: 30_000, revalidateForMs: 30_000, errorForMs: 3_600_000 });
  const degraded = lifetimesOf({ empty: false, degraded: true }, policy, () => 0.9);
  assert.deepEqual(degraded, { freshForMs: 5_000, revalidateForMs: 0, errorForMs: 0 });
});

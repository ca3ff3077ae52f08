import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { freshnessFields } from '../../src/http/freshness.ts';
import type { Answer } from '../../src/search/answer.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';

const clock = createFakeClock();
const answer = (remainingMs: number, parts: Partial<Answer> = {}): Answer => ({
  entry: entryOf(clock, { revalidateForMs: 60_000, errorForMs: 3_600_000 }),
  outcome: 'hit-l1',
  remainingMs,
  l1: { kind: 'hit' },
  timings: {},
  ...parts,
});

test('an answer with plenty of life may be kept for the whole client max-age', () => {
  assert.deepEqual(freshnessFields(answer(287_000), 30_000), {
    cacheControl: 'public, max-age=30, stale-while-revalidate=30, stale-if-error=3600',
    age: 0,
  });
});

test('max-age minus Age never promises more than is left', () => {
  fc.assert(
    fc.property(fc.integer({ min: -4e6, max: 4e6 }), fc.integer({ min: 0, max: 600 }), (remainingMs, maxAge) => {
      const { age } = freshnessFields(answer(remainingMs), maxAge * 1000);
      assert.ok(Number.isInteger(age) && age >= 0);
      const kept = maxAge - age;
      assert.ok(kept * 1000 <= Math.max(remainingMs, 0) || kept <= 0, `${kept} s of ${remainingMs} ms`);
      if (remainingMs >= maxAge * 1000) assert.equal(age, 0);
    }),
  );
});

test('a stale answer is older than its max-age, so that downstream asks again', () => {
  assert.equal(freshnessFields(answer(-12_000), 30_000).age, 42);
});

test('degraded and lifeboat answers are not stored downstream', () => {
  const degraded = entryOf(clock, { degraded: true });
  assert.equal(freshnessFields(answer(5000, { entry: degraded }), 30_000).cacheControl, 'no-store');
  assert.equal(freshnessFields(answer(5000, { outcome: 'lifeboat' }), 30_000).cacheControl, 'no-store');
});

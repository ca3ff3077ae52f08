import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { freshnessFields } from '../../src/http/search-api/response-headers.ts';
import type { Answer } from '../../src/search/answer.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';

const clock = createFakeClock();
const FRESH_MS = 300_000;
/** An answer of the given age, with the life that its entry then has left. */
const answerAt = (ageMs: number, parts: Partial<Answer> = {}): Parameters<typeof freshnessFields> => {
  const entry = parts.entry ?? entryOf(clock, { freshForMs: FRESH_MS, revalidateForMs: 60_000, errorForMs: 3_600_000 });
  const answer: Answer = {
    entry,
    outcome: 'hit-l1',
    remainingMs: entry.freshForMs - ageMs,
    l1: { kind: 'hit' },
    timings: {},
    ...parts,
  };
  return [answer, { clientMaxAgeMs: 30_000, nowMs: entry.bornMs + ageMs }];
};
const maxAgeOf = ({ cacheControl }: { readonly cacheControl: string }): number =>
  Number(/max-age=(\d+)/.exec(cacheControl)?.[1] ?? assert.fail(cacheControl));

test('a page just computed has Age 0 and may be kept for the whole client max-age', () => {
  assert.deepEqual(freshnessFields(...answerAt(35)), {
    cacheControl: 'public, max-age=30, stale-while-revalidate=30, stale-if-error=3600',
    age: 0,
  });
});

test('a hit says how old its page is, and may be kept for the client max-age from now', () => {
  assert.deepEqual(freshnessFields(...answerAt(13_000)), {
    cacheControl: 'public, max-age=43, stale-while-revalidate=30, stale-if-error=3600',
    age: 13,
  });
});

test('a page near its end may be kept until its end only', () => {
  const fields = freshnessFields(...answerAt(FRESH_MS - 7500));
  assert.deepEqual([fields.age, maxAgeOf(fields)], [292, 299]);
});

test('Age is the age, and max-age minus Age never promises more than is left', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4e6 }), fc.integer({ min: 0, max: 600 }), (ageMs, clientMaxAge) => {
      const [answer, options] = answerAt(ageMs);
      const fields = freshnessFields(answer, { ...options, clientMaxAgeMs: clientMaxAge * 1000 });
      assert.equal(fields.age, Math.floor(ageMs / 1000));
      const kept = maxAgeOf(fields) - fields.age;
      assert.ok(kept <= clientMaxAge && kept * 1000 <= Math.max(answer.remainingMs, 0), `${kept} s`);
      if (answer.remainingMs < 0) assert.ok(fields.age === 0 || kept < 0, `${kept} s of a stale page`);
    }),
  );
});

test('a stale answer is older than its max-age by the time it has been stale, so that downstream asks again', () => {
  const fields = freshnessFields(...answerAt(FRESH_MS + 12_000));
  assert.deepEqual([fields.age, maxAgeOf(fields)], [312, 300]);
});

test('an entry that a flush has outdated is not fresh downstream, however young it is', () => {
  for (const [ageMs, kept] of [
    [400, 0],
    [5000, -1],
  ] as const) {
    const fields = freshnessFields(...answerAt(ageMs, { outcome: 'stale', remainingMs: -1 }));
    assert.equal(maxAgeOf(fields) - fields.age, kept);
  }
});

test('degraded and lifeboat answers are not stored downstream', () => {
  const degraded = entryOf(clock, { degraded: true });
  assert.equal(freshnessFields(...answerAt(5000, { entry: degraded })).cacheControl, 'no-store');
  assert.equal(freshnessFields(...answerAt(5000, { outcome: 'lifeboat' })).cacheControl, 'no-store');
});

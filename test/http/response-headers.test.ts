import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Coding, Entry } from '../../src/cache/entry.ts';
import {
  ageSeconds,
  cacheControl,
  cacheStatus,
  createHitHeads,
  noHeads,
} from '../../src/http/search-api/response-headers.ts';
import { type Answer, answerOf } from '../../src/search/read-path.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';

const clock = createFakeClock();
const FRESH_MS = 300_000;
/** `Cache-Control` and `Age` of an answer. */
function freshnessFields(...[answer, context]: Parameters<typeof cacheControl>) {
  return { cacheControl: cacheControl(answer, context), age: ageSeconds(answer.entry, context.nowMs) };
}

/** An answer of the given age, whose entry has the rest of its life left. */
const answerAt = (ageMs: number, parts: Partial<Answer> = {}): Parameters<typeof cacheControl> => {
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

test('a new page has Age 0 and may be kept for the whole client max-age', () => {
  assert.deepEqual(freshnessFields(...answerAt(35)), {
    cacheControl: 'public, max-age=30, stale-while-revalidate=30, stale-if-error=30',
    age: 0,
  });
});

test('a hit shows the age of its page, and may be kept for the client max-age from now', () => {
  assert.deepEqual(freshnessFields(...answerAt(13_000)), {
    cacheControl: 'public, max-age=43, stale-while-revalidate=30, stale-if-error=30',
    age: 13,
  });
});

test('a page near its expiry may be kept only until its expiry', () => {
  const fields = freshnessFields(...answerAt(FRESH_MS - 7500));
  assert.deepEqual([fields.age, maxAgeOf(fields)], [292, 299]);
});

test('Age is the age of the page, and max-age − Age never exceeds the remaining life', () => {
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

test('the Age of a stale answer exceeds its max-age, so that caches downstream ask again', () => {
  const fields = freshnessFields(...answerAt(FRESH_MS + 12_000));
  assert.deepEqual([fields.age, maxAgeOf(fields)], [312, 300]);
});

test('a flushed entry is not fresh downstream, however young it is', () => {
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

const entry = entryOf(createFakeClock());
const status = (parts: Partial<Answer>): string =>
  cacheStatus({ entry, outcome: 'engine', remainingMs: 287_900, l1: { kind: 'hit' }, timings: {}, ...parts });

test('an L1 hit shows its remaining fresh time in whole seconds', () => {
  assert.equal(status({}), 'serpcache-l1; hit; ttl=287');
});

test('the member nearest the origin comes first', () => {
  assert.equal(
    status({ l2: { kind: 'hit' }, l1: { kind: 'forward', why: 'uri-miss' } }),
    'serpcache-l2; hit; ttl=287, serpcache-l1; fwd=uri-miss',
  );
});

test('a miss shows whether it was stored or collapsed, and the reason of the miss', () => {
  const missed = { kind: 'forward', why: 'uri-miss', stored: true } as const;
  assert.equal(
    status({ l2: { ...missed, detail: 'unseen' }, l1: { ...missed, collapsed: true } }),
    'serpcache-l2; fwd=uri-miss; stored; detail=unseen, serpcache-l1; fwd=uri-miss; stored; collapsed',
  );
});

test('a stale hit has a negative ttl from the first moment', () => {
  assert.equal(status({ remainingMs: -200 }), 'serpcache-l1; hit; ttl=-1');
  assert.equal(status({ remainingMs: -12_000 }), 'serpcache-l1; hit; ttl=-12');
});

test('a stale page after a failure names the status of the failed engine call', () => {
  assert.equal(
    status({ l1: { kind: 'forward', why: 'stale', forwardStatus: 504 }, remainingMs: -12_000 }),
    'serpcache-l1; fwd=stale; fwd-status=504',
  );
});

test('the head of a hit is kept from its second answer of a second on, and made again for another entry or second', () => {
  const one = entryOf(clock, { freshForMs: FRESH_MS });
  const other = entryOf(clock, { freshForMs: FRESH_MS, body: Buffer.from('b'), etag: 'b' });
  const hitHead = createHitHeads();
  const target = noHeads();
  const made: string[] = [];
  const ask = (entry: Entry, nowMs: number, status: 200 | 304 = 200, coding: Coding = 'identity') => {
    const answer = answerOf(entry, 'hit-l1', nowMs, { l1: { kind: 'hit' } });
    return hitHead(target, answer, nowMs, { coding, status }, () => {
      made.push(entry.etag);
      return ['age', String(made.length), 'x-request-id', ''];
    });
  };
  const nowMs = one.bornMs + 5000;
  assert.equal(ask(one, nowMs).isKept, false);
  const kept = ask(one, nowMs + 1);
  assert.deepEqual([kept.isKept, kept.ownAt], [true, 3]);
  assert.equal(ask(one, nowMs + 500), kept);
  assert.notEqual(ask(one, nowMs + 500, 304), kept);
  assert.notEqual(ask(one, nowMs + 500, 200, 'zstd'), kept);
  assert.equal(ask(one, nowMs + 500), kept, 'a head for each coding and status');
  const changed = ask(other, nowMs + 501);
  assert.notEqual(changed, kept);
  assert.equal(ask(other, nowMs + 502), changed);
  assert.equal(ask(other, nowMs + 1600).isKept, false, 'the first of the next second');
  assert.equal(made.length, 6);
});

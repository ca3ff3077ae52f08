import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createTokenBuckets, type TokenBuckets } from '../../src/http/transport/token-bucket.ts';
import { createFakeClock } from '../fakes/clock.ts';

test('a new bucket is full, and then refills at its rate', () => {
  const { buckets, clock } = start({ perMinute: 60, burst: 5 });
  assert.equal(take(buckets, 'a', 10), 5);
  clock.advance(999);
  assert.equal(take(buckets, 'a', 10), 0);
  clock.advance(1);
  assert.equal(take(buckets, 'a', 10), 1);
  clock.advance(3500);
  assert.equal(take(buckets, 'a', 10), 3);
  clock.advance(500);
  assert.equal(take(buckets, 'a', 10), 1, 'half a token was kept');
  clock.advance(3_600_000);
  assert.equal(take(buckets, 'a', 10), 5, 'a bucket holds no more than its burst');
});

test('a request to an empty bucket does not delay its next token', () => {
  const { buckets, clock } = start({ perMinute: 60, burst: 1 });
  take(buckets, 'a', 1);
  let allowed = 0;
  for (let i = 0; i < 1000; i += 1) {
    clock.advance(7);
    allowed += take(buckets, 'a', 1);
  }
  assert.ok(allowed === 6 || allowed === 7, String(allowed));
});

test('each key has a bucket of its own', () => {
  const { buckets } = start({ burst: 3 });
  assert.deepEqual([take(buckets, 'a', 9), take(buckets, 'b', 9)], [3, 3]);
});

test('a refunded token can be taken again, and a refund does not exceed the burst', () => {
  const { buckets } = start({ burst: 3 });
  take(buckets, 'a', 3);
  buckets.refund('a', 2);
  assert.equal(take(buckets, 'a', 9), 2);
  buckets.refund('a', 100);
  assert.equal(take(buckets, 'a', 9), 3);
});

test('the least recently used bucket is dropped, and one in use never', () => {
  const { buckets } = start({ burst: 2, maxKeys: 3 });
  assert.equal(take(buckets, 'busy', 9), 2);
  take(buckets, 'quiet', 9);
  for (let i = 0; i < 100; i += 1) {
    buckets.take(`other ${i}`);
    assert.equal(buckets.take('busy'), false);
  }
  assert.equal(take(buckets, 'quiet', 9), 2);
});

test('at any pace a key gets at most its burst and its rate', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1000 }),
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.tuple(fc.integer({ min: 0, max: 5000 }), fc.integer({ min: 1, max: 20 })), { maxLength: 60 }),
      (perMinute, burst, steps) => {
        const { buckets, clock } = start({ perMinute, burst });
        let [elapsedMs, allowed] = [0, 0];
        for (const [ms, asks] of steps) {
          clock.advance(ms);
          elapsedMs += ms;
          allowed += take(buckets, 'a', asks);
        }
        assert.ok(allowed <= burst + (elapsedMs * perMinute) / 60_000 + 1e-6);
      },
    ),
  );
});

function start(options: { perMinute?: number; burst?: number; maxKeys?: number }) {
  const clock = createFakeClock();
  return { clock, buckets: createTokenBuckets({ perMinute: 60, burst: 10, maxKeys: 1000, clock, ...options }) };
}

/** Asks for this number of tokens and returns the number that was given. */
function take(buckets: TokenBuckets, key: string, tokens: number): number {
  return Array.from({ length: tokens }, () => buckets.take(key)).filter(Boolean).length;
}

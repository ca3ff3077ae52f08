import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  distinctKeys,
  exponentFor,
  hitRatioOf,
  memoryRatioOf,
  refillMs,
  zipfGroups,
} from '../../../src/operations/capacity/popularity.ts';

const keys = fc.integer({ min: 1, max: 1e6 });
const exponent = fc.double({ min: 0.1, max: 2, noNaN: true });
const rate = fc.double({ min: 1, max: 1e5, noNaN: true });
const ttlMs = fc.integer({ min: 1000, max: 1e7 });
const RUNS = { numRuns: 40 };

test('groups hold every key once, and their shares sum to one', () => {
  fc.assert(
    fc.property(keys, exponent, (count, skew) => {
      const groups = zipfGroups(count, skew);
      assert.equal(
        groups.reduce((sum, group) => sum + group.keys, 0),
        count,
      );
      assert.ok(Math.abs(groups.reduce((sum, group) => sum + group.keys * group.share, 0) - 1) < 1e-9);
      assert.ok(groups.length < 700);
    }),
    RUNS,
  );
});

test('groups change a sum over single keys by less than a thousandth', () => {
  const [count, skew, perSecond] = [20_000, 1, 500];
  const weights = Array.from({ length: count }, (_, at) => (at + 1) ** -skew);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const exact = weights.reduce((sum, weight) => {
    const share = weight / total;
    return sum + (share * perSecond * share * 60) / (1 + perSecond * share * 60);
  }, 0);
  const grouped = hitRatioOf({ groups: zipfGroups(count, skew), rate: perSecond }, 60_000);
  assert.ok(Math.abs(grouped / exact - 1) < 1e-3, `${grouped} beside ${exact}`);
});

test('the published example is repeated: 2,000,000 keys, 2,000 searches a second, an hour', () => {
  const traffic = { groups: zipfGroups(2e6, 1), rate: 2000 };
  assert.equal(hitRatioOf(traffic, 3_600_000).toFixed(3), '0.891');
  const load = 2000 * (1 - hitRatioOf(traffic, 3_600_000));
  assert.equal((distinctKeys(traffic, 1) / load).toFixed(1), '6.1');
});

test('the hit ratio grows with the life of a page, and the exponent is found from it again', () => {
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 1e6 }), exponent, rate, ttlMs, (count, skew, perSecond, lifeMs) => {
      const traffic = { groups: zipfGroups(count, skew), rate: perSecond };
      const ratio = hitRatioOf(traffic, lifeMs);
      assert.ok(ratio > 0 && ratio < 1);
      assert.ok(hitRatioOf(traffic, 2 * lifeMs) > ratio);
      const found = exponentFor(count, perSecond, lifeMs, ratio);
      assert.ok(found !== undefined);
      const again = hitRatioOf({ groups: zipfGroups(count, found), rate: perSecond }, lifeMs);
      assert.ok(Math.abs(again - ratio) < 1e-6);
    }),
    RUNS,
  );
});

test('a hit ratio below that of equally popular keys has no exponent', () => {
  assert.equal(exponentFor(100, 1000, 60_000, 0.5), undefined);
});

test('L1 answers no more than the cache, less with more processes, and nothing without room', () => {
  fc.assert(
    fc.property(keys, exponent, rate, ttlMs, fc.integer({ min: 1, max: 50 }), (count, skew, perSecond, lifeMs, n) => {
      const traffic = { groups: zipfGroups(count, skew), rate: perSecond };
      const fitting = Number.POSITIVE_INFINITY;
      const ratio = memoryRatioOf(traffic, { ttlMs: lifeMs, processes: n, fitting });
      assert.ok(ratio <= hitRatioOf(traffic, lifeMs) + 1e-9);
      assert.ok(memoryRatioOf(traffic, { ttlMs: lifeMs, processes: n + 1, fitting }) <= ratio + 1e-9);
      assert.equal(memoryRatioOf(traffic, { ttlMs: lifeMs, processes: n, fitting: 0 }), 0);
    }),
    RUNS,
  );
});

test('an emptied cache asks for no more distinct keys than there are searches, or keys', () => {
  fc.assert(
    fc.property(keys, exponent, rate, (count, skew, perSecond) => {
      const distinct = distinctKeys({ groups: zipfGroups(count, skew), rate: perSecond }, 1);
      assert.ok(distinct <= perSecond * (1 + 1e-9) && distinct <= count * (1 + 1e-9));
    }),
    RUNS,
  );
});

test('a faster engine refills no later, and one below the steady load never', () => {
  const traffic = { groups: zipfGroups(10_000, 1), rate: 500 };
  const load = 500 * (1 - hitRatioOf(traffic, 300_000));
  const times = [1.6, 2, 3, 10].map((headroom) => refillMs(traffic, load, load * headroom, 300_000));
  for (const [at, time] of times.entries()) {
    assert.ok(time !== undefined && time > 0 && time <= (times[at - 1] ?? Number.POSITIVE_INFINITY), `${times}`);
  }
  assert.equal(refillMs(traffic, load, load / 10, 300_000), undefined);
});

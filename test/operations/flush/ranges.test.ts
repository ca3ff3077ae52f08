import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bucketsIn } from '../../../src/control/document.ts';
import { rangesOf } from '../../../src/operations/flush/create-flush.ts';
import { includesBucket } from '../../../src/operations/flush/preview.ts';

const fractions = fc.double({ min: 0, max: 1, minExcluded: true, noNaN: true });
const places = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test('a fraction is that share of the buckets, rounded up, in one range or two', () => {
  fc.assert(
    fc.property(fractions, places, (fraction, place) => {
      const ranges = rangesOf({ fraction }, () => place);
      const exact = fraction * 10_000;
      assert.ok(bucketsIn(ranges) >= exact - 1e-5 && bucketsIn(ranges) <= exact + 1);
      assert.ok(ranges.length <= 2);
      ranges.reduce((end, { from, to }) => {
        assert.ok(from >= end && to > from && to <= 10_000, JSON.stringify(ranges));
        return to;
      }, 0);
    }),
  );
});

test('the range begins at the given bucket and continues from the last bucket to the first', () => {
  fc.assert(
    fc.property(fractions, fc.integer({ min: 0, max: 9999 }), (fraction, from) => {
      const ranges = rangesOf({ fraction, from }, () => assert.fail('with a given bucket no random number is used'));
      const count = bucketsIn(ranges);
      assert.ok(includesBucket(ranges, from));
      assert.ok(includesBucket(ranges, (from + count - 1) % 10_000));
      if (count < 10_000) assert.ok(!includesBucket(ranges, (from + count) % 10_000));
    }),
  );
});

test('a larger share contains a smaller one that begins at the same bucket', () => {
  fc.assert(
    fc.property(fractions, fractions, fc.integer({ min: 0, max: 9999 }), (one, other, from) => {
      const small = rangesOf({ fraction: Math.min(one, other), from }, Math.random);
      const large = rangesOf({ fraction: Math.max(one, other), from }, Math.random);
      for (let bucket = 0; bucket < 10_000; bucket += 7) {
        if (includesBucket(small, bucket)) assert.ok(includesBucket(large, bucket));
      }
    }),
    { numRuns: 30 },
  );
});

test('each whole percentage has exactly its share of the buckets, without a rounding error', () => {
  for (let percent = 1; percent <= 100; percent += 1) {
    assert.equal(bucketsIn(rangesOf({ fraction: percent / 100, from: 5 }, Math.random)), percent * 100);
  }
});

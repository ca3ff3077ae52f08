import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { prune, purge, raiseFloors, raiseFreshFloors, suppress } from '../../src/control/changes.ts';
import {
  type ControlDocument,
  emptyDocument,
  MAX_GENERATION,
  MAX_PURGES,
  MAX_RANGES,
} from '../../src/control/document.ts';
import { pluck } from '../pluck.ts';
import { anyRange } from './random-document.ts';

const floorsAt = (document: ControlDocument, bucket: number): readonly [number, number] => {
  const range = document.ranges.find(({ from, to }) => from <= bucket && bucket < to);
  return [range?.floor ?? 1, range?.freshFloor ?? 1];
};
const flushes = fc.array(fc.tuple(fc.boolean(), fc.array(anyRange, { minLength: 1, maxLength: 3 })), { maxLength: 9 });

test('after any flushes the ranges give the same floors as a table of all buckets, and no adjacent ranges could be joined', () => {
  fc.assert(
    fc.property(flushes, (all) => {
      let document = emptyDocument;
      const table = Array.from({ length: 100 }, () => [1, 1] as [number, number]);
      for (const [isDrop, ranges] of all) {
        document = isDrop ? raiseFloors(document, ranges, 0) : raiseFreshFloors(document, ranges, 0);
        for (const { from, to } of ranges) {
          for (let at = from / 100; at < to / 100; at += 1) {
            table[at] = [isDrop ? document.generation : (table[at]?.[0] ?? 1), document.generation];
          }
        }
      }
      for (const [index, expected] of table.entries()) assert.deepEqual(floorsAt(document, index * 100), expected);
      for (const [index, range] of document.ranges.entries()) {
        const before = document.ranges[index - 1];
        if (before === undefined) continue;
        assert.ok(before.to <= range.from);
        const isSame = before.floor === range.floor && before.freshFloor === range.freshFloor;
        assert.ok(before.to < range.from || !isSame, 'adjacent ranges that could be joined');
      }
    }),
  );
});

const comb = (): ControlDocument => {
  let document = emptyDocument;
  for (let index = 0; index < MAX_RANGES; index += 1) {
    document = raiseFloors(document, [{ from: index * 200, to: index * 200 + 100 }], 0);
  }
  return document;
};

test('a flush beyond the maximum of ranges is refused, and a flush of the whole domain leaves one range', () => {
  const document = comb();
  assert.equal(document.ranges.length, MAX_RANGES);
  assert.throws(() => raiseFloors(document, [{ from: 9000, to: 9100 }], 0), { code: 'control-full' });
  assert.throws(() => raiseFreshFloors(document, [{ from: 50, to: 60 }], 0), { code: 'control-full' });
  assert.equal(raiseFloors(document, [{ from: 0, to: 6500 }], 0).ranges.length, 1);
  assert.equal(raiseFloors(document, [{ from: 0, to: 10_000 }], 0).ranges.length, 1);
});

test('no ranges, empty ranges and ranges outside the buckets are refused', () => {
  for (const ranges of [
    [],
    [{ from: 5, to: 5 }],
    [{ from: -1, to: 5 }],
    [{ from: 0, to: 10_001 }],
    [{ from: 0.5, to: 2 }],
  ]) {
    assert.throws(() => raiseFloors(emptyDocument, ranges, 0), { code: 'invalid-request' }, JSON.stringify(ranges));
  }
});

test('a text that is purged twice is one purge, and the list of purges is bounded', () => {
  let document = purge(purge(emptyDocument, 'shoes', 1), 'shoes', 2);
  assert.deepEqual(document.purges, [{ text: 'shoes', generation: 3, atMs: 2 }]);
  for (let index = 1; index < MAX_PURGES; index += 1) document = purge(document, `text ${index}`, 3);
  assert.throws(() => purge(document, 'one more', 4), { code: 'control-full' });
  assert.equal(purge(document, 'shoes', 4).purges.length, MAX_PURGES);
});

test('purges and ranges are pruned once all entries they affect have expired, with two clocks an hour wrong; suppressions are not', () => {
  const LIFE_MS = 600_000;
  const hourMs = 3_600_000;
  const flushed = raiseFloors(emptyDocument, [{ from: 0, to: 100 }], hourMs);
  const document = suppress(purge(flushed, 'shoes', 0), ['sold'], 0);
  assert.equal(prune(document, LIFE_MS + 2 * hourMs, LIFE_MS), document);
  const later = prune(document, LIFE_MS + 2 * hourMs + 1, LIFE_MS);
  assert.deepEqual([later.purges.length, later.ranges.length], [0, 1]);
  const latest = prune(document, LIFE_MS + 3 * hourMs + 1, LIFE_MS);
  assert.deepEqual([latest.ranges.length, latest.suppressed.length], [0, 1]);
  assert.equal(latest.generation, document.generation);
  assert.equal(raiseFloors(prune(comb(), 1e12, LIFE_MS), [{ from: 9000, to: 9100 }], 0).ranges.length, 1);
});

test('when all generations are used up, a change that needs one is refused', () => {
  const last = { ...emptyDocument, generation: MAX_GENERATION };
  for (const change of [
    () => raiseFloors(last, [{ from: 0, to: 1 }], 0),
    () => purge(last, 'x', 0),
    () => suppress(last, ['x'], 0),
  ]) {
    assert.throws(change, { code: 'control-full' });
  }
});

test('a drop of the whole domain removes the purges below it, in one flush or in parts', () => {
  const purged = purge(purge(emptyDocument, 'shoes', 1), 'hats', 1);
  assert.deepEqual(raiseFloors(purged, [{ from: 0, to: 10_000 }], 2).purges, []);
  const half = raiseFloors(purged, [{ from: 0, to: 5000 }], 2);
  assert.equal(half.purges.length, 2, 'they still hold in the other half');
  const between = purge(half, 'coats', 3);
  const whole = raiseFloors(between, [{ from: 5000, to: 10_000 }], 4);
  assert.deepEqual(pluck(whole.purges, 'text'), ['coats'], 'the first half was dropped before this purge');
});

test('a refresh, or a drop that leaves a gap, removes no purge', () => {
  const purged = purge(emptyDocument, 'shoes', 1);
  assert.equal(raiseFreshFloors(purged, [{ from: 0, to: 10_000 }], 2).purges.length, 1);
  assert.equal(raiseFloors(purged, [{ from: 0, to: 9999 }], 2).purges.length, 1);
  const stale = raiseFreshFloors(purged, [{ from: 0, to: 10_000 }], 2);
  assert.equal(raiseFloors(stale, [{ from: 1, to: 10_000 }], 3).purges.length, 1);
});

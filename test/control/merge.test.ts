import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { halt, lift, purge, raiseFloors, suppress, withInitialGeneration } from '../../src/control/changes.ts';
import {
  type ControlDocument,
  emptyDocument,
  type FlushRange,
  MAX_RANGES,
  type Placement,
} from '../../src/control/document.ts';
import { decodeDocument, encodeDocument } from '../../src/control/document-codec.ts';
import { compareHistories, merge, raiseAll } from '../../src/control/merge.ts';
import {
  beginShadow,
  changeShadow,
  commitCutOver,
  endShadow,
  prepareCutOver,
  settle,
} from '../../src/control/placement.ts';
import { plain } from '../plain.ts';
import { after, anySteps, type Step, storeRef } from './random-document.ts';

const bucket = (document: ControlDocument, at: number): FlushRange | undefined =>
  document.ranges.find(({ from, to }) => from <= at && at < to);
/** The order of purges and suppressions has no meaning. */
const contentOf = ({ revision: _revision, stamp: _stamp, line: _line, ...content }: ControlDocument) => ({
  ...content,
  purges: content.purges.toSorted((a, b) => a.text.localeCompare(b.text)),
  suppressed: content.suppressed.toSorted((a, b) => a.id.localeCompare(b.id)),
});
const everyBucket = Array.from({ length: 100 }, (_, index) => index * 100);
/** Independent histories begin in different seconds, or in the same. */
const beginning = fc.constantFrom(0, 1.7e12, 1.7e12 + 2000, 1.8e12);
const diverged = fc
  .tuple(anySteps, anySteps, anySteps, beginning, beginning)
  .map(([common, left, right, leftMs, rightMs]) => {
    const start = after(common, emptyDocument, 'c');
    return [
      after(left, withInitialGeneration(start, leftMs), 'l'),
      after(right, withInitialGeneration(start, rightMs), 'r'),
    ] as const;
  })
  .filter(([left, right]) => left.revision > 0 && right.revision > 0 && compareHistories(left, right) === 'diverged');

test('a merge is symmetric', () => {
  fc.assert(
    fc.property(diverged, ([left, right]) => {
      assert.deepEqual(merge(left, right, 'm'), merge(right, left, 'm'));
    }),
  );
});

test('a merge of documents with equal content keeps the content', () => {
  fc.assert(
    fc.property(anySteps, (steps) => {
      const document = after(steps);
      assert.equal(merge(document, document, 'm'), document);
      const merged = merge(document, { ...document, stamp: 'other' }, 'm');
      assert.deepEqual(plain(contentOf(merged)), plain(contentOf(document)));
    }),
  );
});

test('after a merge no floor is lower, and every purge, suppression and halt of either document holds', () => {
  fc.assert(
    fc.property(diverged, ([left, right]) => {
      const merged = merge(left, right, 'm');
      for (const side of [left, right]) {
        assert.ok(merged.generation >= side.generation);
        assert.ok(merged.revision > side.revision);
        for (const at of everyBucket) {
          assert.ok((bucket(merged, at)?.floor ?? 1) >= (bucket(side, at)?.floor ?? 1));
          assert.ok((bucket(merged, at)?.freshFloor ?? 1) >= (bucket(side, at)?.freshFloor ?? 1));
        }
        for (const { text, generation } of side.purges) {
          assert.ok(
            merged.purges.some((one) => one.text === text && one.generation >= generation),
            text,
          );
        }
        for (const { id, generation } of side.suppressed) {
          assert.ok(
            merged.suppressed.some((one) => one.id === id && one.generation >= generation),
            id,
          );
        }
        if (side.halted !== undefined) {
          assert.ok(merged.halted !== undefined && merged.overlay === undefined && merged.shadow === undefined);
          assert.notEqual(merged.placement?.phase, 'prepared');
        }
        const isKept = side.placement !== undefined && side.placement.phase !== 'prepared';
        if (isKept) assert.notEqual(merged.placement, undefined);
        assert.equal(compareHistories(side, merged), 'newer');
      }
    }),
  );
});

test('a merged document can be decoded', () => {
  fc.assert(
    fc.property(diverged, ([left, right]) => {
      const merged = merge(left, right, 'm');
      const decoded = decodeDocument(encodeDocument(merged), Date.now());
      assert.deepEqual(plain(decoded), plain({ kind: 'document', document: merged }));
    }),
  );
});

test('a purge or suppression of one history holds for entries of the other', () => {
  const steps: readonly Step[] = Array.from({ length: 30 }, (_, index) => (one) => purge(one, `old ${index}`, index));
  const old = after(steps, emptyDocument, 'old');
  const fresh = after(
    [(one) => purge(one, 'new', 99), (one) => suppress(one, ['sold'], 99), (one) => raiseFloors(one, [A], 99)],
    emptyDocument,
    'new',
  );
  const merged = merge(old, fresh, 'm');
  assert.equal(merged.generation, old.generation + 1);
  assert.deepEqual(
    [merged.purges.at(-1)?.text, merged.purges.at(-1)?.generation, merged.suppressed[0]?.generation],
    ['new', old.generation + 1, old.generation + 1],
  );
  assert.deepEqual(merged.ranges, [{ ...A, floor: old.generation + 1, freshFloor: old.generation + 1, atMs: 99 }]);
});

const A = { from: 100, to: 200 };

test('a flush that both documents hold is not raised', () => {
  const common = after([(one) => raiseFloors(one, [{ from: 0, to: 10_000 }], 1)]);
  const left = after([(one) => suppress(one, ['x'], 2), (one) => lift(one, ['x'])], common, 'l');
  const right = after([(one) => purge(one, 'y', 2)], common, 'r');
  assert.deepEqual(merge(left, right, 'm').ranges, common.ranges);
});

test('ranges beyond the maximum are joined, and no floor is lowered by it', () => {
  const comb = (offset: number, line: string): ControlDocument =>
    after(
      Array.from(
        { length: MAX_RANGES },
        (_, index): Step =>
          (one) => {
            const from = index * 300 + offset;
            return raiseFloors(one, [{ from, to: from + 100 }], index);
          },
      ),
      emptyDocument,
      line,
    );
  const [left, right] = [comb(0, 'l'), comb(150, 'r')];
  const merged = merge(left, right, 'm');
  assert.equal(left.ranges.length, MAX_RANGES);
  assert.ok(merged.ranges.length <= MAX_RANGES);
  for (const side of [left, right]) {
    for (const { from, floor } of side.ranges) assert.ok((bucket(merged, from)?.floor ?? 1) >= floor);
  }
  assert.equal(bucket(merged, 9900), undefined, 'outside all ranges nothing is flushed');
});

test('items with the same generation in two histories are raised above both', () => {
  const start = after([(one) => raiseFloors(one, [A], 1)]);
  const left = after([(one) => purge(one, 'hats', 2)], start, 'l');
  const right = after([(one) => suppress(one, ['sold'], 2)], start, 'r');
  assert.equal(left.generation, right.generation);
  const { generation, purges, suppressed } = merge(left, right, 'm');
  assert.deepEqual(
    [generation, purges[0]?.generation, suppressed[0]?.generation],
    [left.generation + 1, left.generation + 1, left.generation + 1],
  );
});

test('ranges that a merge joins are kept as long as the later of them', () => {
  for (const [leftMs, rightMs] of [
    [5, 9],
    [9, 5],
  ] as const) {
    const left = after([(one) => raiseFloors(one, [A], leftMs)], emptyDocument, 'l');
    const right = after([(one) => raiseFloors(one, [{ from: 200, to: 300 }], rightMs)], emptyDocument, 'r');
    assert.deepEqual(merge(left, right, 'm').ranges, [{ from: 100, to: 300, floor: 3, freshFloor: 3, atMs: 9 }]);
  }
});

test('purges beyond the maximum become a floor, which lowers no other and is kept as long as the latest purge', () => {
  const merged = raiseAll(
    [{ from: 0, to: 10, floor: 2, freshFloor: 9, atMs: 3 }],
    [
      { text: 'a', generation: 5, atMs: 8 },
      { text: 'b', generation: 4, atMs: 7 },
    ],
  );
  assert.deepEqual(merged, [
    { from: 0, to: 10, floor: 5, freshFloor: 9, atMs: 8 },
    { from: 10, to: 10_000, floor: 5, freshFloor: 5, atMs: 8 },
  ]);
});

const SHADOW = { id: 's', candidate: storeRef('new'), fraction: 0.1, reads: 1, by: 'somebody', atMs: 1, untilMs: 9000 };
const cutOver = (id: string, atMs: number) => ({ id, from: storeRef('old'), to: storeRef(id), by: 'somebody', atMs });
const preparedAs =
  (id: string, atMs: number): Step =>
  (one) =>
    prepareCutOver(one, cutOver(id, atMs));
const committedAs =
  (id: string, atMs: number): Step =>
  (one) =>
    commitCutOver(prepareCutOver(one, cutOver(id, atMs)), id, atMs);
const onPurge: Step = (one) => purge(one, 'y', 2);
const bothWays = (left: ControlDocument, right: ControlDocument): ControlDocument => {
  const merged = merge(left, right, 'm');
  assert.deepEqual(merge(right, left, 'm'), merged);
  return merged;
};

test('a shadow goes on as its last change made it when both documents hold it, and ends when one does not', () => {
  const common = after([(one) => beginShadow(one, SHADOW, 1)]);
  const wider = after([onPurge, (one) => changeShadow(one, 's', { fraction: 0.5 })], common, 'l');
  const other = after([onPurge], common, 'r');
  assert.deepEqual(bothWays(wider, other).shadow, { ...SHADOW, fraction: 0.5 });
  const ended = after([(one) => endShadow(one, 's')], common, 'e');
  assert.equal(bothWays(wider, ended).shadow, undefined);
  const second = after(
    [(one) => endShadow(one, 's'), (one) => beginShadow(one, { ...SHADOW, id: 't' }, 1)],
    common,
    't',
  );
  assert.equal(bothWays(wider, second).shadow, undefined);
});

test('a placement that only one document holds is kept', () => {
  const fresh = after([onPurge], emptyDocument, 'r');
  for (const step of [preparedAs('new', 5), committedAs('new', 5)]) {
    const placed = after([step], emptyDocument, 'l');
    assert.deepEqual(bothWays(placed, fresh).placement, placed.placement);
  }
});

test('two placements merge to the later one, and to the later phase of one cut-over', () => {
  const active = (left: Step, right: Step): readonly [string | undefined, Placement['phase'] | undefined] => {
    const { placement } = bothWays(after([left], emptyDocument, 'l'), after([right], emptyDocument, 'r'));
    return [placement?.active.name, placement?.phase];
  };
  assert.deepEqual(active(committedAs('a', 5), committedAs('b', 6)), ['b', 'committed']);
  assert.deepEqual(active(committedAs('a', 6), committedAs('b', 5)), ['a', 'committed']);
  assert.deepEqual(active(preparedAs('a', 5), committedAs('a', 6)), ['a', 'committed']);
  const settledAs: Step = (one) => settle(committedAs('a', 6)(one), 'a');
  assert.deepEqual(active(committedAs('a', 6), settledAs), ['a', 'settled']);
});

test('a halt in either document ends the shadow and cancels a prepared cut-over, which hides no committed one', () => {
  const stop: Step = (one) => halt(one, { reason: 'enough', by: 'somebody', atMs: 9 });
  const common = after([(one) => beginShadow(one, SHADOW, 1), preparedAs('new', 5)]);
  const merged = bothWays(after([stop], common, 'l'), after([onPurge], common, 'r'));
  assert.deepEqual([merged.shadow, merged.placement, merged.halted?.by], [undefined, undefined, 'somebody']);
  const committed = after([committedAs('a', 5)], emptyDocument, 'l');
  const prepared = after([preparedAs('b', 6)], emptyDocument, 'r');
  assert.equal(bothWays(committed, prepared).placement?.phase, 'prepared');
  const halted = after([stop], committed, 'h');
  assert.deepEqual(bothWays(halted, prepared).placement, committed.placement);
});

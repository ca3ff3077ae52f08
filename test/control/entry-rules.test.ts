import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Entry } from '../../src/cache/entry.ts';
import type { EntryVerdict } from '../../src/cache/invalidation.ts';
import { lift, purge, raiseFloors, raiseFreshFloors, suppress } from '../../src/control/changes.ts';
import { type ControlDocument, emptyDocument, type FlushMode, MAX_GENERATION } from '../../src/control/document.ts';
import { compileRules } from '../../src/control/entry-rules.ts';
import { merge } from '../../src/control/merge.ts';
import { beginOverlay, changeOverlay } from '../../src/control/overlay.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';
import { ASKED, WHOLE } from './harness.ts';
import { after, anySteps } from './random-document.ts';

const clock = createFakeClock();
const nowhere = (): undefined => undefined;
const nameOf = (bucket: number, text = 'shoes', storeName = 'sc1:goods:{x}') => ({
  storeName,
  bucket,
  request: { text },
});
const entryAt = (generation: number, ...resultIds: string[]): Entry => entryOf(clock, { generation, resultIds });
const judge = (document: ControlDocument, entry: Entry, bucket: number, text?: string): EntryVerdict =>
  compileRules(document, undefined, nowhere).judge(entry, nameOf(bucket, text));

test('a domain without changes serves every entry, and new entries carry generation 1', () => {
  const rules = compileRules(emptyDocument, undefined, nowhere);
  assert.equal(rules.generation(), 1);
  assert.equal(rules.judge(entryAt(1, 'a'), nameOf(0)), 'whole');
  assert.equal(rules.hides(), undefined);
});

test('a drop makes older entries in its ranges misses, exactly to the bucket', () => {
  const document = raiseFloors(emptyDocument, [{ from: 100, to: 200 }], 0);
  const verdicts = [99, 100, 199, 200].map((bucket) => judge(document, entryAt(1), bucket));
  assert.deepEqual(verdicts, ['whole', 'flushed', 'flushed', 'whole']);
  assert.equal(judge(document, entryAt(document.generation), 100), 'whole');
});

test('a refresh makes older entries outdated, and does not undo a drop', () => {
  const dropped = raiseFloors(emptyDocument, [{ from: 0, to: 100 }], 0);
  const document = raiseFreshFloors(dropped, WHOLE, 0, 'index 7');
  assert.equal(document.indexVersion, 'index 7');
  assert.equal(judge(document, entryAt(1), 50), 'flushed');
  assert.equal(judge(document, entryAt(2), 50), 'outdated');
  assert.equal(judge(document, entryAt(1), 500), 'outdated');
  assert.equal(judge(document, entryAt(3), 500), 'whole');
});

test('a purge flushes every older page of one text, where the text is known', () => {
  const document = purge(emptyDocument, 'red shoes', 0);
  assert.equal(judge(document, entryAt(1), 7, 'red shoes'), 'flushed');
  assert.equal(judge(document, entryAt(2), 7, 'red shoes'), 'whole');
  assert.equal(judge(document, entryAt(1), 7, 'red shoe'), 'whole');
  const rules = compileRules(document, undefined, nowhere);
  assert.equal(rules.judge(entryAt(1), { storeName: 'sc1:goods:{x}', bucket: 7 }), 'whole');
});

test('a suppressed document makes older pages misses and is hidden from new ones, until it is lifted', () => {
  const document = suppress(emptyDocument, ['sold', 'banned'], 0);
  assert.equal(judge(document, entryAt(1, 'a', 'sold'), 0), 'suppressed');
  assert.equal(judge(document, entryAt(1, 'a', 'b'), 0), 'whole');
  assert.equal(judge(document, entryAt(2, 'a', 'sold'), 0), 'whole', 'its process left the document out');
  const hides = compileRules(document, undefined, nowhere).hides();
  assert.deepEqual([hides?.('sold'), hides?.('banned'), hides?.('a')], [true, true, false]);
  const lifted = lift(document, ['sold', 'nobody']);
  assert.equal(judge(lifted, entryAt(1, 'sold'), 0), 'whole');
  assert.equal(compileRules(lift(lifted, ['banned']), undefined, nowhere).hides(), undefined);
});

test('with hundreds of suppressions a page is refused exactly when it holds one that is newer than the page', () => {
  const ids = Array.from({ length: 900 }, (_, index) => `${index}`);
  const document = suppress(suppress(emptyDocument, ids.slice(0, 450), 0), ids.slice(450), 0);
  for (let index = 0; index < 1800; index += 7) {
    const expected = index < 450 ? 'whole' : index < 900 ? 'suppressed' : 'whole';
    assert.equal(judge(document, entryAt(2, 'a', 'b', `${index}`), 0), expected, `${index}`);
  }
});

const begin = (mode: FlushMode, nodes?: readonly string[]): ControlDocument =>
  beginOverlay(emptyDocument, { ...ASKED, drill: 'd', mode, ranges: [], nodes });

test('a live drill drops or outdates the entries in its ranges, and no others', () => {
  for (const [mode, verdict] of [
    ['drop', 'flushed'],
    ['erase', 'flushed'],
    ['refresh', 'outdated'],
  ] as const) {
    const document = changeOverlay(begin(mode), 'd', { ranges: [{ from: 0, to: 9900 }] });
    const live = compileRules(document, document.overlay, nowhere);
    const [flushed, held] = [live.judge(entryAt(1), nameOf(0)), live.judge(entryAt(1), nameOf(9950))];
    assert.deepEqual([flushed, held], [verdict, 'whole'], mode);
    assert.equal(live.judge(entryAt(document.generation), nameOf(0)), 'whole');
    assert.equal(compileRules(document, undefined, nowhere).judge(entryAt(1), nameOf(0)), 'whole', 'ended');
  }
});

test('a stage flushes entries computed since the drill began, except in the buckets of earlier stages', () => {
  const first = changeOverlay(begin('drop'), 'd', {
    ranges: [
      { from: 9950, to: 10_000 },
      { from: 0, to: 50 },
    ],
  });
  const second = changeOverlay(first, 'd', {
    ranges: [
      { from: 9950, to: 10_000 },
      { from: 0, to: 500 },
    ],
  });
  assert.deepEqual(second.overlay?.ranges, [
    { from: 0, to: 50, floor: first.generation },
    { from: 50, to: 500, floor: second.generation },
    { from: 9950, to: 10_000, floor: first.generation },
  ]);
  const rules = compileRules(second, second.overlay, nowhere);
  const duringFirst = entryAt(first.generation);
  assert.deepEqual(
    [10, 100].map((bucket) => rules.judge(duringFirst, nameOf(bucket))),
    ['whole', 'flushed'],
  );
  const same = changeOverlay(second, 'd', { blackout: true });
  assert.deepEqual([same.generation, same.overlay?.ranges], [second.generation, second.overlay?.ranges]);
});

test('a drill of a node flushes the keys of that node, and of the next node after a change', () => {
  const locate = (storeName: string): string | undefined => (storeName.includes('b') ? 'b:6379' : 'a:6379');
  const onA = changeOverlay(begin('drop', ['a:6379']), 'd', { ranges: WHOLE });
  const onB = changeOverlay(onA, 'd', { nodes: ['b:6379'], ranges: WHOLE });
  const verdicts = (document: ControlDocument, entry: Entry) =>
    ['sc1:goods:{a}', 'sc1:goods:{b}'].map((name) =>
      compileRules(document, document.overlay, locate).judge(entry, nameOf(1, 'x', name)),
    );
  assert.deepEqual(verdicts(onA, entryAt(1)), ['flushed', 'whole']);
  assert.deepEqual(verdicts(onB, entryAt(onA.generation)), ['whole', 'flushed']);
  const everywhere = changeOverlay(onB, 'd', { nodes: undefined });
  assert.deepEqual([everywhere.overlay?.drill, everywhere.overlay?.nodes], ['d', undefined]);
  assert.deepEqual(verdicts(everywhere, entryAt(1)), ['flushed', 'flushed']);
});

test('a drill that refreshes a node makes its entries stale, and refuses none', () => {
  const locate = (storeName: string): string => (storeName.includes('b') ? 'b:6379' : 'a:6379');
  const document = changeOverlay(begin('refresh', ['a:6379']), 'd', { ranges: WHOLE });
  const rules = compileRules(document, document.overlay, locate);
  const verdicts = ['sc1:goods:{a}', 'sc1:goods:{b}'].map((name) => rules.judge(entryAt(1), nameOf(1, 'x', name)));
  assert.deepEqual(verdicts, ['outdated', 'whole']);
});

test('after any changes an entry of the current generation is whole, and a flushed one stays flushed', () => {
  fc.assert(
    fc.property(anySteps, fc.nat(9999), fc.integer({ min: 1, max: 12 }), (steps, bucket, generation) => {
      const document = after(steps);
      const rules = compileRules(document, document.overlay, nowhere);
      assert.equal(rules.judge(entryAt(document.generation, 'document 1'), nameOf(bucket, 'document 1')), 'whole');
      const more = raiseFreshFloors(raiseFloors(emptyDocument, WHOLE, 0), WHOLE, 0);
      assert.notEqual(judge(more, entryAt(1), bucket), 'whole');
      const entry = entryAt(Math.min(generation, document.generation), 'document 2');
      if (judge(document, entry, bucket) === 'flushed') {
        const later = raiseFreshFloors({ ...document, generation: document.generation }, [{ from: 0, to: 5000 }], 0);
        assert.equal(judge(later, entry, bucket), 'flushed');
      }
    }),
  );
});

const soldAt = (generation: number): Entry => entryAt(generation, 'sold');
const judgeSold = (document: ControlDocument, entry: Entry): EntryVerdict => judge(document, entry, 1);

const DECIDED: readonly (readonly [string, ControlDocument, EntryVerdict])[] = [
  ['a purge', purge(emptyDocument, 'shoes', 0), 'flushed'],
  ['a flush', raiseFloors(emptyDocument, WHOLE, 0), 'flushed'],
  ['a refresh', raiseFreshFloors(emptyDocument, WHOLE, 0), 'outdated'],
  ['a suppression', suppress(emptyDocument, ['sold'], 0), 'suppressed'],
];

test('an entry of a generation above the document passes no purge, flush or suppression', () => {
  for (const [what, document, verdict] of DECIDED) {
    for (const generation of [MAX_GENERATION, document.generation + 1]) {
      assert.equal(judgeSold(document, soldAt(generation)), verdict, `${what}, generation ${generation}`);
    }
    assert.equal(judgeSold(document, soldAt(document.generation)), 'whole', what);
  }
});

test('where no change affects it, an entry of a generation above the document is served', () => {
  assert.equal(judgeSold(emptyDocument, soldAt(MAX_GENERATION)), 'whole');
  const elsewhere = suppress(purge(emptyDocument, 'hats', 0), ['other'], 0);
  assert.equal(judgeSold(elsewhere, soldAt(elsewhere.generation + 1)), 'whole');
});

test('an entry computed after a purge is refused by a process that does not know the purge yet, and served once it does', () => {
  const before = purge(emptyDocument, 'shoes', 0);
  const now = purge(before, 'shoes', 1);
  const computedSince = soldAt(now.generation);
  assert.equal(judgeSold(before, computedSince), 'flushed', 'this costs one computation, within one poll interval');
  assert.equal(judgeSold(now, computedSince), 'whole', 'the same entry, as it lies in L1');
});

test('after a merge every entry of either history is judged by its own generation', () => {
  const left = after([(one) => purge(one, 'hats', 1), (one) => purge(one, 'coats', 2)], emptyDocument, 'l');
  const right = after([(one) => raiseFloors(one, WHOLE, 3)], emptyDocument, 'r');
  const merged = merge(left, right, 'm');
  assert.equal(judgeSold(merged, soldAt(merged.generation)), 'whole');
  assert.equal(
    judgeSold(right, soldAt(left.generation)),
    'flushed',
    'an entry of the other history is refused before the merge',
  );
});

test('after any changes a generation above the document is judged as the lowest one', () => {
  fc.assert(
    fc.property(anySteps, fc.integer({ min: 1, max: 1000 }), (steps, ahead) => {
      const document = after(steps);
      assert.equal(judgeSold(document, soldAt(document.generation + ahead)), judgeSold(document, soldAt(1)));
    }),
  );
});

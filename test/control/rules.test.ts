import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Entry } from '../../src/cache/entry.ts';
import type { EntryVerdict } from '../../src/cache/invalidation.ts';
import { lift, purge, raiseFloors, raiseFreshFloors, suppress } from '../../src/control/changes.ts';
import { compileRules } from '../../src/control/compile-rules.ts';
import { type ControlDocument, emptyDocument, type FlushMode } from '../../src/control/document.ts';
import { beginOverlay, changeOverlay, type OverlayAsked } from '../../src/control/overlay.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';
import { after, anySteps } from './random-document.ts';

const clock = createFakeClock();
const WHOLE = [{ from: 0, to: 10_000 }];
const nowhere = (): undefined => undefined;
const nameOf = (bucket: number, text = 'shoes', storeName = 'sc1:goods:{x}') => ({
  storeName,
  bucket,
  request: { text },
});
const entryAt = (generation: number, ...resultIds: string[]): Entry => entryOf(clock, { generation, resultIds });
const judge = (document: ControlDocument, entry: Entry, bucket: number, text?: string): EntryVerdict =>
  compileRules(document, undefined, nowhere).judge(entry, nameOf(bucket, text));

test('a domain nobody changed serves everything, and new entries carry generation 1', () => {
  const rules = compileRules(emptyDocument, undefined, nowhere);
  assert.equal(rules.generation(), 1);
  assert.equal(rules.judge(entryAt(1, 'a'), nameOf(0)), 'whole');
  assert.equal(rules.hides(), undefined);
});

test('a drop makes misses of older entries in its ranges, to the bucket', () => {
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

test('a purge names every older page of one text, wherever the text is known', () => {
  const document = purge(emptyDocument, 'red shoes', 0);
  assert.equal(judge(document, entryAt(1), 7, 'red shoes'), 'flushed');
  assert.equal(judge(document, entryAt(2), 7, 'red shoes'), 'whole');
  assert.equal(judge(document, entryAt(1), 7, 'red shoe'), 'whole');
  const rules = compileRules(document, undefined, nowhere);
  assert.equal(rules.judge(entryAt(1), { storeName: 'sc1:goods:{x}', bucket: 7 }), 'whole');
});

test('a suppressed document vanishes from older pages and is hidden from new ones, until it is lifted', () => {
  const document = suppress(emptyDocument, ['sold', 'banned'], 0);
  assert.equal(judge(document, entryAt(1, 'a', 'sold'), 0), 'suppressed');
  assert.equal(judge(document, entryAt(1, 'a', 'b'), 0), 'whole');
  assert.equal(judge(document, entryAt(2, 'a', 'sold'), 0), 'whole', 'computed by who left it out');
  const hides = compileRules(document, undefined, nowhere).hides();
  assert.deepEqual([hides?.('sold'), hides?.('banned'), hides?.('a')], [true, true, false]);
  const lifted = lift(document, ['sold', 'nobody']);
  assert.equal(judge(lifted, entryAt(1, 'sold'), 0), 'whole');
  assert.equal(compileRules(lift(lifted, ['banned']), undefined, nowhere).hides(), undefined);
});

test('with hundreds suppressed a page is refused exactly when it holds one that was suppressed after it', () => {
  const ids = Array.from({ length: 900 }, (_, index) => `${index}`);
  const document = suppress(suppress(emptyDocument, ids.slice(0, 450), 0), ids.slice(450), 0);
  for (let index = 0; index < 1800; index += 7) {
    const expected = index < 450 ? 'whole' : index < 900 ? 'suppressed' : 'whole';
    assert.equal(judge(document, entryAt(2, 'a', 'b', `${index}`), 0), expected, `${index}`);
  }
});

const begin = (mode: FlushMode, nodes?: readonly string[]): ControlDocument => {
  const asked: OverlayAsked = {
    drill: 'd',
    owner: 'o',
    leaseMs: 3000,
    mode,
    ranges: [],
    blackout: false,
    cohorts: [],
    ...(nodes !== undefined && { nodes }),
  };
  return beginOverlay(emptyDocument, asked);
};

test('a drill drops or outdates while it lives, spares the holdout, and changes nothing else', () => {
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

test('a stage loses what was computed since the drill began, and leaves what earlier stages have refilled', () => {
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

test('a drill of a node loses what lives there, and the next node anew', () => {
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
  assert.equal('nodes' in (everywhere.overlay ?? {}), false);
  assert.deepEqual(verdicts(everywhere, entryAt(1)), ['flushed', 'flushed']);
});

test('a drill that refreshes a node makes stale what lives there, and hides nothing', () => {
  const locate = (storeName: string): string => (storeName.includes('b') ? 'b:6379' : 'a:6379');
  const document = changeOverlay(begin('refresh', ['a:6379']), 'd', { ranges: WHOLE });
  const rules = compileRules(document, document.overlay, locate);
  const verdicts = ['sc1:goods:{a}', 'sc1:goods:{b}'].map((name) => rules.judge(entryAt(1), nameOf(1, 'x', name)));
  assert.deepEqual(verdicts, ['outdated', 'whole']);
});

test('whatever was decided: an entry of the generation of now is whole, and one refused stays so as more is flushed', () => {
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

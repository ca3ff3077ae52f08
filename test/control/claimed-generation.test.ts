import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Entry } from '../../src/cache/entry.ts';
import type { EntryVerdict } from '../../src/cache/invalidation.ts';
import { purge, raiseFloors, raiseFreshFloors, suppress } from '../../src/control/changes.ts';
import { compileRules } from '../../src/control/compile-rules.ts';
import { type ControlDocument, emptyDocument, MAX_GENERATION } from '../../src/control/document.ts';
import { merge } from '../../src/control/merge.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';
import { after, anySteps } from './random-document.ts';

const clock = createFakeClock();
const WHOLE = [{ from: 0, to: 10_000 }];
const entryAt = (generation: number): Entry => entryOf(clock, { generation, resultIds: ['sold'] });
const judge = (document: ControlDocument, entry: Entry): EntryVerdict =>
  compileRules(document, undefined, () => undefined).judge(entry, {
    storeName: 'sc1:goods:{x}',
    bucket: 1,
    request: { text: 'shoes' },
  });

const DECIDED: readonly (readonly [string, ControlDocument, EntryVerdict])[] = [
  ['a purge', purge(emptyDocument, 'shoes', 0), 'flushed'],
  ['a flush', raiseFloors(emptyDocument, WHOLE, 0), 'flushed'],
  ['a refresh', raiseFreshFloors(emptyDocument, WHOLE, 0), 'outdated'],
  ['a suppression', suppress(emptyDocument, ['sold'], 0), 'suppressed'],
];

test('an entry of a generation that nobody has given out passes no purge, flush or suppression', () => {
  for (const [what, document, verdict] of DECIDED) {
    for (const generation of [MAX_GENERATION, document.generation + 1]) {
      assert.equal(judge(document, entryAt(generation)), verdict, `${what}, generation ${generation}`);
    }
    assert.equal(judge(document, entryAt(document.generation)), 'whole', what);
  }
});

test('where nothing was decided, an entry of a later generation than this process has heard of is served', () => {
  assert.equal(judge(emptyDocument, entryAt(MAX_GENERATION)), 'whole');
  const elsewhere = suppress(purge(emptyDocument, 'hats', 0), ['other'], 0);
  assert.equal(judge(elsewhere, entryAt(elsewhere.generation + 1)), 'whole');
});

test('an entry that another process computed after a purge is refused by one that has not heard of it, and served once it has', () => {
  const before = purge(emptyDocument, 'shoes', 0);
  const now = purge(before, 'shoes', 1);
  const computedSince = entryAt(now.generation);
  assert.equal(judge(before, computedSince), 'flushed', 'it costs one computation, within one poll');
  assert.equal(judge(now, computedSince), 'whole', 'the same entry, as it lies in L1');
});

test('after a merge every entry of either line is judged by its own generation', () => {
  const left = after([(one) => purge(one, 'hats', 1), (one) => purge(one, 'coats', 2)], emptyDocument, 'l');
  const right = after([(one) => raiseFloors(one, WHOLE, 3)], emptyDocument, 'r');
  const merged = merge(left, right, 'm');
  assert.equal(judge(merged, entryAt(merged.generation)), 'whole');
  assert.equal(judge(right, entryAt(left.generation)), 'flushed', 'of the other line: not believed before the merge');
});

test('whatever was decided, no claimed generation does better than the lowest', () => {
  fc.assert(
    fc.property(anySteps, fc.integer({ min: 1, max: 1000 }), (steps, ahead) => {
      const document = after(steps);
      assert.equal(judge(document, entryAt(document.generation + ahead)), judge(document, entryAt(1)));
    }),
  );
});

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { raiseFloors, raiseFreshFloors, suppress } from '../../../src/control/changes.ts';
import { type ControlDocument, emptyDocument } from '../../../src/control/document.ts';
import { beginOverlay, changeOverlay } from '../../../src/control/overlay.ts';
import type { FlushEvent } from '../../../src/operations/flush/flush.ts';
import { createSweeper } from '../../../src/operations/flush/preview.ts';
import { keyOf, storedNameOf } from '../../../src/search/key.ts';
import { createMemoryTier } from '../../../src/stores/memory/memory-tier.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { entryOf } from '../../fakes/entry.ts';
import { idle } from '../../fakes/idle.ts';

const HALF = [{ from: 0, to: 5000 }];

function sweepHarness(t: TestContext, entries: number) {
  const clock = createFakeClock();
  const memory = createMemoryTier({ maxBytes: 1 << 26, emptyMaxBytes: 1 << 20 });
  const events: FlushEvent[] = [];
  let document: ControlDocument = emptyDocument;
  const keys = Array.from({ length: entries }, (_, place) => keyOf(`${place}`, 'goods'));
  for (const { key } of keys) memory.set(key, entryOf(clock));
  const sweeper = createSweeper({
    domain: 'goods',
    document: () => document,
    memory,
    nameOf: (key) => storedNameOf(key, 'goods'),
    observe: (event) => events.push(event),
  });
  t.after(sweeper.close);
  return {
    ...{ memory, events, sweeper, keys, clock },
    follow: (next: (before: ControlDocument) => ControlDocument) => {
      document = next(document);
      sweeper.documentChanged();
    },
    swept: async (times: number) => {
      for (let turn = 0; events.length < times && turn < 1000; turn += 1) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.equal(events.length, times);
    },
    held: () => [...memory.keys()].toSorted(),
  };
}

test('entries that a flush has made useless are removed from memory in slices', async (t) => {
  const harness = sweepHarness(t, 2000);
  harness.follow((document) => raiseFloors(document, HALF, 0));
  assert.ok(harness.held().length > 1700, 'not all at once');
  await harness.swept(1);
  const staying = harness.keys.filter(({ bucket }) => bucket >= 5000).map(({ key }) => key);
  assert.deepEqual(harness.held(), staying.toSorted());
  assert.deepEqual(harness.events, [{ kind: 'swept', domain: 'goods', looked: 2000, removed: 2000 - staying.length }]);
});

test('entries that a drill flushes stay in memory', async (t) => {
  const harness = sweepHarness(t, 300);
  const asked = { owner: 'p1', leaseMs: 3000, mode: 'drop', ranges: [], blackout: false, cohorts: [] } as const;
  harness.follow((document) => beginOverlay(document, { drill: 'd1', ...asked }));
  harness.follow((document) => changeOverlay(document, 'd1', { ranges: HALF }));
  // A flush of one bucket in the middle of the drill sweeps that bucket alone.
  const [first] = harness.keys;
  assert.ok(first);
  harness.follow((document) => raiseFloors(document, [{ from: first.bucket, to: first.bucket + 1 }], 0));
  await harness.swept(1);
  assert.equal(harness.memory.peek(first.key), undefined);
  assert.ok(harness.held().length >= 298);
});

test('stale and suppressed entries stay, without a walk through memory', async (t) => {
  const harness = sweepHarness(t, 300);
  harness.follow((document) => raiseFreshFloors(document, HALF, 0));
  harness.follow((document) => suppress(document, ['1'], 0));
  await idle();
  assert.deepEqual([harness.events, harness.held().length], [[], 300]);
});

test('a flush during a walk causes another walk', async (t) => {
  const harness = sweepHarness(t, 1000);
  harness.follow((document) => raiseFloors(document, HALF, 0));
  harness.follow((document) => raiseFloors(document, [{ from: 5000, to: 10_000 }], 0));
  await harness.swept(2);
  assert.deepEqual(harness.held(), []);
  harness.sweeper.documentChanged();
  await idle();
  assert.equal(harness.events.length, 2);
});

test('entries that were computed after the flush stay', async (t) => {
  const harness = sweepHarness(t, 10);
  const { key } = keyOf('new', 'goods');
  harness.memory.set(key, entryOf(harness.clock, { generation: 2 }));
  harness.follow((document) => raiseFloors(document, [{ from: 0, to: 10_000 }], 0));
  await harness.swept(1);
  assert.deepEqual(harness.held(), [key]);
});

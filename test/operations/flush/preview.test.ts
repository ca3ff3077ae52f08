import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { raiseFloors, raiseFreshFloors, suppress } from '../../../src/control/changes.ts';
import { bucketsIn, type ControlDocument, emptyDocument } from '../../../src/control/document.ts';
import { beginOverlay, changeOverlay } from '../../../src/control/overlay.ts';
import { rangesOf } from '../../../src/operations/flush/create-flush.ts';
import type { FlushEvent } from '../../../src/operations/flush/flush.ts';
import { createSweeper, includesBucket } from '../../../src/operations/flush/preview.ts';
import { figuresBetween } from '../../../src/operations/meter/figures.ts';
import { keyOf, storedNameOf } from '../../../src/search/key.ts';
import { createMemoryTier } from '../../../src/stores/memory/memory-tier.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { createFakeContent } from '../../fakes/content.ts';
import { entryOf } from '../../fakes/entry.ts';
import { idle } from '../../fakes/idle.ts';
import { plain } from '../../plain.ts';
import { flushHarness } from './harness.ts';

test('a dry run counts the keys in the store and in memory, and changes nothing', async (t) => {
  const harness = flushHarness(t);
  const keys = harness.hold(300);
  const before = harness.held();
  const preview = await harness.flush.preview({ mode: 'drop', fraction: 0.3, from: 1000 });
  const going = keys.filter(({ bucket }) => bucket >= 1000 && bucket < 4000);
  const on = (node: string): number =>
    going.filter(({ storeName }) => harness.content.held(node).includes(storeName)).length;
  assert.deepEqual(plain(preview.nodes), [
    { node: 'a:1', keys: on('a:1'), bytes: 100 * on('a:1'), exact: true },
    { node: 'b:1', keys: on('b:1'), bytes: 100 * on('b:1'), exact: true },
  ]);
  assert.deepEqual(preview.memory, {
    entries: going.length,
    bytes: going.length * entryOf(harness.clock).encoded.length,
  });
  assert.deepEqual([preview.mode, preview.fraction, preview.ranges], ['drop', 0.3, [{ from: 1000, to: 4000 }]]);
  assert.deepEqual(preview.engine, { seconds: 0, searches: 0, engineCallsPerSecond: 0 });
  assert.deepEqual([harness.held(), harness.control.document().revision, harness.events], [before, 0, []]);
});

test('a large node is estimated from a sample, and the preview says so', async (t) => {
  const harness = flushHarness(t, { nodes: ['a:1'] });
  for (let place = 0; place < 60_000; place += 1) {
    // Every second key belongs to another domain; values grow from 0 to 99 bytes.
    const name = keyOf(`query ${place}`, place % 2 === 0 ? 'goods' : 'auto').storeName;
    harness.content.put('a:1', name, Buffer.alloc(place % 100));
  }
  const scan = t.mock.method(harness.content, 'scan');
  const [node] = (await harness.flush.preview({ mode: 'drop', fraction: 0.5 })).nodes;
  assert.equal(node?.exact, false);
  assert.ok(scan.mock.callCount() <= 5);
  assert.ok(Math.abs((node?.keys ?? 0) - 15_000) < 1500, `${node?.keys} keys`);
  assert.ok(Math.abs((node?.bytes ?? 0) / (node?.keys ?? 1) - 49) < 12, `${node?.bytes} bytes`);
});

test('an unreachable node is reported with its message, and the others are counted', async (t) => {
  const harness = flushHarness(t);
  harness.hold(50);
  harness.content.refuse('a:1', 'a:1 cannot be reached.');
  const { nodes } = await harness.flush.preview({ mode: 'erase', fraction: 1 });
  assert.deepEqual(plain(nodes), [
    { node: 'a:1', keys: 0, bytes: 0, exact: false, detail: 'a:1 cannot be reached.' },
    { node: 'b:1', keys: 25, bytes: 2500, exact: true },
  ]);
});

test('a node that never answers delays a dry run by three seconds', async (t) => {
  const content = createFakeContent({ domain: 'goods', nodes: ['a:1'] });
  const harness = flushHarness(t, { content: { ...content, scan: () => new Promise(() => {}) } });
  const looking = harness.flush.preview({ mode: 'drop', fraction: 1 });
  await harness.pass(3000);
  const { nodes } = await looking;
  assert.deepEqual(plain(nodes), [
    { node: 'a:1', keys: 0, bytes: 0, exact: false, detail: 'a:1 did not answer in time.' },
  ]);
});

test('a dry run shows the expected engine calls', async (t) => {
  const figures = {
    ...figuresBetween(new Map(), new Map()),
    ...{ seconds: 60, searches: 6000, searchesPerSecond: 100, hitRatio: 0.9 },
    ...{ engineCallsPerSecond: 10, engineCallMs: 50, engineMax: 1 },
  };
  const { flush } = flushHarness(t, { recent: () => figures });
  const { engine } = await flush.preview({ mode: 'drop', fraction: 0.5 });
  assert.deepEqual([engine.headroom, engine.amplification, engine.extraCallsPerSecond], [2, 10, 45]);
  assert.equal(engine.survivable?.toFixed(6), (1 / 9).toFixed(6));
});

test('a dry run is refused for the same reasons as the flush', async (t) => {
  const { flush } = flushHarness(t);
  await assert.rejects(flush.preview({ mode: 'drop', fraction: 1, indexVersion: 'x' }), { code: 'invalid-request' });
});

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
  let sweeping = Promise.resolve();
  return {
    memory,
    events,
    sweeper,
    keys,
    clock,
    follow: (next: (before: ControlDocument) => ControlDocument) => {
      document = next(document);
      sweeping = sweeping.then(sweeper.sweep);
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
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(harness.events, [], 'the walk is under way');
  harness.follow((document) => raiseFloors(document, [{ from: 5000, to: 10_000 }], 0));
  await harness.swept(2);
  assert.deepEqual(harness.held(), []);
  await harness.sweeper.sweep();
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

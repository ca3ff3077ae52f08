import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figuresBetween } from '../../../src/operations/meter/figures.ts';
import { keyOf } from '../../../src/search/key.ts';
import { createFakeContent } from '../../fakes/content.ts';
import { entryOf } from '../../fakes/entry.ts';
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

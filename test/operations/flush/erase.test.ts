import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startStandalone } from '../../../loadtest/stack/redis.ts';
import { createControl } from '../../../src/control/create-control.ts';
import { createFlush } from '../../../src/operations/flush/create-flush.ts';
import { systemClock } from '../../../src/runtime.ts';
import { keyOf } from '../../../src/search/key.ts';
import { createMemoryControlStore } from '../../../src/stores/memory/control-store.ts';
import { createMemoryTier } from '../../../src/stores/memory/memory-tier.ts';
import { createRedisStore } from '../../../src/stores/redis/store.ts';
import { createFakeContent } from '../../fakes/content.ts';
import { plain } from '../../plain.ts';
import { rowsOf } from '../../pluck.ts';
import { connected, standaloneOf } from '../../stores/redis/harness.ts';
import { until } from '../../until.ts';
import { bucketOf, flushHarness } from './harness.ts';

const ALL = [{ from: 0, to: 10_000 }];
const notDedicated = (text: RegExp, parameter: string) => ({ code: 'not-dedicated', message: text, parameter });

test('an erasure waits until every process knows the floor, then removes the range and nothing else', async (t) => {
  const harness = flushHarness(t);
  const keys = harness.hold(400);
  harness.content.put('a:1', 'somebody else’s', Buffer.alloc(1));
  const { ranges } = await harness.flush.flush({ mode: 'erase', fraction: 0.5, from: 2000 });
  assert.equal(harness.flush.erasure()?.state, 'running');
  await harness.pass(950);
  assert.equal(harness.held().length, 401);
  await harness.pass(400);
  const staying = keys.filter(({ bucket }) => bucket < 2000 || bucket >= 7000).map(({ storeName }) => storeName);
  assert.deepEqual(harness.held().toSorted(), [...staying, 'somebody else’s'].toSorted());
  assert.deepEqual(ranges, [{ from: 2000, to: 7000 }]);
  const over = harness.flush.erasure();
  assert.equal(over?.state, 'done');
  assert.deepEqual(
    over?.nodes.map(({ node, by, state, scanned }) => ({ node, by, state, scanned })),
    [
      { node: 'a:1', by: 'unlink', state: 'done', scanned: 200 },
      { node: 'b:1', by: 'unlink', state: 'done', scanned: 200 },
    ],
  );
  const removed = 400 - staying.length;
  assert.equal(
    over?.nodes.reduce((sum, node) => sum + node.removed, 0),
    removed,
  );
  const said = harness.events.find((event) => event.kind === 'erasure');
  assert.deepEqual([said?.state, said?.removed], ['done', removed]);
});

test('keys are removed no faster than the rate, on each node', async (t) => {
  const harness = flushHarness(t, { keysPerSecond: 1000, followMs: 0 });
  harness.hold(6000);
  await harness.flush.flush({ mode: 'erase', fraction: 1 });
  for (const second of [1, 2]) {
    await harness.pass(1000);
    const gone = 6000 - harness.held().length;
    assert.ok(gone <= 2 * (1000 * second + 250) && gone >= 2 * (1000 * second - 250), `${gone} after ${second} s`);
  }
  await harness.pass(1500);
  assert.deepEqual([harness.flush.erasure()?.state, harness.held().length], ['done', 0]);
});

test('a second erasure is refused before anything has changed', async (t) => {
  const { flush, control, pass } = flushHarness(t);
  await flush.flush({ mode: 'erase', fraction: 1 });
  const before = control.document();
  await assert.rejects(flush.flush({ mode: 'erase', fraction: 1 }), { code: 'erasure-running' });
  await assert.rejects(flush.erase({ ranges: ALL, by: 'unlink' }, new AbortController().signal), {
    code: 'erasure-running',
  });
  assert.equal(control.document(), before);
  await pass(1500);
  await flush.flush({ mode: 'erase', fraction: 1 });
});

test('an erasure whose floor could not be raised does not begin, and does not block the next one', async (t) => {
  const refused = new Error('the store is away');
  const harness = flushHarness(t);
  harness.hold(10);
  t.mock.method(harness.control, 'change', () => Promise.reject(refused), { times: 1 });
  await assert.rejects(harness.flush.flush({ mode: 'erase', fraction: 1 }), refused);
  await harness.pass(1500);
  assert.equal(harness.held().length, 10);
  await harness.flush.flush({ mode: 'erase', fraction: 1 });
  await harness.pass(1500);
  assert.equal(harness.held().length, 0);
});

test('a node that fails for a while is scanned again from the beginning, and finished', async (t) => {
  const harness = flushHarness(t, { followMs: 0, keysPerSecond: 1000 });
  harness.hold(1000);
  await harness.flush.flush({ mode: 'erase', fraction: 1 });
  await harness.pass(100);
  harness.content.refuse('b:1', 'b:1 did not answer.');
  await harness.pass(1000);
  assert.equal(harness.flush.erasure()?.nodes[1]?.state, 'running');
  harness.content.refuse('b:1', undefined);
  await harness.pass(3000);
  assert.deepEqual([harness.flush.erasure()?.state, harness.held().length], ['done', 0]);
});

test('a node that keeps failing is reported with its message, and the others are erased', async (t) => {
  const harness = flushHarness(t, { followMs: 0 });
  harness.hold(100);
  harness.content.refuse('a:1', 'a:1 refused SCAN: no permission.');
  await harness.flush.flush({ mode: 'erase', fraction: 1 });
  await harness.pass(10_000);
  const { state, nodes = [] } = harness.flush.erasure() ?? {};
  assert.deepEqual(
    [state, nodes.map((node) => [node.state, node.detail])],
    [
      'failed',
      [
        ['failed', 'a:1 refused SCAN: no permission.'],
        ['done', undefined],
      ],
    ],
  );
  assert.deepEqual([harness.content.held('a:1').length, harness.content.held('b:1').length], [50, 0]);
  const said = harness.events.find((event) => event.kind === 'erasure');
  assert.deepEqual([said?.state, said?.removed, said?.detail], ['failed', 50, 'a:1 refused SCAN: no permission.']);
});

test('closing and a signal stop an erasure at once', async (t) => {
  const harness = flushHarness(t, { followMs: 0, keysPerSecond: 400 });
  harness.hold(2000);
  const stop = new AbortController();
  const erasing = harness.flush.erase({ ranges: ALL, by: 'unlink' }, stop.signal);
  await harness.pass(500);
  stop.abort();
  const { state, nodes } = await erasing;
  assert.deepEqual([state, nodes.map((node) => node.state)], ['stopped', ['stopped', 'stopped']]);
  const left = harness.held().length;
  assert.ok(left > 1000 && left < 2000);
  await harness.flush.flush({ mode: 'erase', fraction: 1 });
  await harness.pass(500);
  harness.flush.close();
  await harness.pass(50);
  const atEnd = harness.held().length;
  await harness.pass(2000);
  assert.deepEqual([harness.flush.erasure()?.state, harness.held().length], ['stopped', atEnd]);
});

test('a drill erases the nodes it names', async (t) => {
  const harness = flushHarness(t);
  harness.hold(100);
  const erasing = harness.flush.erase({ ranges: ALL, nodes: ['b:1'], by: 'unlink' }, new AbortController().signal);
  await harness.pass(500);
  assert.equal((await erasing).state, 'done');
  assert.deepEqual([harness.content.held('a:1').length, harness.content.held('b:1').length], [50, 0]);
});

test('a node that took over during the erasure is erased too', async (t) => {
  const nodes = ['a:1'];
  const content = createFakeContent({ domain: 'goods', nodes: ['a:1', 'b:1'] });
  const harness = flushHarness(t, { content: { ...content, nodes: () => nodes }, followMs: 0, bucketOf });
  for (const node of ['a:1', 'b:1']) content.put(node, `sc1:goods:{${'k'.repeat(22)}}`, Buffer.alloc(1));
  await harness.flush.flush({ mode: 'erase', fraction: 1 });
  nodes.splice(0, 1, 'b:1');
  await harness.pass(500);
  assert.deepEqual(rowsOf(harness.flush.erasure()?.nodes, 'node', 'removed'), [
    ['a:1', 1],
    ['b:1', 1],
  ]);
});

test('whole nodes are emptied only with a dedicated store and the fraction 1', async (t) => {
  const ask = { mode: 'erase', fraction: 1, by: 'flushall' } as const;
  const shared = flushHarness(t);
  shared.hold(10);
  await assert.rejects(shared.flush.flush(ask), notDedicated(/dedicated: true/, 'by'));
  await assert.rejects(shared.flush.preview(ask), notDedicated(/dedicated: true/, 'by'));
  assert.equal(shared.held().length, 10);
  assert.equal(shared.control.document().revision, 0);
  t.mock.timers.reset();

  const together = flushHarness(t, { dedicated: true });
  await assert.rejects(together.flush.flush(ask), notDedicated(/control:/, 'by'));
  t.mock.timers.reset();

  const harness = flushHarness(t, { dedicated: true, controlElsewhere: true });
  harness.hold(10);
  harness.content.put('a:1', 'somebody else’s', Buffer.alloc(1));
  await assert.rejects(harness.flush.flush({ ...ask, fraction: 0.5 }), notDedicated(/fraction must be 1/, 'fraction'));
  await harness.flush.flush(ask);
  await harness.pass(1100);
  assert.deepEqual(harness.held(), []);
  assert.deepEqual(rowsOf(harness.flush.erasure()?.nodes, 'by', 'removed'), [
    ['flushall', 6],
    ['flushall', 5],
  ]);
});

test('without a store an erasure is done when its floor is raised', async (t) => {
  const { flush, control } = flushHarness(t, { store: false });
  const { after } = await flush.flush({ mode: 'erase', fraction: 1 });
  assert.equal(after.ranges[0]?.floor, after.generation);
  assert.deepEqual(flush.erasure(), { state: 'done', nodes: [], seconds: 0 });
  await assert.rejects(flush.flush({ mode: 'erase', fraction: 1, by: 'flushall' }), { code: 'no-store' });
  assert.equal(control.document().revision, 1);
});

test('a store whose nodes are not known yet is not erased, and no floor rises', async (t) => {
  const { flush, control } = flushHarness(t, { nodes: [] });
  await assert.rejects(flush.flush({ mode: 'erase', fraction: 1 }), { code: 'no-store' });
  assert.equal(control.document().revision, 0);
});

test('a real store is counted before it is erased, and only the keys of the erasure are removed', async (t) => {
  const stack = await startStandalone({ flavour: 'redis' });
  t.after(stack.stop);
  const [server] = stack.nodes;
  assert.ok(server);
  const common = { clock: systemClock, random: Math.random, observe: () => {} };
  const store = createRedisStore({ settings: standaloneOf(stack), name: 'goods', ...common });
  t.after(store.close);
  const control = createControl({
    ...common,
    domain: 'goods',
    store: createMemoryControlStore(common),
    shared: false,
    locate: () => undefined,
    longestLifeMs: 3_600_000,
  });
  t.after(control.close);
  const flush = createFlush({
    ...common,
    domain: 'goods',
    control,
    content: store.content,
    memory: createMemoryTier({ maxBytes: 1 << 20, emptyMaxBytes: 1 << 16 }),
    bucketOf,
    dedicated: true,
    controlElsewhere: true,
    recent: () => undefined,
    keysPerSecond: 4000,
    followMs: 100,
  });
  t.after(flush.close);
  await connected(store, 1);

  const ours = Array.from({ length: 3000 }, (_, place) => keyOf(`query ${place}`, 'goods'));
  const theirs = ours.slice(0, 1000).map(({ key }) => keyOf(key, 'auto').storeName);
  const names = [...ours.map(({ storeName }) => storeName), ...theirs, 'somebody else’s'];
  for (let at = 0; at < names.length; at += 500) {
    await server.command('MSET', ...names.slice(at, at + 500).flatMap((name) => [name, 'x'.repeat(700)]));
  }

  const ask = { fraction: 0.25, from: 8000 };
  const going = ours.filter(({ bucket }) => bucket >= 8000 || bucket < 500);
  const { nodes } = await flush.preview({ mode: 'erase', ...ask });
  assert.deepEqual(plain(nodes), [
    { node: server.address, keys: going.length, bytes: going.length * 700, exact: true },
  ]);

  await flush.flush({ mode: 'erase', ...ask });
  await until('the erasure to end', async () => flush.erasure()?.state === 'done');
  assert.deepEqual(rowsOf(flush.erasure()?.nodes, 'removed', 'scanned'), [[going.length, ours.length]]);
  const left = names.length - going.length;
  assert.equal(await server.command('DBSIZE'), left);
  assert.equal(await server.command('EXISTS', ...going.map(({ storeName }) => storeName)), 0);

  await flush.flush({ mode: 'erase', fraction: 1, by: 'flushall' });
  await until('the node to be empty', async () => flush.erasure()?.state === 'done');
  assert.equal(flush.erasure()?.nodes[0]?.removed, left);
  assert.equal(await server.command('DBSIZE'), 0);
});

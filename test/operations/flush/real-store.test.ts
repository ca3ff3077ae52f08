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
import { plain } from '../../plain.ts';
import { connected, standaloneOf } from '../../stores/redis/harness.ts';
import { until } from '../../until.ts';
import { bucketOf } from './harness.ts';

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
  assert.deepEqual(
    flush.erasure()?.nodes.map(({ removed, scanned }) => [removed, scanned]),
    [[going.length, ours.length]],
  );
  const left = names.length - going.length;
  assert.equal(await server.command('DBSIZE'), left);
  assert.equal(await server.command('EXISTS', ...going.map(({ storeName }) => storeName)), 0);

  await flush.flush({ mode: 'erase', fraction: 1, by: 'flushall' });
  await until('the node to be empty', async () => flush.erasure()?.state === 'done');
  assert.equal(flush.erasure()?.nodes[0]?.removed, left);
  assert.equal(await server.command('DBSIZE'), 0);
});

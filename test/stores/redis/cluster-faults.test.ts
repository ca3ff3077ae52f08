import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RedisStack } from '../../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import { readOnce, type Store, type StoreEvent, type StoreRead } from '../../../src/cache/store.ts';
import { until } from '../../until.ts';
import { clusterOf, connected, LONG_MS, onOneCluster, openStore, whilePaused } from './harness.ts';

const DEADLINE_MS = 50;
const NAMES = Array.from({ length: 120 }, (_, index) => `sc1:goods:{${index}}`);

describe('a cluster with one faulty node', () => {
  let stack: RedisStack;
  let sick: RedisNode;
  let store: Store;
  let events: readonly StoreEvent[];
  let sickNames: readonly string[];
  let wellNames: readonly string[];

  onOneCluster('redis', { maxOutstanding: 64 }, async (given) => {
    ({ stack, store, events } = given);
    [sick] = stack.nodes as readonly [RedisNode];
    sickNames = NAMES.filter((name) => store.locate(name).node === sick.address);
    wellNames = NAMES.filter((name) => store.locate(name).node !== sick.address);
    for (const name of NAMES) assert.equal((await store.write(name, Buffer.from(name), 600_000)).kind, 'stored');
  });

  const first = (names: readonly string[]): string => names[0] ?? '';
  const read = (name: string): Promise<StoreRead> => readOnce(store, name, DEADLINE_MS);
  const isHit = async (name: string): Promise<boolean> => (await read(name)).kind === 'value';
  const assertWell = async (): Promise<void> => {
    for (const name of wellNames) {
      // A longer deadline: delays of a busy machine are not caused by the faulty node.
      assert.deepEqual(await readOnce(store, name, LONG_MS), { kind: 'value', value: Buffer.from(name) });
    }
  };
  const faultOf = (read: StoreRead): string => (read.kind === 'fault' ? read.fault : read.kind);
  const connections = (): number => events.filter(({ kind }) => kind === 'connection').length;

  test('a stopped node: its keys miss by the deadline, then at once; no connection is closed; the node serves again when it continues', async () => {
    const before = connections();
    await whilePaused(sick, async () => {
      assert.equal(faultOf(await read(first(sickNames))), 'store-slow');
      const breakerOf = () => store.nodes().find(({ node }) => node === sick.address)?.breaker;
      await until('the breaker to open', async () => {
        await read(first(sickNames));
        return breakerOf() === 'open';
      });
      const faults = (await Promise.all(sickNames.slice(0, 20).map(read))).map(faultOf);
      // One of them may have been the probe.
      assert.ok(faults.filter((fault) => fault === 'node-open').length >= 19, faults.join());
      const dropped = { kind: 'dropped', fault: 'node-open' };
      assert.deepEqual(await store.write(first(sickNames), Buffer.from('x'), 1000), dropped);
      await assertWell();
    });
    await until('the node to serve again', () => isHit(first(sickNames)));
    assert.equal(connections(), before, 'a connection was closed or opened');
    assert.ok(events.some((event) => event.kind === 'late' && event.hit));
    const breaker = events.flatMap((event) => (event.kind === 'breaker' ? [event] : []));
    assert.ok(breaker.every(({ node }) => node === sick.address));
    assert.equal(breaker.at(-1)?.state, 'closed');
  });

  test('the reply to an abandoned read arrives late, with its value', async () => {
    const found = await whilePaused(sick, () => read(first(sickNames)));
    assert.ok(found.kind === 'fault' && found.fault === 'store-slow');
    assert.deepEqual(await found.late, Buffer.from(first(sickNames)));
  });

  test('readMany with a stopped node returns the values of the other nodes, and late replies for its own names', async () => {
    const names = [first(sickNames), ...wellNames, 'sc1:goods:{nobody}'];
    const [slow, ...others] = await whilePaused(sick, () => store.readMany(names, 2000));
    assert.ok(slow?.kind === 'fault' && slow.fault === 'store-slow');
    assert.deepEqual(await slow.late, Buffer.from(first(sickNames)));
    const values = wellNames.map((name) => ({ kind: 'value', value: Buffer.from(name) }));
    assert.deepEqual(others.slice(0, -1), values);
  });

  test('above the bound of outstanding commands a read misses at once; writes and pipelines stop at half of the bound', async () => {
    const pending: Promise<unknown>[] = [];
    await whilePaused(sick, async () => {
      for (let writes = 0; writes < 32; writes += 1)
        pending.push(store.write(first(sickNames), Buffer.from('w'), 1000));
      const dropped = { kind: 'dropped', fault: 'store-saturated' };
      assert.deepEqual(await store.write(first(sickNames), Buffer.from('w'), 1000), dropped);
      const bulk = await store.readMany([first(sickNames)], LONG_MS);
      assert.deepEqual(bulk, [{ kind: 'fault', fault: 'store-saturated' }]);
      for (let reads = 0; reads < 32; reads += 1) pending.push(readOnce(store, first(sickNames), LONG_MS));
      assert.deepEqual(await read(first(sickNames)), { kind: 'fault', fault: 'store-saturated' });
      assert.equal(store.nodes().find(({ node }) => node === sick.address)?.outstanding, 64);
    });
    await Promise.all(pending);
    await until('the node to be at rest', async () => store.nodes().every(({ outstanding }) => outstanding === 0));
  });

  test('the socket timeout disconnects a node that stays stopped; nothing stays outstanding, and the node serves again when it continues', async () => {
    await store.close();
    ({ store } = openStore(clusterOf(stack, { socketTimeoutMs: 1000 })));
    await connected(store, 3);
    await whilePaused(sick, async () => {
      const writes = await Promise.all(
        sickNames.slice(0, 10).map((name) => store.write(name, Buffer.from('never'), 1000)),
      );
      const down = { kind: 'dropped', fault: 'store-down' };
      assert.deepEqual(writes, Array(writes.length).fill(down), 'commands in flight fail with the socket');
      const node = store.nodes().find((each) => each.node === sick.address);
      assert.deepEqual(
        { connected: node?.connected, outstanding: node?.outstanding },
        { connected: false, outstanding: 0 },
      );
      await assertWell();
    });
    await until('the node to serve again', () => isHit(first(sickNames)));
    await store.close();
  });

  test('a killed node: its keys miss at once, the others serve, and it serves again after its restart', async () => {
    await sick.kill();
    try {
      await until('the loss to be seen', async () => (await read(first(sickNames))).kind === 'fault');
      const faults = (await Promise.all(sickNames.map(read))).map(faultOf);
      for (const fault of faults) assert.ok(['store-down', 'node-open'].includes(fault), fault);
      const dropped = await store.write(first(sickNames), Buffer.from('x'), 1000);
      assert.equal(dropped.kind, 'dropped');
      await assertWell();
    } finally {
      await sick.restart();
    }
    await until('the node to serve again', async () => {
      await store.write(first(sickNames), Buffer.from('back'), 60_000);
      return isHit(first(sickNames));
    });
  });

  test('all nodes killed and restarted: the store serves again without a restart of this process', async () => {
    await Promise.all(stack.nodes.map((node) => node.kill()));
    await until('the loss to be seen', async () => store.nodes().every((node) => !node.connected));
    assert.equal(faultOf(await readOnce(store, first(wellNames), DEADLINE_MS)), 'store-down');
    await Promise.all(stack.nodes.map((node) => node.restart()));
    for (const name of [first(sickNames), first(wellNames)]) {
      await until(`${name} to be served again`, async () => {
        await store.write(name, Buffer.from(name), 600_000);
        return isHit(name);
      });
    }
  });
});

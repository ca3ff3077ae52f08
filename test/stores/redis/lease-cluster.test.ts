import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { type RedisStack, startCluster } from '../../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import { leaseNames } from '../../../src/cache/lease.ts';
import type { LeaseNames, Store, StoreEvent } from '../../../src/cache/store.ts';
import { until } from '../../until.ts';
import { clusterOf, connected, LONG_MS, openStore } from './harness.ts';
import { migrateSlot } from './migration.ts';

const TTL_MS = 600_000;

describe("a cluster's leases", () => {
  let stack: RedisStack;
  let store: Store;
  let events: readonly StoreEvent[];
  const take = (on: LeaseNames, token: string) => store.leases.take(on, token, TTL_MS, LONG_MS);
  const write = (on: LeaseNames, token: string) => store.leases.writeAndRelease(on, token, Buffer.from(token), TTL_MS);
  const look = (on: LeaseNames) => store.leases.look(on, LONG_MS);
  const nodeOf = (on: LeaseNames): RedisNode => {
    const node = stack.nodes.find(({ address }) => address === store.locate(on.lease).node);
    assert.ok(node);
    return node;
  };
  const onNode = (node: RedisNode, like: string): LeaseNames => {
    for (let index = 0; ; index += 1) {
      const on = leaseNames(`sc1:goods:{${like}-${index}}`);
      if (store.locate(on.lease).node === node.address) return on;
    }
  };

  before(async () => {
    stack = await startCluster({ flavour: 'valkey', masters: 3 });
  });
  after(async () => {
    await stack?.stop();
  });
  beforeEach(async () => {
    ({ store, events } = openStore(clusterOf(stack)));
    await connected(store, 3);
  });
  afterEach(async () => {
    await store.close();
  });

  test('while a slot moves, a lease belongs to one owner or is a fault, and afterwards all leases are as before', async () => {
    // One tag, so all are in one slot: with and without an entry, with and without a holder.
    const keys = Array.from({ length: 12 }, (_, index) => leaseNames(`sc1:goods:{moving}:${index}`));
    const [held, holding] = keys;
    assert.ok(held && holding);
    for (const [index, on] of keys.entries())
      if (index % 3 > 0) await store.write(on.entry, Buffer.from('old'), TTL_MS);
    for (const on of [held, holding]) assert.equal((await take(on, 'owner')).kind, 'taken');

    const from = nodeOf(held);
    const to = stack.nodes.find((node) => node !== from);
    assert.ok(to);
    const seen = new Set<string>();
    await migrateSlot(store.locate(held.lease).slot ?? -1, stack.nodes, from, to, async (step) => {
      for (const on of [held, holding]) {
        const taken = await take(on, 'thief');
        assert.notEqual(taken.kind, 'taken', `${on.lease} was taken twice when ${step}`);
      }
      for (const on of keys.slice(2)) {
        const takes = await Promise.all(['x', 'y', 'z'].map((token) => take(on, token)));
        for (const taken of takes) {
          seen.add(taken.kind === 'fault' ? taken.fault : taken.kind);
          if (taken.kind === 'fault') assert.equal(taken.fault, 'refused');
        }
        const winners = ['x', 'y', 'z'].filter((_, index) => takes[index]?.kind === 'taken');
        assert.ok(winners.length <= 1, `${winners} all hold ${on.lease} when ${step}`);
        for (const token of winners) seen.add((await write(on, token)).kind);
      }
    });
    assert.ok(seen.has('refused') && seen.has('taken') && seen.has('stored'), [...seen].join());
    for (const on of [held, holding]) {
      assert.deepEqual(await look(on), { kind: 'held' });
      assert.deepEqual(await write(on, 'owner'), { kind: 'stored' });
      assert.deepEqual(await look(on), { kind: 'free', value: Buffer.from('owner') });
    }
    for (const on of keys) assert.equal((await take(on, 'last')).kind, 'taken', `${on.lease} was left behind`);
    assert.ok(!events.some(({ kind }) => kind === 'breaker'), 'a redirect counted as a failure of a node');
  });

  test('a stopped node delays its own leases by a deadline, then not at all, and never the leases of other nodes', async () => {
    const [sick, well] = stack.nodes as readonly [RedisNode, RedisNode];
    const on = onNode(sick, 'sick');
    await sick.pause();
    try {
      await until('the breaker to open', async () => {
        const taken = await store.leases.take(on, 'a', TTL_MS, 50);
        assert.ok(taken.kind === 'fault' && ['store-slow', 'node-open'].includes(taken.fault));
        return store.nodes().find(({ node }) => node === sick.address)?.breaker === 'open';
      });
      const open = { kind: 'fault', fault: 'node-open' };
      const looks = await Promise.all([store.leases.look(on, 50), store.leases.look(on, 50)]);
      assert.deepEqual(looks.at(-1), open);
      assert.deepEqual(await write(on, 'a'), { kind: 'dropped', fault: 'node-open' });
      for (let index = 0; index < 20; index += 1) {
        const other = onNode(well, `well-${index}`);
        assert.deepEqual(await take(other, 'a'), { kind: 'taken', value: undefined });
        assert.deepEqual(await write(other, 'a'), { kind: 'stored' });
      }
    } finally {
      sick.resume();
    }
    await until('the sick node’s lease to be free', async () => (await look(on)).kind === 'free');
    assert.ok(events.every((event) => event.kind !== 'breaker' || event.node === sick.address));
  });

  test('with an old slot map a lease is taken, written and released at the new owner', async () => {
    const on = onNode(stack.nodes[0] as RedisNode, 'moved');
    const from = nodeOf(on);
    const to = stack.nodes.find((node) => node !== from);
    assert.ok(to);
    await migrateSlot(store.locate(on.lease).slot ?? -1, stack.nodes, from, to, async () => {});
    assert.deepEqual(await take(on, 'a'), { kind: 'taken', value: undefined });
    assert.deepEqual(await write(on, 'a'), { kind: 'stored' });
    assert.deepEqual(await look(on), { kind: 'free', value: Buffer.from('a') });
  });
});

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type RedisStack, startCluster, startSentinel, startStandalone } from '../../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import { readOnce, type Store, type StoreEpoch } from '../../../src/cache/store.ts';
import type { RedisSettings } from '../../../src/stores/redis/connection.ts';
import { pluck } from '../../pluck.ts';
import { LIMIT_MS, until } from '../../until.ts';
import { clusterOf, connectedFor, sentinelOf, standaloneOf } from './harness.ts';
import { migrateSlotOf } from './migration.ts';

const epochs = async (store: Store): Promise<readonly StoreEpoch[]> =>
  [...(await store.epochs(LIMIT_MS))].sort((a, b) => a.part.localeCompare(b.part));

/** A store on these servers, closed with them at the end of the test, and its first epochs. */
async function begun(t: TestContext, stack: RedisStack, settings: RedisSettings) {
  t.after(stack.stop);
  const { store } = await connectedFor(t, settings, settings.kind === 'cluster' ? 3 : 1);
  return { store, first: await epochs(store) };
}

/** Every replica has all the data of its master. */
const inStep = (nodes: readonly RedisNode[]): Promise<void> =>
  until('the replicas to have everything', async () => {
    const infos = await Promise.all(nodes.map(async (node) => String(await node.command('INFO', 'replication'))));
    const masters = infos.filter((info) => info.includes('role:master'));
    return masters.every((info) => {
      const offset = /master_repl_offset:(\d+)/.exec(info)?.[1];
      return info.includes(`offset=${offset},`);
    });
  });

const killedAndStarted = async (node: RedisNode): Promise<void> => {
  await node.kill();
  await node.restart();
};

// Each test has its own servers and waits for their decisions.
describe('an epoch', { concurrency: true }, () => {
  test('a server that lost its memory has a new epoch; a broken connection changes nothing', async (t) => {
    const stack = await startStandalone({ flavour: 'redis' });
    const {
      store,
      first: [first],
    } = await begun(t, stack, standaloneOf(stack));
    const [server] = stack.nodes;
    assert.ok(server && first);
    await server.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await until('the connection to be back', async () => (await store.epochs(LIMIT_MS)).length === 1);
    assert.deepEqual(await epochs(store), [first]);
    await killedAndStarted(server);
    await until('the server to be back', async () => (await store.epochs(LIMIT_MS)).length === 1);
    const [second] = await epochs(store);
    assert.notEqual(second?.epoch, first.epoch);
    assert.deepEqual({ ...second, epoch: '' }, { ...first, epoch: '' });
  });

  test('two processes that see a new server at the same time agree on its epoch', async (t) => {
    const stack = await startStandalone({ flavour: 'valkey' });
    const { store, first } = await begun(t, stack, standaloneOf(stack));
    const { store: other } = await connectedFor(t, standaloneOf(stack));
    assert.deepEqual(await epochs(other), first);
    await stack.nodes[0]?.command('FLUSHALL');
    const [mine, theirs] = await Promise.all([epochs(store), epochs(other)]);
    assert.deepEqual(mine, theirs);
  });

  test('sentinel: a replica that takes over with the data takes over the epoch', async (t) => {
    const stack = await startSentinel({ flavour: 'redis' });
    const { store, first } = await begun(t, stack, sentinelOf(stack));
    const master = stack.nodes.find(({ address }) => address === first[0]?.node);
    await inStep(stack.nodes);
    await master?.kill();
    let found: readonly StoreEpoch[] = [];
    await until('the new master to be asked', async () => {
      found = await epochs(store);
      return found.length === 1;
    });
    assert.notEqual(found[0]?.node, master?.address);
    assert.deepEqual([{ ...found[0], node: '' }], [{ ...first[0], node: '' }]);
  });

  test('cluster: a failover keeps part and epoch, and a master that restarts empty changes only its own', async (t) => {
    const stack = await startCluster({ flavour: 'redis', masters: 3, replicasPerMaster: 1 });
    const { store, first } = await begun(t, stack, clusterOf(stack));
    assert.equal(first.length, 3);
    await inStep(stack.nodes);
    const [sick, other] = first;
    const byAddress = (address = ''): RedisNode | undefined => stack.nodes.find((node) => node.address === address);
    await byAddress(sick?.node)?.kill();
    assert.equal((await epochs(store)).length, 2, 'the other nodes answer, this one is left out');
    let second: readonly StoreEpoch[] = [];
    await until('the replica to be asked', async () => {
      second = await epochs(store);
      return second.length === 3;
    });
    const unplaced = (all: readonly StoreEpoch[]) => all.map(({ part, epoch }) => ({ part, epoch }));
    assert.deepEqual(unplaced(second), unplaced(first));
    assert.notEqual(second.find(({ part }) => part === sick?.part)?.node, sick?.node);

    await byAddress(other?.node)?.command('FLUSHALL');
    const third = await epochs(store);
    const changed = third.filter(({ epoch }) => !first.some((each) => each.epoch === epoch));
    assert.deepEqual(pluck(changed, 'part'), [other?.part]);
  });

  test('cluster: a stopped node is left out by the deadline, and has its old epoch when it continues', async (t) => {
    const stack = await startCluster({ flavour: 'valkey', masters: 3 });
    const { store, first } = await begun(t, stack, clusterOf(stack));
    const sick = stack.nodes.find(({ address }) => address === first[0]?.node);
    await sick?.pause();
    try {
      const others = first
        .slice(1)
        .map(({ part }) => part)
        .sort();
      // On a slow machine the others may miss this deadline once too.
      await until('the others to answer', async () =>
        assert.deepEqual((await store.epochs(500)).map(({ part }) => part).sort(), others),
      );
    } finally {
      sick?.resume();
    }
    await until('the node to be asked again', async () => (await epochs(store)).length === 3);
    assert.deepEqual(await epochs(store), first);
  });

  test('cluster: a part moves with its slot and keeps its epoch, and the old node gets another part', async (t) => {
    const stack = await startCluster({ flavour: 'redis', masters: 3 });
    const { store, first } = await begun(t, stack, clusterOf(stack));
    const [moving] = first;
    assert.ok(moving);
    const { to } = await migrateSlotOf(moving.part, store, stack.nodes, async () => {
      for (const { part, epoch } of await epochs(store)) {
        const before = first.find((each) => each.part === part);
        if (before !== undefined) assert.equal(epoch, before.epoch, `${part} looks lost`);
      }
    });
    await readOnce(store, moving.part, LIMIT_MS);
    await until('the new owner to be known', async () => store.locate(moving.part).node === to.address);
    const second = await epochs(store);
    assert.deepEqual(second.map(({ node }) => node).sort(), stack.nodes.map(({ address }) => address).sort());
    for (const { part, epoch } of second) {
      const before = first.find((each) => each.part === part);
      if (before !== undefined) assert.equal(epoch, before.epoch, `${part} looks lost`);
    }
  });
});

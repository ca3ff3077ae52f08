import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type RedisStack, startCluster } from '../../../loadtest/stack/redis.ts';
import { readOnce, type Store, type StoreEvent, type StoreRead } from '../../../src/cache/store.ts';
import { LIMIT_MS, until } from '../../until.ts';
import { clusterOf, connected, openStore } from './harness.ts';
import { migrateSlot } from './migration.ts';

describe('reads while a slot moves', () => {
  let stack: RedisStack;
  let store: Store;
  let events: readonly StoreEvent[];
  // One tag, so all are in one slot.
  const moving = Array.from({ length: 40 }, (_, index) => `sc1:goods:{moving}:${index}`);
  const resting = Array.from({ length: 40 }, (_, index) => `sc1:goods:{resting-${index}}`);

  before(async () => {
    stack = await startCluster({ flavour: 'valkey', masters: 3 });
    ({ store, events } = openStore(clusterOf(stack)));
    await connected(store, 3);
    for (const name of [...moving, ...resting]) await store.write(name, Buffer.from(name), 600_000);
  });
  after(async () => {
    await store?.close();
    await stack?.stop();
  });

  const assertMissOrValue = (read: StoreRead, name: string): void => {
    if (read.kind === 'value') assert.equal(read.value.toString(), name);
    else assert.deepEqual(read, { kind: 'absent' }, name);
  };
  const assertHits = async (names: readonly string[]): Promise<void> => {
    const reads = await Promise.all(names.map((name) => readOnce(store, name, LIMIT_MS)));
    assert.deepEqual(
      reads,
      names.map((name) => ({ kind: 'value', value: Buffer.from(name) })),
    );
  };

  test('at every step every single read is a hit, every bulk read is a hit or a miss, and no breaker opens', async () => {
    const { slot = -1, node: owner } = store.locate(moving[0] ?? '');
    const from = stack.nodes.find(({ address }) => address === owner);
    const to = stack.nodes.find(({ address }) => address !== owner);
    assert.ok(from && to);
    await migrateSlot(slot, stack.nodes, from, to, async (step) => {
      await assertHits(moving);
      await assertHits(resting);
      const bulk = await store.readMany([...moving, ...resting], LIMIT_MS);
      for (const [index, name] of moving.entries()) assertMissOrValue(bulk[index] ?? { kind: 'absent' }, name);
      assert.ok(
        bulk.slice(moving.length).every(({ kind }) => kind === 'value'),
        `other slots miss when ${step}`,
      );
      // A write follows the redirect too, and the written value is read.
      const name = moving[step.length % moving.length] ?? '';
      assert.deepEqual(await store.write(name, Buffer.from(name), 600_000), { kind: 'stored' });
    });
    await until('the new owner to be known', async () => store.locate(moving[0] ?? '').node === to.address);
    const reads = await store.readMany(moving, LIMIT_MS);
    assert.ok(
      reads.every(({ kind }) => kind === 'value'),
      'bulk reads miss although the map is new',
    );
    assert.ok(!events.some(({ kind }) => kind === 'breaker'), 'a redirect counted as a failure of a node');
  });
});

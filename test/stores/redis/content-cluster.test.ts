import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type RedisStack, startCluster } from '../../../loadtest/stack/redis.ts';
import { readOnce } from '../../../src/cache/store.ts';
import { keyOf } from '../../../src/search/key.ts';
import type { RedisStore } from '../../../src/stores/redis/store.ts';
import { until } from '../../until.ts';
import { clusterOf, connected, LONG_MS, openStore } from './harness.ts';
import { migrateSlot } from './migration.ts';

const TTL_MS = 600_000;
/** Twice this is more than a step of a scan looks at, on each of three nodes. */
const MANY = 10_000;

describe('the content of a cluster of 3', () => {
  let stack: RedisStack;
  let store: RedisStore;
  before(async () => {
    stack = await startCluster({ flavour: 'valkey', masters: 3 });
    ({ store } = openStore(clusterOf(stack), { contentDeadlineMs: LONG_MS }));
    await connected(store, 3);
  });
  after(async () => {
    await store?.close();
    await stack?.stop();
  });

  const held = async (): Promise<number> =>
    (await Promise.all(store.content.nodes().map(store.content.count))).reduce((sum, each) => sum + each, 0);

  test('from 10 000 entries of this domain and 10 000 of others, exactly the entries in the erased range are removed', async () => {
    const ours = Array.from({ length: MANY }, (_, index) => keyOf(`ours ${index}`, 'goods'));
    const theirs = Array.from({ length: MANY }, (_, index) => keyOf(`ours ${index}`, index % 2 ? 'good' : 'goods-2'));
    const items = [...ours, ...theirs].map(({ storeName }) => ({
      name: storeName,
      value: Buffer.from(storeName),
      ttlMs: TTL_MS,
    }));
    const seeded = await store.seedMany(items);
    assert.ok(seeded.every(({ kind }) => kind === 'stored'));

    for (const node of store.content.nodes()) {
      const step = await store.content.scan(node, '0', 1e9);
      assert.notEqual(step.cursor, '0', 'a scan step of unbounded size blocks the node');
    }

    const inRange = new Set(ours.filter(({ bucket }) => bucket < 5000).map(({ storeName }) => storeName));
    let removed = 0;
    const { content } = store;
    await Promise.all(
      content.nodes().map(async (node) => {
        let cursor = '0';
        do {
          const step = await content.scan(node, cursor, 1000);
          const going = step.names.filter((name) => inRange.has(name));
          for (let first = 0; first < going.length; first += 512) {
            const gone = await content.unlink(node, going.slice(first, first + 512));
            removed += gone;
          }
          cursor = step.cursor;
        } while (cursor !== '0');
      }),
    );
    assert.ok(inRange.size > 0.4 * MANY);
    assert.equal(removed, inRange.size);
    assert.equal(await held(), 2 * MANY - inRange.size);
    const reads = await store.readMany(
      items.map(({ name }) => name),
      LONG_MS,
    );
    for (const [index, { name }] of items.entries()) {
      assert.equal(reads[index]?.kind, inRange.has(name) ? 'absent' : 'value', name);
    }
  });

  test('while its slot moves, an entry is removed on either node', async () => {
    // One entry is enough: among thousands, two entries seldom share a slot.
    const entry = keyOf('moving', 'goods').storeName;
    const { slot = -1, node: owner } = store.locate(entry);
    const from = stack.nodes.find(({ address }) => address === owner);
    const to = stack.nodes.find(({ address }) => address !== owner);
    assert.ok(from && to);
    const put = () => store.write(entry, Buffer.from('moving'), TTL_MS);
    await put();
    await migrateSlot(slot, stack.nodes, from, to, async (step) => {
      if (step === 'half of the keys are moved') {
        assert.deepEqual(await store.content.sizes(from.address, [entry]), [6], step);
        assert.equal(await store.content.unlink(from.address, [entry]), 1, step);
        assert.equal((await readOnce(store, entry, LONG_MS)).kind, 'absent');
        await put();
      } else {
        // Sent to the old owner, as a store with the old slot map does.
        assert.equal(await store.content.unlink(from.address, [entry]), 1, step);
        await put();
      }
    });
  });

  test('a dead node is reported as unreachable by its address, and the others are counted and erased as before', async () => {
    const [dead, ...others] = stack.nodes;
    assert.ok(dead);
    await dead.kill();
    await assert.rejects(
      async () => store.content.scan(dead.address, '0', 100),
      (error: Error) => error.name === 'StoreUnreachable' && error.message.includes(dead.address),
    );
    for (const { address } of others) {
      assert.ok((await store.content.count(address)) > 0);
      await store.content.flushNode(address);
      assert.equal(await store.content.count(address), 0);
    }
    await dead.restart();
    await until('the node to be back', async () => (await store.content.count(dead.address)) >= 0);
  });
});

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { type RedisStack, startCluster } from '../../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import { readOnce, type SeedItem, type SeedResult, type Store, type StoreEvent } from '../../../src/cache/store.ts';
import { until } from '../../until.ts';
import { clusterOf, connected, openStore } from './harness.ts';
import { migrateSlot } from './migration.ts';

const TTL_MS = 600_000;
const STORED = { kind: 'stored' };
const REFUSED = { kind: 'dropped', fault: 'refused' };

describe('seedMany on a cluster with one faulty node', () => {
  let stack: RedisStack;
  let sick: RedisNode;
  let store: Store;
  let events: readonly StoreEvent[];
  let rounds = 0;
  let items: readonly SeedItem[];
  const isSick = ({ name }: SeedItem): boolean => store.locate(name).node === sick.address;
  /** Results by the node that owns their names. */
  const apart = (results: readonly SeedResult[]) => ({
    sick: results.filter((_, index) => isSick(items[index] as SeedItem)),
    well: results.filter((_, index) => !isSick(items[index] as SeedItem)),
  });
  const all = (results: readonly SeedResult[], expected: unknown): void => {
    assert.ok(results.length > 50);
    assert.deepEqual(results, Array(results.length).fill(expected));
  };

  before(async () => {
    stack = await startCluster({ flavour: 'redis', masters: 3 });
    [sick] = stack.nodes as readonly [RedisNode];
  });
  after(async () => {
    await stack?.stop();
  });
  beforeEach(async () => {
    ({ store, events } = openStore(clusterOf(stack, { batchSize: 40, socketTimeoutMs: 1500 })));
    await connected(store, 3);
    rounds += 1;
    items = Array.from({ length: 300 }, (_, index) => ({
      name: `sc1:goods:{${rounds}-${index}}`,
      value: Buffer.from(`seed ${index}`),
      ttlMs: TTL_MS,
    }));
  });
  afterEach(async () => {
    await store.close();
  });

  test('out of memory: its entries are refused, the others stored, and no breaker opens', async () => {
    await sick.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction', 'maxmemory', '1');
    try {
      const { sick: refused, well } = apart(await store.seedMany(items));
      all(refused, REFUSED);
      all(well, STORED);
    } finally {
      await sick.command('CONFIG', 'SET', 'maxmemory', '0');
    }
    assert.ok(!events.some(({ kind }) => kind === 'breaker'));
    all(
      (await store.seedMany(items)).filter(({ kind }) => kind === 'stored'),
      STORED,
    );
  });

  test('stopped: its entries are given up with its socket, the others are stored meanwhile', async () => {
    await sick.pause();
    let results: readonly SeedResult[];
    try {
      const seeding = store.seedMany(items);
      const wellName = items.find((item) => !isSick(item))?.name ?? '';
      let most = 0;
      await until('the others to be stored', async () => {
        most = Math.max(most, store.nodes().find(({ node }) => node === sick.address)?.outstanding ?? 0);
        return (await readOnce(store, wellName, 1000)).kind === 'value';
      });
      assert.equal(most, 40, 'one pipeline at a time');
      results = await seeding;
    } finally {
      sick.resume();
    }
    const { sick: lost, well } = apart(results);
    all(lost, { kind: 'dropped', fault: 'store-down' });
    all(well, STORED);
  });

  test('a slot that moves: its entries are stored, kept or refused, and refused entries can be written later', async () => {
    const moving = items.map((item, index) => ({ ...item, name: `sc1:goods:{moves}:${index}` }));
    const owner = store.locate(moving[0]?.name ?? '').node;
    const from = stack.nodes.find(({ address }) => address === owner);
    const to = stack.nodes.find(({ address }) => address !== owner);
    assert.ok(from && to);
    all(await store.seedMany(moving.slice(0, 100)), STORED);
    await migrateSlot(store.locate(moving[0]?.name ?? '').slot ?? -1, stack.nodes, from, to, async (step) => {
      for (const result of await store.seedMany(moving)) {
        assert.ok(['stored', 'kept'].includes(result.kind) || assert.deepEqual(result, REFUSED) === undefined, step);
      }
    });
    await until('all of them to be there', async () =>
      (await store.seedMany(moving)).every(({ kind }) => kind === 'stored' || kind === 'kept'),
    );
    assert.ok(!events.some(({ kind }) => kind === 'breaker'));
  });

  test('a pipeline is at most one batch or one megabyte', async () => {
    await store.seedMany(items);
    const sizes = () => events.flatMap((event) => (event.kind === 'pipeline' ? [event.size] : []));
    assert.equal(Math.max(...sizes()), 40);
    const before = sizes().length;
    const large = items.slice(0, 60).map((item) => ({ ...item, name: `${item.name}:l`, value: Buffer.alloc(300_000) }));
    assert.ok((await store.seedMany(large)).every(({ kind }) => kind === 'stored'));
    assert.equal(Math.max(...sizes().slice(before)), 3);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readOnce, type SeedItem, type Store, type StoreEpoch } from '../../src/cache/store.ts';
import { until } from '../until.ts';

export interface FleetUnderTest {
  readonly store: Store;
  /** Nodes that own names, as `nodes()` must show them. */
  readonly owners: readonly string[];
  /** Deletes all data of that node. */
  readonly lose: (node: string) => Promise<void>;
}

const DEADLINE_MS = 60_000;
const TTL_MS = 60_000;
/** Enough for more than one pipeline per node. */
const MANY = 500;

/** The data that processes share: backfill, epochs, membership. Registers its tests in the calling suite. */
export function fleetContract(under: () => FleetUnderTest): void {
  const seed = (id: string, value: string, ttlMs = TTL_MS): SeedItem => ({
    name: `sc1:contract:{seed-${id}}`,
    value: Buffer.from(value),
    ttlMs,
  });
  const readOf = (item: SeedItem) => ({ kind: 'value', value: item.value });

  describe('seedMany', () => {
    test('present names are kept, absent names are written, results in order, over all nodes and several pipelines', async () => {
      const { store } = under();
      const items = Array.from({ length: MANY }, (_, index) =>
        seed(String(index), `seed ${index} `.repeat(index % 40)),
      );
      const isThere = (index: number): boolean => index % 5 === 0;
      const there = items.filter((_, index) => isThere(index));
      for (const { name } of there) await store.write(name, Buffer.from('there'), TTL_MS);
      const results = await store.seedMany(items);
      assert.deepEqual(
        results,
        items.map((_, index) => ({ kind: isThere(index) ? 'kept' : 'stored' })),
      );
      const reads = await store.readMany(
        items.map(({ name }) => name),
        DEADLINE_MS,
      );
      for (const [index, item] of items.entries()) {
        const expected = isThere(index) ? { kind: 'value', value: Buffer.from('there') } : readOf(item);
        assert.deepEqual(reads[index], expected, item.name);
      }
    });

    test('no names, one name twice, and large values', async () => {
      const { store } = under();
      assert.deepEqual(await store.seedMany([]), []);
      const twice = await store.seedMany([seed('twice', 'first'), seed('twice', 'second')]);
      assert.deepEqual(twice, [{ kind: 'stored' }, { kind: 'kept' }]);
      const large = Array.from({ length: 6 }, (_, index) => seed(`large-${index}`, String(index).repeat(900_000)));
      assert.ok((await store.seedMany(large)).every(({ kind }) => kind === 'stored'));
      for (const item of large) assert.deepEqual(await readOnce(store, item.name, DEADLINE_MS), readOf(item));
    });

    test('an entry expires with its lifetime, and a kept entry keeps its own lifetime', async () => {
      const { store } = under();
      const short = seed('short', 'x', 50.5);
      const kept = seed('kept', 'new', 50);
      await store.write(kept.name, Buffer.from('old'), TTL_MS);
      assert.deepEqual(await store.seedMany([short, kept]), [{ kind: 'stored' }, { kind: 'kept' }]);
      await until('it to expire', async () => (await readOnce(store, short.name, DEADLINE_MS)).kind === 'absent');
      assert.deepEqual(await readOnce(store, kept.name, DEADLINE_MS), { kind: 'value', value: Buffer.from('old') });
    });
  });

  describe('epochs', () => {
    const epochs = async (): Promise<readonly StoreEpoch[]> => {
      const found = await under().store.epochs(DEADLINE_MS);
      return [...found].sort((a, b) => a.node.localeCompare(b.node));
    };

    test('each node that owns names has one epoch, and reads and writes do not change it', async () => {
      const first = await epochs();
      assert.deepEqual(first.map(({ node }) => node).sort(), [...under().owners].sort());
      assert.equal(new Set(first.map(({ part }) => part)).size, first.length);
      assert.equal(new Set(first.map(({ epoch }) => epoch)).size, first.length);
      assert.ok(first.every(({ epoch }) => epoch.length > 0));
      await under().store.seedMany([seed('epoch', 'x')]);
      assert.deepEqual(await epochs(), first);
    });

    test('a node that lost its data has a new epoch; its part stays, and so do the other epochs', async () => {
      const first = await epochs();
      const lost = first[0];
      assert.ok(lost);
      await under().lose(lost.node);
      const second = await epochs();
      assert.deepEqual(second.slice(1), first.slice(1));
      assert.deepEqual({ ...second[0], epoch: lost.epoch }, lost);
      assert.notEqual(second[0]?.epoch, lost.epoch);
      assert.deepEqual(await epochs(), second);
    });
  });

  describe('membership', () => {
    const beat = (id: string, ttlMs = TTL_MS) => under().store.beat(id, ttlMs, DEADLINE_MS);
    const fleet = (rank: number, ...ids: string[]) => ({ kind: 'fleet', live: ids.length, rank, ids });

    test('lists the live processes by id, ranks them, and removes those that leave or are silent', async () => {
      assert.deepEqual(await beat('m'), fleet(0, 'm'));
      assert.deepEqual(await beat('m'), fleet(0, 'm'), 'a second beat is not a second process');
      assert.deepEqual(await beat('Z'), fleet(0, 'Z', 'm'));
      assert.deepEqual(await beat('z'), fleet(2, 'Z', 'm', 'z'));
      assert.deepEqual(await beat('m'), fleet(1, 'Z', 'm', 'z'));
      const short = await beat('m-1', 200.5);
      assert.deepEqual(short, fleet(2, 'Z', 'm', 'm-1', 'z'));
      await under().store.leave('Z', DEADLINE_MS);
      await under().store.leave('nobody', DEADLINE_MS);
      await until('m-1 to be removed', async () => assert.deepEqual(await beat('z'), fleet(1, 'm', 'z')));
      await under().store.leave('m', DEADLINE_MS);
      await under().store.leave('z', DEADLINE_MS);
      assert.deepEqual(await beat('last'), fleet(0, 'last'));
      await under().store.leave('last', DEADLINE_MS);
    });

    test('a short beat shortens no other process’s lifetime, and a later beat may be shorter', async () => {
      await beat('long');
      await beat('short', 60);
      const others = (rank: number, ...ids: string[]) =>
        until('the short one to be removed', async () => assert.deepEqual(await beat('other'), fleet(rank, ...ids)));
      await others(1, 'long', 'other');
      await beat('long', 60);
      await others(0, 'other');
      await under().store.leave('other', DEADLINE_MS);
    });

    test('many processes beat at once', async () => {
      const ids = Array.from(
        { length: 60 },
        (_, index) => `process-${String(index).padStart(3, '0')}-${'x'.repeat(50)}`,
      );
      await Promise.all(ids.map((id) => beat(id)));
      for (const rank of [0, 31, 59]) assert.deepEqual(await beat(ids[rank] ?? ''), fleet(rank, ...ids));
      await Promise.all(ids.map((id) => under().store.leave(id, DEADLINE_MS)));
      assert.deepEqual(await beat('alone'), fleet(0, 'alone'));
      await under().store.leave('alone', DEADLINE_MS);
    });
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/runtime.ts';
import type { RedisStore } from '../../src/stores/redis/store.ts';
import { createStores } from '../../src/stores/stores.ts';

const NONE = { kind: 'none' } as const;
/** A port without a server: a store connects in the background. */
const AWAY = {
  kind: 'standalone',
  nodes: [{ host: '127.0.0.1', port: 1 }],
  database: 0,
  dedicated: false,
  shared: false,
  deadlineMs: 50,
  connectTimeoutMs: 2000,
  socketTimeoutMs: 3000,
  refreshMs: 15_000,
  maxOutstanding: 64,
  batchSize: 16,
} as const;
const own = { control: {} } as unknown as RedisStore;

test('a control document is kept in the control store, else in the domain’s store, else in this process', async (t) => {
  const named: string[] = [];
  const runtime = { clock: systemClock, random: Math.random, observeStore: (name: string) => void named.push(name) };
  const shared = createStores({ control: AWAY, counters: NONE }, runtime);
  t.after(shared.close);
  assert.deepEqual(shared.controlOf(own), { store: shared.controlOf(undefined).store, shared: true, elsewhere: true });
  assert.equal((await shared.controlOf(own).store.read('goods', undefined, 50)).kind, 'fault');
  assert.deepEqual([...new Set(named)], ['control'], 'events carry the name of the store');
  assert.ok(shared.counters !== undefined, 'without a counter store the control store counts');

  const none = createStores({ control: NONE, counters: NONE }, runtime);
  t.after(none.close);
  assert.deepEqual(none.controlOf(own), { store: own.control, shared: true, elsewhere: false });
  const { store, ...place } = none.controlOf(undefined);
  assert.deepEqual(place, { shared: false, elsewhere: true });
  assert.deepEqual(await store.read('goods', undefined, 50), { kind: 'absent' });
  assert.equal(none.counters, undefined);
});

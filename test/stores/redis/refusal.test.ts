import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startStandalone } from '../../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import { readOnce, type Store, type StoreEvent } from '../../../src/cache/store.ts';
import { connectedFor, onOneServer, standaloneOf, startedFor, whileFull, whileReplica } from './harness.ts';

const REFUSED = { kind: 'dropped', fault: 'refused' };
const KEPT = { kind: 'value', value: Buffer.from('kept') };

describe('a server that refuses', () => {
  let server: RedisNode;
  let store: Store;
  let events: readonly StoreEvent[];
  onOneServer({ deadlineMs: 1000 }, async (given) => {
    ({ server, store, events } = given);
    await store.write('kept', Buffer.from('kept'), 600_000);
  });

  const assertOnlyWritesRefused = async (): Promise<void> => {
    for (let writes = 0; writes < 30; writes += 1) {
      assert.deepEqual(await store.write('more', Buffer.alloc(1000), 60_000), REFUSED);
    }
    assert.deepEqual(await readOnce(store, 'kept', 1000), KEPT);
    assert.ok(!events.some(({ kind }) => kind === 'breaker'), 'a refused write opened the breaker for reads');
  };

  for (const [what, during] of [
    ['out of memory', whileFull],
    ['a replica', whileReplica],
  ] as const) {
    test(`${what}: writes are refused, reads work`, () => during(server, assertOnlyWritesRefused));
  }

  test('a planted key of another type is a fault for that key alone', async () => {
    await server.command('LPUSH', 'list', 'x');
    for (let reads = 0; reads < 30; reads += 1) {
      assert.deepEqual(await readOnce(store, 'list', 1000), { kind: 'fault', fault: 'store-down' });
    }
    assert.deepEqual(await store.readMany(['kept', 'list', 'kept'], 1000), [
      KEPT,
      { kind: 'fault', fault: 'store-down' },
      KEPT,
    ]);
    assert.ok(!events.some(({ kind }) => kind === 'breaker'));
  });
});

describe('stalls of our own event loop', () => {
  test('replies that waited in the socket while the event loop was blocked are hits, and no breaker opens', async (t) => {
    const stack = await startedFor(t, startStandalone({ flavour: 'redis' }));
    const { store, events } = await connectedFor(t, standaloneOf(stack));
    await store.write('a', Buffer.from('1'), 60_000);
    for (let round = 0; round < 2; round += 1) {
      const reads = Array.from({ length: 20 }, () => readOnce(store, 'a', 50));
      // Lets the commands leave, then blocks for longer than their deadline and than the server needs.
      await new Promise((resolve) => setImmediate(resolve));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      for (const read of await Promise.all(reads)) {
        assert.deepEqual(read, { kind: 'value', value: Buffer.from('1') });
      }
    }
    assert.ok(!events.some(({ kind }) => kind === 'breaker'));
  });
});

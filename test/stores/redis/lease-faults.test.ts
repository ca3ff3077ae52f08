import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisStack } from '../../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import { leaseNames } from '../../../src/cache/lease.ts';
import type { Store, StoreEvent } from '../../../src/cache/store.ts';
import { until } from '../../until.ts';
import {
  connectedFor,
  LONG_MS,
  onOneServer,
  standaloneOf,
  whileDenied,
  whileFull,
  whilePaused,
  whileReplica,
} from './harness.ts';

const TTL_MS = 600_000;
const ON = leaseNames('sc1:goods:{fault}');
const OTHER = leaseNames('sc1:goods:{other}');
const REFUSED = { kind: 'fault', fault: 'refused' };
const NOT_WRITTEN = { kind: 'dropped', fault: 'refused' };

describe('leases on a faulty server', () => {
  let stack: RedisStack;
  let server: RedisNode;
  let store: Store;
  let events: readonly StoreEvent[];
  const take = (token = 'a', on = ON, ttlMs = TTL_MS) => store.leases.take(on, token, ttlMs, LONG_MS);
  const look = (on = ON) => store.leases.look(on, LONG_MS);
  const write = (token = 'a', on = ON) => store.leases.writeAndRelease(on, token, Buffer.from('page'), TTL_MS);
  const isFree = async (): Promise<boolean> => (await look()).kind === 'free';
  const breakers = (): readonly StoreEvent[] => events.filter(({ kind }) => kind === 'breaker');

  onOneServer({}, (given) => {
    ({ stack, server, store, events } = given);
  });

  test('out of memory: no lease is taken, a lease taken before is seen, and ends without its entry', async () => {
    await store.write(ON.entry, Buffer.from('old'), TTL_MS);
    assert.equal((await take()).kind, 'taken');
    await whileFull(server, async () => {
      assert.deepEqual(await take('a', OTHER), REFUSED);
      assert.deepEqual(await take('b'), { kind: 'held' });
      assert.deepEqual(await write(), NOT_WRITTEN);
      // The write itself has freed it, not a later release.
      assert.deepEqual(await look(), { kind: 'free', value: Buffer.from('old') });
    });
    assert.deepEqual(breakers(), []);
  });

  test('out of memory: a release succeeds without its pass mark', async () => {
    await take();
    await whileFull(server, async () => {
      await store.leases.release(ON, 'a', 60_000);
      assert.deepEqual(await look(), { kind: 'free', value: undefined });
    });
  });

  test('a value with a longer lifetime than any of our leases is no lease: no process waits for it, and the lease is taken', async () => {
    for (const expiry of [[], ['PX', '4294967295']]) {
      for (const word of ['t0', 'p']) {
        await server.command('SET', ON.lease, word, ...expiry);
        assert.deepEqual(await look(), { kind: 'free', value: undefined }, `${word} ${expiry.join(' ')}`);
        assert.deepEqual(await take(), { kind: 'taken', value: undefined });
        assert.deepEqual(await take('b'), { kind: 'held' });
        await store.leases.release(ON, 'a');
      }
    }
  });

  test('a user without the right to PTTL has leases all the same', async () => {
    await whileDenied(server, 'pttl', async () => {
      assert.deepEqual(await take(), { kind: 'taken', value: undefined });
      assert.deepEqual([(await take('b')).kind, (await look()).kind], ['held', 'held']);
      assert.deepEqual(await write(), { kind: 'stored' });
    });
  });

  test('a replica: nothing is taken or written, looks work, and no breaker opens', async () => {
    await take();
    await whileReplica(server, async () => {
      for (let round = 0; round < 10; round += 1) {
        assert.deepEqual(await take('a', OTHER), REFUSED);
        assert.deepEqual(await write(), NOT_WRITTEN);
        assert.deepEqual(await look(), { kind: 'held' });
        assert.deepEqual(await look(OTHER), { kind: 'free', value: undefined });
      }
    });
    assert.deepEqual(breakers(), []);
  });

  test('a user without the right to run scripts: every lease is a fault, reads and writes work, and no breaker opens', async () => {
    await whileDenied(server, 'eval', async () => {
      for (let round = 0; round < 10; round += 1) {
        assert.deepEqual(await take(), REFUSED);
        assert.deepEqual(await look(), REFUSED);
        assert.deepEqual(await write(), NOT_WRITTEN);
        await store.leases.release(ON, 'a', 100);
        assert.deepEqual(await store.beat('a', 1000, LONG_MS), REFUSED);
        assert.deepEqual(await store.epochs(LONG_MS), []);
        assert.deepEqual(await store.write('sc1:goods:{x}', Buffer.from('x'), TTL_MS), { kind: 'stored' });
      }
    });
    assert.deepEqual(breakers(), []);
  });

  test("a list under a lease's name: every lease is a fault and the list stays", async () => {
    await server.command('LPUSH', ON.lease, 'x');
    assert.deepEqual(await take(), REFUSED);
    assert.deepEqual(await look(), REFUSED);
    assert.deepEqual(await write(), NOT_WRITTEN);
    await store.leases.release(ON, 'a');
    assert.equal(await server.command('LLEN', ON.lease), 1);
    assert.deepEqual(breakers(), []);
  });

  test("a list under an entry's name: the lease is taken without a value, and its page replaces the list", async () => {
    await server.command('LPUSH', ON.entry, 'x');
    assert.deepEqual(await take(), { kind: 'taken', value: undefined });
    assert.deepEqual(await write(), { kind: 'stored' });
    assert.deepEqual(await look(), { kind: 'free', value: Buffer.from('page') });
  });

  test('a server that has forgotten all scripts runs them again at once', async () => {
    await take();
    await server.command('SCRIPT', 'FLUSH');
    assert.deepEqual(await write(), { kind: 'stored' });
  });

  test('a stopped server: a take ends by its deadline, and a lease that is taken afterwards is released', async () => {
    await whilePaused(server, async () => {
      assert.deepEqual(await store.leases.take(ON, 'a', TTL_MS, 50), { kind: 'fault', fault: 'store-slow' });
    });
    await until('the lease to be released', async () => (await server.command('EXISTS', ON.lease)) === 0);
    await until('the lease to be free', isFree);
    const [taken] = events.filter((event) => event.kind === 'command' && event.operation === 'lease');
    assert.ok(taken?.kind === 'command' && taken.result === 'store-slow');
  });

  test('a connection that breaks between command and reply leaves no lease behind', async (t) => {
    // The socket timeout is shorter than the deadline.
    const { store: hasty } = await connectedFor(t, standaloneOf(stack, { socketTimeoutMs: 1000 }));
    const taking = Array.from({ length: 20 }, (_, index) => leaseNames(`sc1:goods:{broken-${index}}`));
    await whilePaused(server, async () => {
      const takes = await Promise.all(taking.map((on) => hasty.leases.take(on, 'a', TTL_MS, LONG_MS)));
      for (const taken of takes) assert.deepEqual(taken, { kind: 'fault', fault: 'store-down' });
    });
    // The server reads the commands of the broken connection, and takes all these leases.
    await until(
      'all of them to be given back',
      async () => (await server.command('KEYS', '*lease*'))?.toString() === '',
    );
  });

  test('a write that the server executes after the lease has expired changes nothing', async () => {
    await take('a', ON, 50);
    await server.pause();
    const written = write();
    await sleep(100);
    server.resume();
    assert.deepEqual(await written, { kind: 'dropped', fault: 'fenced' });
    assert.deepEqual(await look(), { kind: 'free', value: undefined });
  });

  test('a server killed between take and write: the write is given up, and after its restart the lease is free', async () => {
    await take();
    await server.kill();
    await until('the loss to be seen', async () => !store.nodes()[0]?.connected);
    assert.deepEqual(await write(), { kind: 'dropped', fault: 'store-down' });
    await store.leases.release(ON, 'a');
    await server.restart();
    await until('the lease to be free', isFree);
    assert.equal((await take('b')).kind, 'taken');
    assert.deepEqual(await write('a'), { kind: 'dropped', fault: 'fenced' });
    assert.deepEqual(await write('b'), { kind: 'stored' });
  });
});

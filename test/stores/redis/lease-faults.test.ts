import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import { leaseNames, type Store, type StoreEvent } from '../../../src/cache/store.ts';
import { onOneServer } from './harness.ts';

const DEADLINE_MS = 2000;
const TTL_MS = 600_000;
const ON = leaseNames('sc1:goods:{fault}');
const OTHER = leaseNames('sc1:goods:{other}');
const REFUSED = { kind: 'fault', fault: 'refused' };
const NOT_WRITTEN = { kind: 'dropped', fault: 'refused' };

describe('a server that hurts a lease', () => {
  let server: RedisNode;
  let store: Store;
  let events: readonly StoreEvent[];
  const take = (token = 'a', on = ON, ttlMs = TTL_MS) => store.leases.take(on, token, ttlMs, DEADLINE_MS);
  const look = (on = ON) => store.leases.look(on, DEADLINE_MS);
  const write = (token = 'a', on = ON) => store.leases.writeAndRelease(on, token, Buffer.from('page'), TTL_MS);
  const isFree = async (): Promise<boolean> => (await look()).kind === 'free';
  const breakers = (): readonly StoreEvent[] => events.filter(({ kind }) => kind === 'breaker');

  onOneServer({ socketTimeoutMs: 1000 }, (given) => {
    ({ server, store, events } = given);
  });

  test('out of memory: none is taken, those taken before are seen, and end without their entry', async () => {
    await store.write(ON.entry, Buffer.from('old'), TTL_MS);
    assert.equal((await take()).kind, 'taken');
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction', 'maxmemory', '1');
    try {
      assert.deepEqual(await take('a', OTHER), REFUSED);
      assert.deepEqual(await take('b'), { kind: 'held' });
      assert.deepEqual(await write(), NOT_WRITTEN);
      // At once, not by a release that follows.
      assert.deepEqual(await look(), { kind: 'free', value: Buffer.from('old') });
    } finally {
      await server.command('CONFIG', 'SET', 'maxmemory', '0');
    }
    assert.deepEqual(breakers(), []);
  });

  test('out of memory: a release goes through without its pass mark', async () => {
    await take();
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction', 'maxmemory', '1');
    try {
      await store.leases.release(ON, 'a', 60_000);
      assert.deepEqual(await look(), { kind: 'free' });
    } finally {
      await server.command('CONFIG', 'SET', 'maxmemory', '0');
    }
  });

  test('a lease that outlives every lease of ours is none: it is not waited for, and it is taken', async () => {
    for (const expiry of [[], ['PX', '4294967295']]) {
      for (const word of ['t0', 'p']) {
        await server.command('SET', ON.lease, word, ...expiry);
        assert.deepEqual(await look(), { kind: 'free' }, `${word} ${expiry.join(' ')}`);
        assert.deepEqual(await take(), { kind: 'taken' });
        assert.deepEqual(await take('b'), { kind: 'held' });
        await store.leases.release(ON, 'a');
      }
    }
  });

  test('a user who may not ask for lifetimes has leases all the same', async () => {
    await server.command('ACL', 'SETUSER', 'default', '-pttl');
    try {
      assert.deepEqual(await take(), { kind: 'taken' });
      assert.deepEqual([(await take('b')).kind, (await look()).kind], ['held', 'held']);
      assert.deepEqual(await write(), { kind: 'stored' });
    } finally {
      await server.command('ACL', 'SETUSER', 'default', '+pttl');
    }
  });

  test('a replica: nothing is taken or written, looks go on, and no breaker opens', async () => {
    await take();
    await server.command('REPLICAOF', '127.0.0.1', '1');
    try {
      for (let round = 0; round < 10; round += 1) {
        assert.deepEqual(await take('a', OTHER), REFUSED);
        assert.deepEqual(await write(), NOT_WRITTEN);
        assert.deepEqual(await look(), { kind: 'held' });
        assert.deepEqual(await look(OTHER), { kind: 'free' });
      }
    } finally {
      await server.command('REPLICAOF', 'NO', 'ONE');
    }
    assert.deepEqual(breakers(), []);
  });

  test('a user who may run no scripts: every lease is a fault, reads and writes go on, and no breaker opens', async () => {
    await server.command('ACL', 'SETUSER', 'default', '-eval');
    try {
      for (let round = 0; round < 10; round += 1) {
        assert.deepEqual(await take(), REFUSED);
        assert.deepEqual(await look(), REFUSED);
        assert.deepEqual(await write(), NOT_WRITTEN);
        await store.leases.release(ON, 'a', 100);
        assert.deepEqual(await store.beat('a', 1000, DEADLINE_MS), REFUSED);
        assert.deepEqual(await store.epochs(DEADLINE_MS), []);
        assert.deepEqual(await store.write('sc1:goods:{x}', Buffer.from('x'), TTL_MS), { kind: 'stored' });
      }
    } finally {
      await server.command('ACL', 'SETUSER', 'default', '+eval');
    }
    assert.deepEqual(breakers(), []);
  });

  test("a lease's name that holds a list: every lease is a fault and the list stays", async () => {
    await server.command('LPUSH', ON.lease, 'x');
    assert.deepEqual(await take(), REFUSED);
    assert.deepEqual(await look(), REFUSED);
    assert.deepEqual(await write(), NOT_WRITTEN);
    await store.leases.release(ON, 'a');
    assert.equal(await server.command('LLEN', ON.lease), 1);
    assert.deepEqual(breakers(), []);
  });

  test("an entry's name that holds a list: the lease is taken without a value, and its page takes the list's place", async () => {
    await server.command('LPUSH', ON.entry, 'x');
    assert.deepEqual(await take(), { kind: 'taken' });
    assert.deepEqual(await write(), { kind: 'stored' });
    assert.deepEqual(await look(), { kind: 'free', value: Buffer.from('page') });
  });

  test('a server that has forgotten all scripts knows them again at once', async () => {
    await take();
    await server.command('SCRIPT', 'FLUSH');
    assert.deepEqual(await write(), { kind: 'stored' });
  });

  test('a stopped server: a take ends by its deadline, and what it takes afterwards is given back', async () => {
    await server.pause();
    try {
      const startedMs = performance.now();
      assert.deepEqual(await store.leases.take(ON, 'a', TTL_MS, 50), { kind: 'fault', fault: 'store-slow' });
      assert.ok(performance.now() - startedMs < 600);
    } finally {
      server.resume();
    }
    await until('the lease to be given back', async () => (await server.command('EXISTS', ON.lease)) === 0);
    await until('the lease to be free', isFree);
    const [taken] = events.filter((event) => event.kind === 'command' && event.operation === 'lease');
    assert.ok(taken?.kind === 'command' && taken.result === 'store-slow');
  });

  test('a connection that breaks between the question and the answer leaves no lease behind', async () => {
    await server.pause();
    const taking = Array.from({ length: 20 }, (_, index) => leaseNames(`sc1:goods:{broken-${index}}`));
    try {
      // The socket timeout is the shorter one.
      const takes = await Promise.all(taking.map((on) => store.leases.take(on, 'a', TTL_MS, 20_000)));
      for (const taken of takes) assert.deepEqual(taken, { kind: 'fault', fault: 'store-down' });
    } finally {
      server.resume();
    }
    // The server reads what the broken connection had brought, and takes them all.
    await until(
      'all of them to be given back',
      async () => (await server.command('KEYS', '*lease*'))?.toString() === '',
    );
  });

  test('a write the server comes to after the lease has expired changes nothing', async () => {
    await take('a', ON, 200);
    await server.pause();
    const written = write();
    await sleep(300);
    server.resume();
    assert.deepEqual(await written, { kind: 'dropped', fault: 'fenced' });
    assert.deepEqual(await look(), { kind: 'free' });
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

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RedisStack } from '../../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import { readOnce, type StoreEvent } from '../../../src/cache/store.ts';
import { keyOf } from '../../../src/search/key.ts';
import type { RedisStore } from '../../../src/stores/redis/store.ts';
import { until } from '../../until.ts';
import {
  connected,
  connectedFor,
  LONG_MS,
  onOneServer,
  openedFor,
  standaloneOf,
  whilePaused,
  whileReplica,
} from './harness.ts';

const TTL_MS = 600_000;
const entryOf = (id: string | number): string => keyOf(String(id), 'goods').storeName;

describe('counting and erasing on a faulty server', () => {
  let stack: RedisStack;
  let server: RedisNode;
  let store: RedisStore;
  let events: readonly StoreEvent[];
  onOneServer({}, async (given) => {
    ({ stack, server, store, events } = given);
    await store.write(entryOf(1), Buffer.from('kept'), TTL_MS);
  });

  const calls = () => {
    const { content } = store;
    return {
      SCAN: () => content.scan(server.address, '0', 100),
      STRLEN: () => content.sizes(server.address, [entryOf(1)]),
      UNLINK: () => content.unlink(server.address, [entryOf(1)]),
      DBSIZE: () => content.count(server.address),
      FLUSHDB: () => content.flushNode(server.address),
      INFO: () => content.info(server.address),
      PTTL: () => content.lifeMs(entryOf(1)),
    };
  };
  const rejectWith = (call: () => Promise<unknown>, words: RegExp): Promise<void> =>
    assert.rejects(call(), { name: 'StoreUnreachable', message: words });

  test('a missing right is reported in the server’s words, and no breaker opens', async () => {
    for (const [command, call] of Object.entries(calls())) {
      await server.command('ACL', 'SETUSER', 'default', `-${command.toLowerCase()}`);
      try {
        for (let round = 0; round < 8; round += 1) {
          await rejectWith(call, new RegExp(`^${server.address} refused ${command}: NOPERM .*${command}`, 'i'));
        }
      } finally {
        await server.command('ACL', 'SETUSER', 'default', '+@all');
      }
    }
    assert.ok(!events.some(({ kind }) => kind === 'breaker'));
    assert.equal((await readOnce(store, entryOf(1), 1000)).kind, 'value');
  });

  test('a replica is counted and refuses to be erased', async () => {
    await whileReplica(server, async () => {
      const { SCAN, STRLEN, UNLINK, FLUSHDB } = calls();
      assert.deepEqual((await SCAN()).names, [entryOf(1)]);
      assert.deepEqual(await STRLEN(), [4]);
      await rejectWith(UNLINK, /refused UNLINK: READONLY/);
      await rejectWith(FLUSHDB, /refused FLUSHDB: READONLY/);
    });
  });

  test('paused, killed, closed: every call rejects in time, and works again when the server is back', async () => {
    await whilePaused(server, async () => {
      await Promise.all(
        Object.entries(calls()).map(([name, call]) => rejectWith(call, new RegExp(`answer.* ${name}`))),
      );
    });
    await until('an answer', async () => (await store.content.count(server.address)) >= 0);
    await server.kill();
    for (const [name, call] of Object.entries(calls())) {
      await rejectWith(call, new RegExp(`${server.address} (cannot be reached for ${name}|was given up)`));
    }
    await server.restart();
    await until('an answer', async () => (await store.content.count(server.address)) === 0);
    await store.close();
    assert.deepEqual(store.content.nodes(), []);
    for (const call of Object.values(calls())) await assert.rejects(async () => call(), { name: 'StoreUnreachable' });
  });

  test('killed in the middle of an erasure: it rejects in time', async () => {
    const names = Array.from({ length: 512 }, (_, index) => entryOf(`large ${index}`));
    for (const name of names) await store.write(name, Buffer.alloc(2000), TTL_MS);
    await server.pause();
    const unlinking = rejectWith(() => store.content.unlink(server.address, names), /cannot be reached for UNLINK/);
    await server.kill();
    await unlinking;
    await server.restart();
  });

  test('with a small outstanding bound it waits for room, and leaves half of the bound to reads', async (t) => {
    const settings = standaloneOf(stack, { maxOutstanding: 8 });
    const { store: narrow } = openedFor(t, settings, { contentDeadlineMs: LONG_MS });
    await connected(narrow, 1);
    const names = Array.from({ length: 200 }, (_, index) => entryOf(index));
    for (const name of names) await narrow.write(name, Buffer.from('x'), TTL_MS);
    const sizing = Promise.all([1, 2, 3].map(() => narrow.content.sizes(server.address, names)));
    let most = 0;
    let done = false;
    const watch = (async () => {
      while (!done) {
        most = Math.max(most, narrow.nodes()[0]?.outstanding ?? 0);
        await new Promise((next) => setImmediate(next));
      }
    })();
    const sizes = await sizing.finally(() => {
      done = true;
    });
    await watch;
    for (const each of sizes) assert.ok(each.length === 200 && each.every((size) => size === 1));
    assert.ok(most > 0 && most <= 4, `${most} outstanding`);
    assert.equal(await narrow.content.unlink(server.address, names), 200);
  });

  test('flushing a node empties the database of this store and no other', async (t) => {
    const { store: third } = await connectedFor(t, standaloneOf(stack, { database: 3 }));
    await until('a write', async () => (await third.write(entryOf(1), Buffer.from('x'), TTL_MS)).kind === 'stored');
    assert.equal(await third.content.count(server.address), 1);
    await third.content.flushNode(server.address);
    assert.equal(await third.content.count(server.address), 0);
    assert.equal(await store.content.count(server.address), 1);
  });

  test('a key of another type under an entry’s name has size 0, and is removed', async () => {
    await server.command('LPUSH', entryOf('list'), 'x');
    assert.deepEqual(await store.content.sizes(server.address, [entryOf('list'), entryOf(1)]), [0, 4]);
    assert.equal(await store.content.unlink(server.address, [entryOf('list')]), 1);
  });
});

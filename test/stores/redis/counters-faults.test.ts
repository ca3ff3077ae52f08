import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RedisStack } from '../../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import type { StoreEvent } from '../../../src/cache/store.ts';
import type { CommandReply } from '../../../src/stores/redis/commands.ts';
import { createRedisCounters } from '../../../src/stores/redis/counters.ts';
import type { RedisStore } from '../../../src/stores/redis/store.ts';
import { pluck } from '../../pluck.ts';
import { until } from '../../until.ts';
import {
  connected,
  LONG_MS,
  onOneServer,
  openedFor,
  standaloneOf,
  whileFull,
  whilePaused,
  whileReplica,
} from './harness.ts';

const SHORT_MS = 200;
const HOUR_MS = 3_600_000;

describe('the counters on a faulty server', () => {
  let stack: RedisStack;
  let server: RedisNode;
  let store: RedisStore;
  let events: readonly StoreEvent[];
  onOneServer({}, async (given) => {
    ({ stack, server, store, events } = given);
    assert.equal(await store.counters.add('goods', [{ search: 'q=a', count: 2 }], LONG_MS), true);
  });

  const many = Array.from({ length: 1000 }, (_, index) => ({ search: `q=${index}`, count: 1 }));
  const givenUpInTime = async (): Promise<void> => {
    const [added, found] = await Promise.all([
      store.counters.add('goods', many, SHORT_MS),
      store.counters.top('goods', 10, SHORT_MS),
    ]);
    assert.deepEqual([added, found], [false, undefined]);
  };

  test('paused and killed: nothing is counted or returned, within the deadline, and it works again afterwards', async () => {
    await whilePaused(server, async () => {
      const before = events.length;
      await givenUpInTime();
      const sent = events.slice(before).filter((event) => event.kind === 'command' && event.operation === 'counters');
      assert.equal(sent.length, 2, 'more than one batch was sent although the first was not answered');
    });
    await until('an answer', async () => (await store.counters.top('goods', 10, LONG_MS)) !== undefined);
    await server.kill();
    await givenUpInTime();
    await server.restart();
    await until('an answer', async () => store.counters.add('goods', many, LONG_MS));
    assert.equal((await store.counters.top('goods', 1000, LONG_MS))?.length, 1000);
  });

  test('planted members that we could not have counted are left out: infinite, negative, longer than any search', async () => {
    await store.counters.add('planted', [{ search: 'q=a', count: 2 }], LONG_MS);
    const [key = ''] = (await server.command('KEYS', 'sc1:planted:*')) as readonly string[];
    const planted = ['inf', 'q=inf', '-5', 'q=below', '9', `q=${'x'.repeat(10_000)}`];
    await server.command('ZADD', key, ...planted);
    assert.deepEqual(await store.counters.top('planted', 10, LONG_MS), [{ search: 'q=a', count: 2 }]);
  });

  test('values of another type under our names are overwritten', async () => {
    await server.command('SET', 'sc1:goods:fleet', 'x');
    assert.deepEqual(await store.beat('own', HOUR_MS, LONG_MS), { kind: 'fleet', live: 1, rank: 0, ids: ['own'] });
    const [{ part: epoch } = { part: '' }] = await store.epochs(LONG_MS);
    await server.command('DEL', epoch);
    await server.command('LPUSH', epoch, 'x');
    assert.equal((await store.epochs(LONG_MS)).length, 1);
    const [window = ''] = (await server.command('KEYS', 'sc1:goods:{popular:*')) as readonly string[];
    for (let each = 0; each < 7; each += 1) await server.command('SET', window.replace(/\d+$/, String(each)), 'x');
    assert.deepEqual(await store.counters.top('goods', 10, LONG_MS), []);
    assert.equal(await store.counters.add('goods', [{ search: 'q=b', count: 3 }], LONG_MS), true);
    assert.deepEqual(await store.counters.top('goods', 10, LONG_MS), [{ search: 'q=b', count: 3 }]);
  });

  test('the process count ignores members with impossible lifetimes, and has a maximum', async () => {
    const key = 'sc1:goods:fleet';
    assert.deepEqual(await store.beat('own', HOUR_MS, LONG_MS), { kind: 'fleet', live: 1, rank: 0, ids: ['own'] });
    await server.command('ZADD', key, '1e300', 'planted', 'inf', 'more');
    assert.deepEqual(await store.beat('own', HOUR_MS, LONG_MS), { kind: 'fleet', live: 1, rank: 0, ids: ['own'] });
    const many =
      "local t = redis.call('TIME')[1] * 1000 for i = 1, 9000 do redis.call('ZADD', KEYS[1], t + 60000, 'z' .. i) end";
    await server.command('EVAL', many, '1', key);
    const beaten = await store.beat('own', 60_000, LONG_MS);
    assert.ok(beaten.kind === 'fault' || beaten.live <= 4096, JSON.stringify(beaten));
  });

  test('out of memory and a replica: nothing is counted, the stored counts are returned, and no breaker opens', async () => {
    for (const whileHurt of [whileFull, whileReplica]) {
      await whileHurt(server, async () => {
        for (let round = 0; round < 10; round += 1) {
          assert.equal(await store.counters.add('goods', many, LONG_MS), false);
          assert.deepEqual(await store.counters.top('goods', 5, LONG_MS), [{ search: 'q=a', count: 2 }]);
        }
      });
    }
    assert.ok(!events.some(({ kind }) => kind === 'breaker'));
  });

  test('processes whose clocks are hours apart count together', async (t) => {
    const skewed = [-5 * HOUR_MS, 5 * HOUR_MS].map(
      (skewMs) =>
        openedFor(t, standaloneOf(stack), {
          clock: { wallMs: () => Date.now() + skewMs, monotonicMs: () => performance.now() + Math.abs(skewMs) },
        }).store,
    );
    await Promise.all(skewed.map((each) => connected(each, 1)));
    for (const { counters } of skewed) await counters.add('goods', [{ search: 'q=a', count: 3 }], LONG_MS);
    for (const { counters } of [...skewed, store]) {
      assert.deepEqual(await counters.top('goods', 5, LONG_MS), [{ search: 'q=a', count: 8 }]);
    }
  });

  test('counts expire by themselves', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `sc1:goods:{popular:goods}:${index}`);
    const lives = await Promise.all(names.map((name) => server.command('PTTL', name)));
    const [life, ...more] = lives.map(Number).filter((ms) => ms !== -2);
    assert.deepEqual(more, []);
    assert.ok(life !== undefined && life > HOUR_MS - 1000 && life <= HOUR_MS * (7 / 6), `${life} ms`);
  });
});

const bytes = (text: string): Buffer => Buffer.from(text);

test('planted searches that no process would have counted are not among the most asked', async () => {
  const planted = ['x'.repeat(1025), '1', 'q=a', 'inf', 'q=b', '-5', 'q=c', 'nan', '', '7', 'q=d', '3'];
  const reply: CommandReply = { kind: 'reply', reply: [planted.map(bytes), [bytes('q=d'), bytes('1')]] };
  const counters = createRedisCounters({ send: async () => reply, clock: { monotonicMs: () => 0 } });
  const top = await counters.top('goods', 10, 100);
  assert.deepEqual(pluck(top, 'search'), ['q=d']);
});

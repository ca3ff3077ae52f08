import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startStandalone } from '../../../loadtest/stack/redis.ts';
import type { StoreEvent } from '../../../src/cache/store.ts';
import { systemClock } from '../../../src/runtime.ts';
import { createRedisStore } from '../../../src/stores/redis/store.ts';

const CONNECTION = {
  deadlineMs: 1000,
  connectTimeoutMs: 2000,
  socketTimeoutMs: 3000,
  maxOutstanding: 100,
  batchSize: 50,
  refreshMs: 15_000,
  dedicated: false,
};

test('a database the server has is used; one it has not is never taken for database 0', async (t) => {
  const server = await startStandalone({ flavour: 'redis' });
  t.after(server.stop);
  const node = server.nodes[0];
  assert.ok(node);
  const open = (database: number) => {
    const events: StoreEvent[] = [];
    const settings = {
      kind: 'standalone',
      nodes: [{ host: node.host, port: node.port }],
      database,
      ...CONNECTION,
    } as const;
    const observe = (event: StoreEvent): void => {
      events.push(event);
    };
    const store = createRedisStore({ settings, name: 'goods', clock: systemClock, random: Math.random, observe });
    t.after(store.close);
    return { store, events };
  };
  const eventually = async (holds: () => Promise<boolean>): Promise<void> => {
    for (let i = 0; i < 200 && !(await holds()); i += 1) await new Promise((resolve) => setTimeout(resolve, 25));
    assert.ok(await holds());
  };

  const good = open(3).store;
  await eventually(async () => (await good.write('k', Buffer.from('v'), 10_000)).kind === 'stored');
  assert.equal(await node.command('DBSIZE'), 0);

  const { store: wrong, events } = open(99);
  await eventually(async () =>
    events.some(({ kind, ...rest }) => kind === 'connection' && JSON.stringify(rest).includes('database 99')),
  );
  assert.deepEqual(await wrong.write('k', Buffer.from('v'), 10_000), { kind: 'dropped', fault: 'store-down' });
  assert.equal((await wrong.read('k', 500)).kind, 'fault');
  assert.equal(wrong.nodes()[0]?.connected, false);
  assert.equal(await node.command('DBSIZE'), 0);
});

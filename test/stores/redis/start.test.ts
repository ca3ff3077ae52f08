import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { freePorts } from '../../../loadtest/stack/process.ts';
import { type RedisStack, startCluster, startSentinel, startStandalone, until } from '../../../loadtest/stack/redis.ts';
import type { Store } from '../../../src/cache/store.ts';
import type { RedisSettings } from '../../../src/stores/redis/connection.ts';
import { CONNECTION, clusterOf, connected, type OpenStore, openStore, sentinelOf, standaloneOf } from './open.ts';

const DOWN = { kind: 'fault', fault: 'store-down' };

const assertDown = async (store: Store): Promise<void> => {
  const startedMs = performance.now();
  assert.deepEqual(await store.read('a', 50), DOWN);
  assert.deepEqual(await store.readMany(['a', 'b'], 50), [DOWN, DOWN]);
  assert.deepEqual(await store.write('a', Buffer.from('1'), 1000), { kind: 'dropped', fault: 'store-down' });
  assert.ok(performance.now() - startedMs < 1000, 'a store that is down must answer at once');
};
const heals = (store: Store): Promise<void> =>
  until('the store to heal', async () => {
    await store.write('a', Buffer.from('1'), 60_000);
    return (await store.read('a', 500)).kind === 'value';
  });
/** Closed with the test. */
const opened = (t: TestContext, settings: RedisSettings): OpenStore => {
  const open = openStore(settings);
  t.after(open.store.close);
  return open;
};
const started = async (t: TestContext, starting: Promise<RedisStack>): Promise<RedisStack> => {
  const stack = await starting;
  t.after(stack.stop);
  return stack;
};

// Each has servers of its own and waits for what these decide.
describe('a store that starts', { concurrency: true }, () => {
  test('standalone: down at first, well when the server comes', async (t) => {
    const ports = await freePorts(1);
    const [port = 0] = ports;
    const { store } = opened(t, {
      kind: 'standalone',
      nodes: [{ host: '127.0.0.1', port }],
      database: 0,
      ...CONNECTION,
    });
    await assertDown(store);
    await started(t, startStandalone({ flavour: 'redis', ports }));
    await heals(store);
  });

  test('cluster: down at first, well when the nodes come', async (t) => {
    const ports = await freePorts(3);
    const nodes = ports.map((port) => ({ host: '127.0.0.1', port }));
    const { store } = opened(t, { kind: 'cluster', nodes, ...CONNECTION });
    await assertDown(store);
    await started(t, startCluster({ flavour: 'redis', masters: 3, ports }));
    await heals(store);
  });

  test('sentinel: down at first, well when sentinels and master come', async (t) => {
    const ports = await freePorts(5);
    const sentinels = ports.slice(2).map((port) => ({ host: '127.0.0.1', port }));
    const { store } = opened(t, { kind: 'sentinel', sentinels, master: 'serpcache', database: 0, ...CONNECTION });
    await assertDown(store);
    await started(t, startSentinel({ flavour: 'redis', sentinels: 3, replicas: 1, ports }));
    await heals(store);
  });

  test('a host name nobody knows is down, not an error', async (t) => {
    const nodes = [{ host: 'no-such-host.invalid', port: 6379 }] as const;
    for (const settings of [
      { kind: 'standalone', nodes, database: 0, ...CONNECTION },
      { kind: 'cluster', nodes, ...CONNECTION },
      { kind: 'sentinel', sentinels: nodes, master: 'm', database: 0, ...CONNECTION },
    ] as const) {
      const { store } = opened(t, settings);
      await assertDown(store);
    }
  });

  test('a wrong password is down, and says so', async (t) => {
    const acl = { username: 'app', password: 'right', rules: '~* +@all' };
    const stack = await started(t, startStandalone({ flavour: 'redis', acl }));
    const wrong = { username: 'app', password: 'wrong' };
    for (const settings of [standaloneOf(stack, wrong), clusterOf(stack, wrong)]) {
      const { store, events } = opened(t, settings);
      await until('the refusal to be told', async () =>
        events.some((event) => event.kind === 'connection' && event.detail?.includes('WRONGPASS')),
      );
      await assertDown(store);
    }
  });

  test('a certificate nobody trusts is down, and says so', async (t) => {
    const stack = await started(t, startStandalone({ flavour: 'redis', tls: true }));
    const { store, events } = opened(t, standaloneOf(stack, { tls: { rejectUnauthorized: true } }));
    await until('the refusal to be told', async () =>
      events.some((event) => event.kind === 'connection' && event.detail?.includes('certificate')),
    );
    await assertDown(store);
  });

  test('beside one dead shard it serves the others, and all of them when that goes on', async (t) => {
    const stack = await started(t, startCluster({ flavour: 'redis', masters: 3 }));
    const [sick] = stack.nodes;
    await sick?.pause();
    const { store } = openStore(clusterOf(stack));
    try {
      await connected(store, 2);
      const names = Array.from({ length: 60 }, (_, index) => `sc1:goods:{${index}}`);
      const well = names.filter((name) => store.locate(name).node !== sick?.address);
      for (const name of well) assert.equal((await store.write(name, Buffer.from('1'), 60_000)).kind, 'stored');
      sick?.resume();
      await connected(store, 3);
      for (const name of names) assert.equal((await store.write(name, Buffer.from('1'), 60_000)).kind, 'stored');
    } finally {
      sick?.resume();
      await store.close();
    }
  });

  test('a cluster that comes back under other addresses is found again from the configured ones', async () => {
    const [old, next] = [await freePorts(3), await freePorts(3)];
    const nodes = [...old, ...next].map((port) => ({ host: '127.0.0.1', port }));
    const first = await startCluster({ flavour: 'redis', masters: 3, ports: old });
    const { store, events } = openStore({ kind: 'cluster', nodes, ...CONNECTION, refreshMs: 1000 });
    let second: RedisStack | undefined;
    try {
      await connected(store, 3);
      await first.stop();
      second = await startCluster({ flavour: 'redis', masters: 3, ports: next });
      await until('the new nodes to serve', async () => {
        await store.write('a', Buffer.from('1'), 60_000);
        return (await store.read('a', 500)).kind === 'value';
      });
      const shown = (): string[] =>
        store
          .nodes()
          .map(({ node }) => node)
          .sort();
      // One of them may still be on its way when the others serve.
      await until('all of them to be known', async () => shown().length === next.length);
      assert.deepEqual(shown(), next.map((port) => `127.0.0.1:${port}`).sort());
      const open = new Set<string>();
      for (const event of events) {
        if (event.kind !== 'breaker') continue;
        if (event.state === 'closed') open.delete(event.node);
        else open.add(event.node);
      }
      assert.deepEqual([...open], [], 'breakers of nodes that are gone are still said to be open');
    } finally {
      await store.close();
      await first.stop();
      await second?.stop();
    }
  });

  test('a stopped first sentinel does not keep the store from its master', async () => {
    const stack = await startSentinel({ flavour: 'redis', sentinels: 3, replicas: 1 });
    await stack.sentinels[0]?.pause();
    const { store } = openStore(sentinelOf(stack));
    try {
      await connected(store, 1);
    } finally {
      stack.sentinels[0]?.resume();
      await store.close();
      await stack.stop();
    }
  });
});

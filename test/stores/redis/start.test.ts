import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { freePorts } from '../../../loadtest/stack/process.ts';
import { type RedisStack, startCluster, startSentinel, startStandalone, until } from '../../../loadtest/stack/redis.ts';
import type { Store } from '../../../src/cache/store.ts';
import { CONNECTION, clusterOf, connected, openStore, sentinelOf, standaloneOf } from './open.ts';

const DOWN = { kind: 'fault', fault: 'store-down' };

describe('a store that starts while its servers are away', () => {
  let store: Store | undefined;
  let stack: RedisStack | undefined;
  afterEach(async () => {
    await store?.close();
    await stack?.stop();
    store = undefined;
    stack = undefined;
  });

  const assertDown = async (): Promise<void> => {
    const startedMs = performance.now();
    assert.deepEqual(await store?.read('a', 50), DOWN);
    assert.deepEqual(await store?.readMany(['a', 'b'], 50), [DOWN, DOWN]);
    assert.deepEqual(await store?.write('a', Buffer.from('1'), 1000), { kind: 'dropped', fault: 'store-down' });
    assert.ok(performance.now() - startedMs < 1000, 'a store that is down must answer at once');
  };
  const heals = (): Promise<void> =>
    until('the store to heal', async () => {
      await store?.write('a', Buffer.from('1'), 60_000);
      return (await store?.read('a', 500))?.kind === 'value';
    });

  test('standalone: down at first, well when the server comes', async () => {
    const ports = await freePorts(1);
    const [port = 0] = ports;
    store = openStore({ kind: 'standalone', nodes: [{ host: '127.0.0.1', port }], database: 0, ...CONNECTION }).store;
    await assertDown();
    stack = await startStandalone({ flavour: 'redis', ports });
    await heals();
  });

  test('cluster: down at first, well when the nodes come', async () => {
    const ports = await freePorts(3);
    const nodes = ports.map((port) => ({ host: '127.0.0.1', port }));
    store = openStore({ kind: 'cluster', nodes, ...CONNECTION }).store;
    await assertDown();
    stack = await startCluster({ flavour: 'redis', masters: 3, ports });
    await heals();
  });

  test('sentinel: down at first, well when sentinels and master come', async () => {
    const ports = await freePorts(5);
    const sentinels = ports.slice(2).map((port) => ({ host: '127.0.0.1', port }));
    store = openStore({ kind: 'sentinel', sentinels, master: 'serpcache', database: 0, ...CONNECTION }).store;
    await assertDown();
    stack = await startSentinel({ flavour: 'redis', sentinels: 3, replicas: 1, ports });
    await heals();
  });

  test('a host name nobody knows is down, not an error', async () => {
    const nodes = [{ host: 'no-such-host.invalid', port: 6379 }] as const;
    for (const settings of [
      { kind: 'standalone', nodes, database: 0, ...CONNECTION },
      { kind: 'cluster', nodes, ...CONNECTION },
      { kind: 'sentinel', sentinels: nodes, master: 'm', database: 0, ...CONNECTION },
    ] as const) {
      store = openStore(settings).store;
      await assertDown();
      await store.close();
    }
  });

  test('a wrong password is down, and says so', async () => {
    const acl = { username: 'app', password: 'right', rules: '~* +@all' };
    stack = await startStandalone({ flavour: 'redis', acl });
    const wrong = { username: 'app', password: 'wrong' };
    for (const settings of [standaloneOf(stack, wrong), clusterOf(stack, wrong)]) {
      const opened = openStore(settings);
      store = opened.store;
      await until('the refusal to be told', async () =>
        opened.events.some((event) => event.kind === 'connection' && event.detail?.includes('WRONGPASS')),
      );
      await assertDown();
      await store.close();
    }
  });

  test('a certificate nobody trusts is down, and says so', async () => {
    stack = await startStandalone({ flavour: 'redis', tls: true });
    const opened = openStore(standaloneOf(stack, { tls: { rejectUnauthorized: true } }));
    store = opened.store;
    await until('the refusal to be told', async () =>
      opened.events.some((event) => event.kind === 'connection' && event.detail?.includes('certificate')),
    );
    await assertDown();
  });
});

describe('a store that starts beside one dead shard', () => {
  let stack: RedisStack;
  before(async () => {
    stack = await startCluster({ flavour: 'redis', masters: 3 });
  });
  after(async () => {
    await stack?.stop();
  });

  test('serves the others while one node is stopped, and all of them when it goes on', async () => {
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
});

describe('a cluster that comes back under other addresses', () => {
  test('is found again from the configured ones', async () => {
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
});

describe('sentinels that are silent', () => {
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

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { freePorts } from '../../../loadtest/stack/process.ts';
import { type RedisStack, startCluster, startSentinel, startStandalone } from '../../../loadtest/stack/redis.ts';
import { startRedisNode } from '../../../loadtest/stack/redis-node.ts';
import { leaseNames } from '../../../src/cache/lease.ts';
import { readOnce, type Store } from '../../../src/cache/store.ts';
import type { RedisSettings } from '../../../src/stores/redis/connection.ts';
import { until } from '../../until.ts';
import {
  CONNECTION,
  clusterOf,
  connected,
  LONG_MS,
  type OpenStore,
  openStore,
  sentinelOf,
  standaloneOf,
} from './harness.ts';

const DOWN = { kind: 'fault', fault: 'store-down' };

const assertDown = async (store: Store): Promise<void> => {
  assert.deepEqual(await readOnce(store, 'a', LONG_MS), DOWN);
  assert.deepEqual(await store.readMany(['a', 'b'], LONG_MS), [DOWN, DOWN]);
  assert.deepEqual(await store.write('a', Buffer.from('1'), 1000), { kind: 'dropped', fault: 'store-down' });
};
const heals = (store: Store): Promise<void> =>
  until('the store to heal', async () => {
    await store.write('a', Buffer.from('1'), 60_000);
    return (await readOnce(store, 'a', 500)).kind === 'value';
  });
/** Closed at the end of the test. */
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

// Each test has its own servers and waits for their decisions.
describe('a store that starts', { concurrency: true }, () => {
  test('standalone: down at first, and serves when the server starts', async (t) => {
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

  test('cluster: down at first, and serves when the nodes start', async (t) => {
    const ports = await freePorts(3);
    const nodes = ports.map((port) => ({ host: '127.0.0.1', port }));
    const { store } = opened(t, { kind: 'cluster', nodes, ...CONNECTION });
    await assertDown(store);
    await started(t, startCluster({ flavour: 'redis', masters: 3, ports }));
    await heals(store);
  });

  test('sentinel: down at first, and serves when sentinels and master start', async (t) => {
    const ports = await freePorts(5);
    const sentinels = ports.slice(2).map((port) => ({ host: '127.0.0.1', port }));
    const { store } = opened(t, { kind: 'sentinel', sentinels, master: 'serpcache', database: 0, ...CONNECTION });
    await assertDown(store);
    await started(t, startSentinel({ flavour: 'redis', ports }));
    await heals(store);
  });

  test('an unknown host name is a store that is down, not an error', async (t) => {
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

  test('an untrusted certificate is a store that is down, and is reported', async (t) => {
    const stack = await started(t, startStandalone({ flavour: 'redis', tls: true }));
    const { store, events } = opened(t, standaloneOf(stack, { tls: { rejectUnauthorized: true } }));
    await until('the refusal to be reported', async () =>
      events.some((event) => event.kind === 'connection' && event.detail?.includes('certificate')),
    );
    await assertDown(store);
  });

  test('with one shard stopped it serves the others, and all shards when that one continues', async (t) => {
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

  test('a cluster that returns under other addresses is found through the configured ones', async () => {
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
        return (await readOnce(store, 'a', 500)).kind === 'value';
      });
      const shown = (): string[] =>
        store
          .nodes()
          .map(({ node }) => node)
          .sort();
      // One of them may still be connecting when the others serve.
      await until('all of them to be known', async () => shown().length === next.length);
      assert.deepEqual(shown(), next.map((port) => `127.0.0.1:${port}`).sort());
      const open = new Set<string>();
      for (const event of events) {
        if (event.kind !== 'breaker') continue;
        if (event.state === 'closed') open.delete(event.node);
        else open.add(event.node);
      }
      assert.deepEqual([...open], [], 'breakers of removed nodes are still reported as open');
    } finally {
      await store.close();
      await first.stop();
      await second?.stop();
    }
  });

  test('a stopped first sentinel does not hide the master from the store', async () => {
    const stack = await startSentinel({ flavour: 'redis' });
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

const NAME = 'sc1:goods:{loaded}';

test('a server that loads its data is down, never empty, and serves as soon as it has loaded', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'serpcache-loading-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const [port = 0] = await freePorts(1);
  // 25,000 keys with a sleep of 40 µs each take more than a second. The server serves its clients every few KB.
  const config = ['enable-debug-command local', 'key-load-delay 40', 'loading-process-events-interval-bytes 1024'];
  const server = await startRedisNode({ flavour: 'redis', port, directory, config });
  t.after(server.stop);
  const { store, events } = openStore({
    kind: 'standalone',
    nodes: [{ host: '127.0.0.1', port }],
    database: 0,
    ...CONNECTION,
  });
  t.after(store.close);
  await connected(store, 1);
  await server.command('DEBUG', 'POPULATE', 25_000);
  assert.equal((await store.write(NAME, Buffer.from('x'), 600_000)).kind, 'stored');
  const [first] = await store.epochs(LONG_MS);
  await server.command('SAVE');

  const seen = new Map<string, number>();
  const see = (what: string): void => {
    seen.set(what, (seen.get(what) ?? 0) + 1);
  };
  const reload = server.command('DEBUG', 'RELOAD').then(
    () => {},
    () => {}, // its own deadline may be shorter
  );
  await until('the server to have loaded', async () => {
    const read = await readOnce(store, NAME, 50);
    see(read.kind === 'fault' ? read.fault : read.kind);
    if (read.kind === 'fault') {
      const taken = await store.leases.take(leaseNames(NAME), 'a', 1000, 50);
      assert.ok(taken.kind === 'fault' || taken.kind === 'taken', taken.kind);
    }
    return read.kind === 'value' && seen.size > 1;
  });
  await reload;
  assert.equal(seen.get('absent'), undefined, 'a server that is loading looked empty');
  assert.ok((seen.get('store-down') ?? 0) + (seen.get('node-open') ?? 0) > 0, [...seen].join(' '));
  assert.ok(events.some((event) => event.kind === 'breaker' && event.state === 'open'));
  // The loaded data is the saved data: nothing is lost.
  assert.deepEqual(await store.epochs(LONG_MS), [first]);
});

test('an existing database is used; database 0 is never used in place of a missing one', async (t) => {
  const server = await startStandalone({ flavour: 'redis' });
  t.after(server.stop);
  const node = server.nodes[0];
  assert.ok(node);
  const open = (database: number): OpenStore =>
    opened(t, { kind: 'standalone', nodes: [{ host: node.host, port: node.port }], database, ...CONNECTION });

  const good = open(3).store;
  await until('a write', async () => (await good.write('k', Buffer.from('v'), 10_000)).kind === 'stored');
  assert.equal(await node.command('DBSIZE'), 0);

  const { store: wrong, events } = open(99);
  await until('the refusal to be reported', async () =>
    events.some(({ kind, ...rest }) => kind === 'connection' && JSON.stringify(rest).includes('database 99')),
  );
  assert.deepEqual(await wrong.write('k', Buffer.from('v'), 10_000), { kind: 'dropped', fault: 'store-down' });
  assert.equal((await readOnce(wrong, 'k', 500)).kind, 'fault');
  assert.equal(wrong.nodes()[0]?.connected, false);
  assert.equal(await node.command('DBSIZE'), 0);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { freePorts } from '../../../loadtest/stack/process.ts';
import { type RedisStack, startCluster, startSentinel, startStandalone } from '../../../loadtest/stack/redis.ts';
import { startRedisNode } from '../../../loadtest/stack/redis-node.ts';
import { leaseNames } from '../../../src/cache/lease.ts';
import { readOnce, type Store } from '../../../src/cache/store.ts';
import type { HostPort } from '../../../src/schema/units.ts';
import type { RedisSettings } from '../../../src/stores/redis/connection.ts';
import { temporaryFolder } from '../../folder.ts';
import { pluck } from '../../pluck.ts';
import { until } from '../../until.ts';
import {
  clusterOf,
  connected,
  connectedFor,
  LONG_MS,
  openedFor,
  sentinelOf,
  standaloneOf,
  startedFor,
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
const serversAt = (ports: readonly number[]) => ports.map((port) => ({ host: '127.0.0.1', port }));

// Each test has its own servers and waits for their decisions.
describe('a store that starts', { concurrency: true }, () => {
  for (const [kind, count, settingsOf, start] of [
    ['standalone', 1, (nodes) => standaloneOf({ nodes }), (ports) => startStandalone({ flavour: 'redis', ports })],
    ['cluster', 3, (nodes) => clusterOf({ nodes }), (ports) => startCluster({ flavour: 'redis', masters: 3, ports })],
    [
      'sentinel',
      5,
      (nodes) => sentinelOf({ sentinels: nodes.slice(2), master: 'serpcache' }),
      (ports) => startSentinel({ flavour: 'redis', ports }),
    ],
  ] satisfies [string, number, (nodes: HostPort[]) => RedisSettings, (ports: number[]) => Promise<RedisStack>][]) {
    test(`${kind}: down at first, and serves when its servers start`, async (t) => {
      const ports = await freePorts(count);
      const { store } = openedFor(t, settingsOf(serversAt(ports)));
      await assertDown(store);
      await startedFor(t, start(ports));
      await heals(store);
    });
  }

  test('an unknown host name is a store that is down, not an error', async (t) => {
    const nodes = [{ host: 'no-such-host.invalid', port: 6379 }];
    for (const settings of [standaloneOf({ nodes }), clusterOf({ nodes }), sentinelOf({ sentinels: nodes })]) {
      await assertDown(openedFor(t, settings).store);
    }
  });

  test('an untrusted certificate is a store that is down, and is reported', async (t) => {
    const stack = await startedFor(t, startStandalone({ flavour: 'redis', tls: true }));
    const { store, events } = openedFor(t, standaloneOf(stack, { tls: { rejectUnauthorized: true } }));
    await until('the refusal to be reported', async () =>
      events.some((event) => event.kind === 'connection' && event.detail?.includes('certificate')),
    );
    await assertDown(store);
  });

  test('with one shard stopped it serves the others, and all shards when that one continues', async (t) => {
    const stack = await startedFor(t, startCluster({ flavour: 'redis', masters: 3 }));
    const [sick] = stack.nodes;
    await sick?.pause();
    const { store } = await connectedFor(t, clusterOf(stack), 2);
    const names = Array.from({ length: 60 }, (_, index) => `sc1:goods:{${index}}`);
    const well = names.filter((name) => store.locate(name).node !== sick?.address);
    for (const name of well) assert.equal((await store.write(name, Buffer.from('1'), 60_000)).kind, 'stored');
    sick?.resume();
    await connected(store, 3);
    for (const name of names) assert.equal((await store.write(name, Buffer.from('1'), 60_000)).kind, 'stored');
  });

  test('a cluster that returns under other addresses is found through the configured ones', async (t) => {
    const [old, next] = [await freePorts(3), await freePorts(3)];
    const first = await startedFor(t, startCluster({ flavour: 'redis', masters: 3, ports: old }));
    const settings = clusterOf({ nodes: serversAt([...old, ...next]) }, { refreshMs: 1000 });
    const { store, events } = await connectedFor(t, settings, 3);
    await first.stop();
    await startedFor(t, startCluster({ flavour: 'redis', masters: 3, ports: next }));
    await heals(store);
    const shown = () => pluck(store.nodes(), 'node').toSorted();
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
  });

  test('a stopped first sentinel does not hide the master from the store', async (t) => {
    const stack = await startedFor(t, startSentinel({ flavour: 'redis' }));
    const [sentinel] = stack.sentinels;
    await sentinel?.pause();
    await connectedFor(t, sentinelOf(stack));
    sentinel?.resume();
  });
});

const NAME = 'sc1:goods:{loaded}';

test('a server that loads its data is down, never empty, and serves as soon as it has loaded', async (t) => {
  const directory = temporaryFolder(t);
  const [port = 0] = await freePorts(1);
  // 25,000 keys with a sleep of 40 µs each take more than a second. The server serves its clients every few KB.
  const config = ['enable-debug-command local', 'key-load-delay 40', 'loading-process-events-interval-bytes 1024'];
  const server = await startedFor(t, startRedisNode({ flavour: 'redis', port, directory, config }));
  const { store, events } = await connectedFor(t, standaloneOf({ nodes: serversAt([port]) }));
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
  const stack = await startedFor(t, startStandalone({ flavour: 'redis' }));
  const [node] = stack.nodes;
  assert.ok(node);
  const { store: good } = openedFor(t, standaloneOf(stack, { database: 3 }));
  await until('a write', async () => (await good.write('k', Buffer.from('v'), 10_000)).kind === 'stored');
  assert.equal(await node.command('DBSIZE'), 0);

  const { store: wrong, events } = openedFor(t, standaloneOf(stack, { database: 99 }));
  await until('the refusal to be reported', async () =>
    events.some(({ kind, ...rest }) => kind === 'connection' && JSON.stringify(rest).includes('database 99')),
  );
  assert.deepEqual(await wrong.write('k', Buffer.from('v'), 10_000), { kind: 'dropped', fault: 'store-down' });
  assert.equal((await readOnce(wrong, 'k', 500)).kind, 'fault');
  assert.equal(wrong.nodes()[0]?.connected, false);
  assert.equal(await node.command('DBSIZE'), 0);
});

import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { startRespProxy } from '../../../loadtest/fault-proxy/resp-proxy.ts';
import { startTcpProxy } from '../../../loadtest/fault-proxy/tcp-proxy.ts';
import { freePorts } from '../../../loadtest/stack/process.ts';
import { type RedisStack, startCluster, startStandalone } from '../../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import { leaseNames } from '../../../src/cache/lease.ts';
import { readOnce, type StoreEvent } from '../../../src/cache/store.ts';
import { createReadOnly } from '../../../src/stores/redis/ready.ts';
import type { RedisStore } from '../../../src/stores/redis/store.ts';
import { createVirtualTime } from '../../fakes/clock.ts';
import { pluck } from '../../pluck.ts';
import { until } from '../../until.ts';
import { clusterOf, connectedFor, sentinelOf, standaloneOf, startedFor } from './harness.ts';

const NAME = `sc1:goods:{${'a'.repeat(22)}}`;
const VALUE = Buffer.from('v');

/** Every way by which this room writes. True: the node took it. */
const WRITES: Readonly<Record<string, (store: RedisStore) => Promise<boolean>>> = {
  entry: async (store) => (await store.write(NAME, VALUE, 60_000)).kind === 'stored',
  pipeline: async (store) =>
    (await store.seedMany([{ name: NAME, value: VALUE, ttlMs: 60_000 }])).every(({ kind }) => kind !== 'dropped'),
  lease: async (store) => {
    const names = leaseNames(NAME);
    const taken = (await store.leases.take(names, 'token', 1000, 500)).kind;
    await store.leases.release(names, 'token');
    return taken !== 'fault';
  },
  control: (store) => store.control.report('goods', 'process', VALUE, 60_000, 500),
  heartbeat: async (store) => (await store.beat('process', 60_000, 500)).kind === 'fleet',
  counts: (store) => store.counters.add('goods', [{ search: 'q=a', count: 1 }], 500),
  removal: async (store) => {
    const [node = ''] = store.content.nodes();
    return store.content.unlink(node, [NAME]).then(
      () => true,
      () => false,
    );
  },
};

const readOnlyLines = (events: readonly StoreEvent[]) =>
  events.flatMap((event) => (event.kind === 'connection' && event.reason === 'read-only' ? [event] : []));

describe('a master that became a replica and lives on', () => {
  let stack: RedisStack | undefined;
  let other: RedisStack | undefined;
  before(async () => {
    [stack, other] = await Promise.all([startStandalone({ flavour: 'redis' }), startStandalone({ flavour: 'redis' })]);
  });
  after(() => Promise.all([stack?.stop(), other?.stop()]));

  /** One name whose target is the master, and the roles of the two servers. */
  const setUp = async (t: TestContext) => {
    let [master, replica] = [stack?.nodes[0], other?.nodes[0]] as readonly (RedisNode | undefined)[];
    assert.ok(master !== undefined && replica !== undefined);
    const follow = async (next: RedisNode, old: RedisNode): Promise<void> => {
      await next.command('REPLICAOF', 'NO', 'ONE');
      await old.command('REPLICAOF', next.host, next.port);
    };
    await follow(master, replica);
    const target = { host: master.host, port: master.port };
    const name = await startedFor(t, startTcpProxy({ target }));
    return {
      name,
      target,
      master: () => master as RedisNode,
      switchRoles: async (): Promise<void> => {
        [master, replica] = [replica, master];
        await follow(master as RedisNode, replica as RedisNode);
      },
      nameLeadsToMaster: (): void => {
        target.port = (master as RedisNode).port;
      },
    };
  };

  test('every kind of write leads to another connection, and so to the new master behind the name', async (t) => {
    const { name, master, switchRoles, nameLeadsToMaster } = await setUp(t);
    for (const [kind, write] of Object.entries(WRITES)) {
      const { store, events } = await connectedFor(t, standaloneOf({ nodes: [name] }));
      assert.equal(await write(store), true, kind);
      await switchRoles();
      nameLeadsToMaster();
      await until(`${kind} at the new master`, () => write(store));
      assert.match(readOnlyLines(events)[0]?.detail ?? '', /READONLY/, kind);
      assert.equal((await store.write(NAME, VALUE, 60_000)).kind, 'stored');
      assert.equal(await master().command('EXISTS', NAME), 1, kind);
      assert.equal(store.nodes()[0]?.trouble, undefined, kind);
    }
  });

  test('while the name still leads to the replica its connection stays, and the node is shown as read-only', async (t) => {
    const { name, master, switchRoles, nameLeadsToMaster } = await setUp(t);
    const { store, events } = await connectedFor(t, standaloneOf({ nodes: [name] }));
    assert.equal(await WRITES['entry']?.(store), true);
    await switchRoles();
    assert.equal(await WRITES['entry']?.(store), false);
    await until('the look to have ended', () => name.opened() === 2 && name.connections() === 1);
    assert.equal(store.nodes()[0]?.trouble, 'read-only');
    assert.equal((await readOnce(store, NAME, 500)).kind, 'value');
    assert.ok(!events.some((event) => event.kind === 'connection' && event.state === 'closed'));
    nameLeadsToMaster();
    await until('a write', async () => (await WRITES['entry']?.(store)) === true);
    assert.equal(store.nodes()[0]?.trouble, undefined);
    assert.equal(store.nodes()[0]?.node, name.address);
    assert.equal(await master().command('EXISTS', NAME), 1);
  });

  test('sentinel: the sentinels are asked again', async (t) => {
    const { target, master, switchRoles } = await setUp(t);
    const sentinel = await startedFor(t, startRespProxy({ target }));
    let named = master();
    const bulk = (text: string): string => `$${text.length}\r\n${text}\r\n`;
    sentinel.answer(([command, sub]) => {
      if (String(command).toUpperCase() !== 'SENTINEL') return undefined;
      const isAddress = String(sub).toLowerCase().startsWith('get-master');
      return Buffer.from(isAddress ? `*2\r\n${bulk(named.host)}${bulk(String(named.port))}` : '*0\r\n');
    });
    const { store } = await connectedFor(t, sentinelOf({ sentinels: [sentinel] }));
    assert.equal(await WRITES['lease']?.(store), true);
    await switchRoles();
    named = master();
    await until('a lease at the new master', async () => (await WRITES['lease']?.(store)) === true);
    assert.equal(store.nodes()[0]?.node, master().address);
  });
});

test('cluster: a node that answers READONLY is connected again, and is shown as read-only', async (t) => {
  const [port = 0, announced = 0] = await freePorts(2);
  const proxy = await startedFor(t, startRespProxy({ target: { host: '127.0.0.1', port }, port: announced }));
  const cluster = { flavour: 'redis', masters: 1, ports: [port], announcedPorts: [announced] } as const;
  await startedFor(t, startCluster(cluster));
  const { store } = await connectedFor(t, clusterOf({ nodes: [proxy] }));
  const opened = proxy.opened();
  proxy.answer(([name]) => (String(name).toUpperCase() === 'SET' ? Buffer.from('-READONLY a replica\r\n') : undefined));
  assert.equal(await WRITES['entry']?.(store), false);
  assert.equal(store.nodes()[0]?.trouble, 'read-only');
  await until('another connection', () => proxy.opened() > opened && store.nodes()[0]?.connected === true);
  proxy.answer();
  await until('a write', async () => (await WRITES['entry']?.(store)) === true);
});

test('a replica of a cluster is one on purpose', async (t) => {
  const stack = await startedFor(t, startCluster({ flavour: 'redis', masters: 1, replicasPerMaster: 1 }));
  const { store } = await connectedFor(t, clusterOf(stack), 2);
  assert.deepEqual(pluck(store.nodes(), 'trouble'), [undefined, undefined]);
});

test('a server that stays read-only is looked for ever more rarely: at once, then after 1, 2, 4 and 8 seconds', async (t) => {
  const time = createVirtualTime(t, 100);
  const looks: number[] = [];
  const startedMs = time.monotonicMs();
  const readOnly = createReadOnly({
    clock: time,
    random: () => 0.5,
    look: async () => {
      looks.push(Math.round((time.monotonicMs() - startedMs) / 1000));
    },
  });
  assert.equal(readOnly.refused(), true);
  assert.equal(readOnly.refused(), false, 'it is known');
  await time.pass(30_000);
  assert.deepEqual(looks, [0, 1, 3, 7, 15, 23]);
  assert.equal(readOnly.holds(), true, 'although no write was refused since');
  readOnly.told('master');
  assert.equal(readOnly.holds(), false);
  await time.pass(30_000);
  assert.equal(looks.length, 6);
  readOnly.told('replica');
  assert.equal(readOnly.holds(), true);
  await time.pass(1000);
  assert.equal(looks.length, 7);
  readOnly.stop();
  await time.pass(30_000);
  assert.equal(looks.length, 7, 'no connection is made for one that has ended');
});

test('a server that does not tell its role is read-only for half a minute after the last refused write', async (t) => {
  const time = createVirtualTime(t, 100);
  let looks = 0;
  const readOnly = createReadOnly({
    clock: time,
    random: () => 0.5,
    // Its connection ends and comes back.
    look: async () => {
      looks += 1;
      readOnly.stop();
      readOnly.told(undefined);
    },
  });
  for (let write = 0; write < 300; write += 1) {
    readOnly.refused();
    await time.pass(100);
    assert.equal(readOnly.holds(), true);
  }
  assert.equal(looks, 6);
  await time.pass(29_000);
  assert.equal(readOnly.holds(), true);
  await time.pass(10_000);
  assert.equal(readOnly.holds(), false);
});

import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { startRespProxy } from '../../../loadtest/fault-proxy/resp-proxy.ts';
import { freePorts } from '../../../loadtest/stack/process.ts';
import { type RedisStack, startCluster, startStandalone } from '../../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import type { NatMap } from '../../../src/config/settings.ts';
import { formatHostPort, type HostPort } from '../../../src/schema/units.ts';
import type { ClusterSettings } from '../../../src/stores/redis/connection.ts';
import type { AnnouncedNode } from '../../../src/stores/redis/endpoints.ts';
import { createEndpoints } from '../../../src/stores/redis/endpoints.ts';
import { until } from '../../until.ts';
import { clusterOf, connectedFor, openedFor, probeOf, sentinelOf, startedFor } from './harness.ts';

/** The endpoint that each node announces, and the settings by which it does. */
interface Form {
  readonly what: string;
  /** `CONFIG SET` on each node; `cluster-` is put before each name. */
  readonly set: (node: RedisNode, index: number) => Readonly<Record<string, string | number>>;
  /** The endpoint of each node in CLUSTER SLOTS, before `natMap`. */
  readonly announced: (node: RedisNode, index: number) => readonly [host: string | null, port: number];
  readonly mapped?: true;
}

/** Loopback addresses that no server of the test listens on for clients. */
const CLOSED_PORT = 1;
const DEFAULTS = {
  'preferred-endpoint-type': 'ip',
  'announce-ip': '',
  'announce-hostname': '',
  'announce-port': 0,
  'announce-tls-port': 0,
};
const ip = ({ host, port }: RedisNode) => [host, port] as const;

const FORMS: readonly Form[] = [
  { what: 'an address', set: () => ({}), announced: ip },
  {
    what: 'an address that is not reachable from here',
    set: (_, index) => ({ 'announce-ip': '127.0.0.2', 'announce-port': CLOSED_PORT + index }),
    announced: (_, index) => ['127.0.0.2', CLOSED_PORT + index],
    mapped: true,
  },
  {
    what: 'a host name',
    set: () => ({ 'preferred-endpoint-type': 'hostname', 'announce-hostname': 'localhost' }),
    announced: ({ port }) => ['localhost', port],
  },
  {
    what: 'a host name that does not resolve here',
    set: (_, index) => ({ 'preferred-endpoint-type': 'hostname', 'announce-hostname': `node-${index}.invalid` }),
    announced: ({ port }, index) => [`node-${index}.invalid`, port],
    mapped: true,
  },
  {
    what: 'a question mark for the host name that it has not',
    set: () => ({ 'preferred-endpoint-type': 'hostname' }),
    announced: ({ port }) => ['?', port],
  },
  {
    what: 'no endpoint (unknown-endpoint)',
    set: () => ({ 'preferred-endpoint-type': 'unknown-endpoint', 'announce-hostname': 'node.invalid' }),
    announced: ({ port }) => [null, port],
  },
  {
    what: 'no endpoint, and a forwarded port',
    set: (_, index) => ({ 'preferred-endpoint-type': 'unknown-endpoint', 'announce-port': CLOSED_PORT + index }),
    announced: (_, index) => [null, CLOSED_PORT + index],
    mapped: true,
  },
];

/** One of the nodes is configured: the others are found by what it tells. */
const settingsOf = (nodes: readonly RedisNode[], natMap?: NatMap): ClusterSettings => ({
  ...clusterOf({ nodes: nodes.slice(0, 1) }),
  natMap,
});

/** The entries of `natMap` for the announced endpoints; a node without a host is where it was asked. */
const natMapOf = (nodes: readonly RedisNode[], announced: Form['announced']): NatMap =>
  Object.fromEntries(
    nodes.map((node, index) => {
      const [host, port] = announced(node, index);
      return [formatHostPort({ host: host ?? node.host, port }), { host: node.host, port: node.port }];
    }),
  );

/** The endpoints that a node tells in CLUSTER SLOTS. */
async function told(node: RedisNode): Promise<readonly unknown[]> {
  const ranges = (await node.command('CLUSTER', 'SLOTS')) as readonly (readonly unknown[])[];
  return ranges.map((range) => (range[2] as readonly unknown[]).slice(0, 2)).sort(byPort);
}

const byPort = (a: readonly unknown[], b: readonly unknown[]): number => Number(a[1]) - Number(b[1]);

const NAMES = Array.from({ length: 30 }, (_, index) => `sc1:goods:{${index}}`);

/** Every slot is written, every redirect leads to a known node, and the doctor reaches the same nodes. */
async function serves(t: TestContext, settings: ClusterSettings, nodes: readonly RedisNode[]): Promise<void> {
  const { store } = await connectedFor(t, settings, nodes.length);
  for (const name of NAMES) assert.equal((await store.write(name, Buffer.from('v'), 60_000)).kind, 'stored', name);
  const known = store.nodes().map(({ node }) => node);
  assert.equal(known.length, nodes.length);

  const { ofRedirect } = createEndpoints(settings.natMap);
  const [first] = nodes;
  for (const name of NAMES) {
    const answer = await first?.command('GET', name).then(String, (error: Error) => error.message);
    const [, to] = /^MOVED \d+ (\S+)$/.exec(answer ?? '') ?? [];
    if (to === undefined) continue;
    assert.equal(ofRedirect(to, first?.host ?? ''), store.locate(name).node, `${name} to ${to}`);
  }

  const probe = probeOf(settings, t);
  const list = await probe.nodes();
  assert.ok('known' in list, JSON.stringify(list));
  assert.deepEqual(list.known.map(({ address }) => address).sort(), known.sort());
  for (const { address } of list.known) assert.equal((await probe.ask(address, ['PING'])).kind, 'reply', address);
}

describe('a cluster is reached whatever its nodes announce', { concurrency: true }, () => {
  for (const flavour of ['redis', 'valkey'] as const) {
    describe(flavour, { concurrency: false }, () => {
      let stack: RedisStack | undefined;
      before(async () => {
        // Their bus goes to what they announce as their address, so they listen there too.
        stack = await startCluster({ flavour, masters: 3, config: ['bind 127.0.0.1 127.0.0.2'] });
        for (const node of stack.nodes) {
          // Shown beside the address in CLUSTER NODES. Redis 7.0 does not know it.
          await node.command('CONFIG', 'SET', 'cluster-announce-human-nodename', 'cache').catch(() => {});
        }
      });
      after(() => stack?.stop());

      for (const { what, set, announced, mapped } of FORMS) {
        test(`${flavour}: ${what}${mapped === undefined ? '' : ', with natMap'}`, async (t) => {
          const { nodes = [] } = stack ?? {};
          for (const [index, node] of nodes.entries()) {
            const config = { ...DEFAULTS, ...set(node, index) };
            await node.command(
              'CONFIG',
              'SET',
              ...Object.entries(config).flatMap(([name, at]) => [`cluster-${name}`, at]),
            );
          }
          const expected = nodes.map((node, index) => [...announced(node, index)]).sort(byPort);
          for (const node of nodes) {
            await until('the announced endpoints to be known', async () =>
              assert.deepEqual(await told(node), expected),
            );
          }
          await serves(t, settingsOf(nodes, mapped && natMapOf(nodes, announced)), nodes);
        });
      }
    });
  }

  test('TLS: a forwarded TLS port, with natMap', async (t) => {
    const [announcedPort = 0] = await freePorts(1);
    const config = [`cluster-announce-tls-port ${announcedPort}`, 'cluster-announce-port 1'];
    const { nodes, ca } = await startedFor(t, startCluster({ flavour: 'redis', masters: 1, tls: true, config }));
    const tls = { rejectUnauthorized: true, ca };
    const natMap = natMapOf(nodes, ({ host }) => [host, announcedPort]);
    await serves(t, { ...settingsOf(nodes, natMap), tls }, nodes);
  });
});

test('a master that sentinels announce at an unreachable address is reached with natMap, by the doctor too', async (t) => {
  const stack = await startedFor(t, startStandalone({ flavour: 'redis' }));
  const [target] = stack.nodes;
  assert.ok(target !== undefined);
  const sentinel = await startedFor(t, startRespProxy({ target }));
  const list = (...texts: readonly string[]): string =>
    `*${texts.length}\r\n${texts.map((text) => `$${text.length}\r\n${text}\r\n`).join('')}`;
  sentinel.answer(([command, sub]) => {
    if (String(command).toUpperCase() !== 'SENTINEL') return undefined;
    const wanted = String(sub).toLowerCase();
    if (wanted.startsWith('get-master')) return Buffer.from(list('192.0.2.1', '6379'));
    return Buffer.from(wanted === 'master' ? list('ip', '192.0.2.1', 'port', '6379') : '*0\r\n');
  });
  const natMap = { '192.0.2.1:6379': { host: target.host, port: target.port } };
  const settings = { ...sentinelOf({ sentinels: [sentinel] }), natMap };
  const { store } = await connectedFor(t, settings);
  assert.equal(store.nodes()[0]?.node, target.address);
  const probed = await probeOf(settings, t).nodes();
  assert.ok(
    'known' in probed && probed.known.some(({ address, role }) => role === 'master' && address === target.address),
  );
});

test('an address that is announced and not reachable is said to be so, with the word natMap', async (t) => {
  const [port = 0] = await freePorts(1);
  const config = [`cluster-announce-port ${port}`];
  const stack = await startedFor(t, startCluster({ flavour: 'redis', masters: 1, config }));
  const { store, events } = openedFor(t, settingsOf(stack.nodes));
  await until('the reason', () =>
    events.some(
      (event) => event.kind === 'connection' && event.detail?.includes('natMap') && event.reason === 'refused',
    ),
  );
  assert.deepEqual(
    store.nodes().map(({ node, trouble }) => [node, trouble]),
    [[`127.0.0.1:${port}`, 'refused']],
  );
});

test('redirects and slot maps of every form lead to a reachable address', () => {
  const natMap = { '10.0.0.1:6379': { host: 'gate', port: 7001 }, '[fd00::1]:6379': { host: 'gate', port: 7002 } };
  const { ofRedirect, inSlots } = createEndpoints({ ...natMap, 'Node-A.internal:6379': { host: 'gate', port: 7003 } });
  for (const [to, expected] of [
    ['10.0.0.1:6379', 'gate:7001'],
    ['10.0.0.2:6379', '10.0.0.2:6379'],
    ['fd00::1:6379', 'gate:7002'],
    ['node-a.internal:6379', 'gate:7003'],
    [':6381', 'asked:6381'],
    ['?:6381', 'asked:6381'],
  ] as const) {
    assert.equal(ofRedirect(to, 'asked'), expected);
  }
  const reachable = (node: AnnouncedNode): unknown => inSlots([[0, 16_383, node]], 'asked');
  const at = ({ host, port }: HostPort, ...rest: readonly unknown[]) => [[0, 16_383, [host, port, ...rest]]];
  assert.deepEqual(reachable(['10.0.0.1', 6379, 'id']), at({ host: 'gate', port: 7001 }, 'id'));
  assert.deepEqual(reachable([null, 6379, 'id']), at({ host: 'asked', port: 6379 }, 'id'));
  assert.deepEqual(reachable(['', 6379]), at({ host: 'asked', port: 6379 }));
  const metadata = ['ip', '10.0.0.1'];
  assert.deepEqual(reachable(['?', 6379, 'id', metadata]), at({ host: 'gate', port: 7001 }, 'id', metadata));
  assert.deepEqual(reachable(['?', 6379, 'id', []]), at({ host: 'asked', port: 6379 }, 'id', []));
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import {
  type RedisStack,
  type SentinelStack,
  startCluster,
  startSentinel,
  startStandalone,
} from '../../../loadtest/stack/redis.ts';
import type { ProbedNode, StoreProbe } from '../../../src/operations/doctor/doctor.ts';
import type { HostPort } from '../../../src/schema/units.ts';
import type { RedisSettings } from '../../../src/stores/redis/connection.ts';
import { createEndpoints } from '../../../src/stores/redis/endpoints.ts';
import { READ_ONLY, refusalOfChange } from '../../../src/stores/redis/probe-commands.ts';
import { nodesOfCluster, nodesOfSlots } from '../../../src/stores/redis/probe-nodes.ts';
import { type StoreProbeUnderTest, storeProbeContract } from '../../contract/store-probe.ts';
import { pluck } from '../../pluck.ts';
import { clusterOf, probeOf, sentinelOf, standaloneOf, startedFor } from './harness.ts';
import { ADVISED_USER, DOCTOR_USER } from './users.ts';

/** @param roles in the order of the stack's servers. */
const over =
  <S extends RedisStack>(
    start: () => Promise<S>,
    settingsOf: (stack: S) => RedisSettings,
    roles: readonly ProbedNode['role'][],
    serversOf: (stack: S) => RedisStack['nodes'] = ({ nodes }) => nodes,
  ) =>
  async (): Promise<StoreProbeUnderTest> => {
    const stack = await start();
    const servers = serversOf(stack);
    const at = (wanted: string) => servers.find(({ address }) => address === wanted) ?? assert.fail(wanted);
    const probe = probeOf(settingsOf(stack));
    return {
      probe,
      nodes: servers.map(({ address }, index) => ({ address, role: roles[index] ?? 'sentinel' })),
      command: (address, ...command) => at(address).command(...command),
      pause: (address) => at(address).pause(),
      resume: (address) => at(address).resume(),
      kill: (address) => at(address).kill(),
      restart: (address) => at(address).restart(),
      stop: async () => {
        await probe.close();
        await stack.stop();
      },
    };
  };

describe('over real servers', { concurrency: 3 }, () => {
  for (const flavour of ['redis', 'valkey'] as const) {
    storeProbeContract(
      `standalone ${flavour}`,
      over(() => startStandalone({ flavour }), standaloneOf, ['master']),
    );
    storeProbeContract(
      `${flavour} cluster of 2 with replicas`,
      over(() => startCluster({ flavour, masters: 2, replicasPerMaster: 1 }), clusterOf, [
        ...(['master', 'master', 'replica', 'replica'] as const),
      ]),
    );
  }
  storeProbeContract(
    'sentinel',
    over<SentinelStack>(
      () => startSentinel({ flavour: 'redis' }),
      sentinelOf,
      ['master', 'replica'],
      ({ nodes, sentinels }) => [...nodes, ...sentinels],
    ),
  );
});

async function oneServer(t: TestContext, options: Omit<Parameters<typeof startStandalone>[0], 'flavour'> = {}) {
  const stack = await startedFor(t, startStandalone({ flavour: 'redis', ...options }));
  const [server] = stack.nodes;
  assert.ok(server);
  return { stack, server };
}

/** @returns the port of the server, which is closed at the end of the test */
async function listening(t: TestContext, server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Arguments with which each read-only command is accepted. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  SCAN: ['0'],
  'LATENCY HISTORY': ['command'],
  'MEMORY USAGE': ['any'],
  'CONFIG GET': ['maxmemory', 'save'],
  ...Object.fromEntries(['TYPE', 'PTTL', 'STRLEN', 'HLEN', 'LLEN', 'SCARD', 'ZCARD'].map((name) => [name, ['any']])),
};

/** Every read-only command that a data node knows. */
const QUESTIONS = [...READ_ONLY].flatMap(([name, subcommands]) => {
  if (name === 'SENTINEL') return [];
  const whole = subcommands === 'whole' ? [name] : subcommands.map((sub) => `${name} ${sub}`);
  return whole.map((words) => [...words.split(' '), ...(ARGUMENTS[words] ?? [])]);
});

// Each has its own servers, and mostly waits for them.
describe('rights, databases and broken servers', { concurrency: 4 }, () => {
  test('the advised user of the doctor may ask everything in a cluster over TLS, and change nothing', async (t) => {
    const stack = await startedFor(t, startCluster({ flavour: 'valkey', masters: 2, tls: true, acl: DOCTOR_USER }));
    const tls = { ca: stack.ca ?? '', rejectUnauthorized: true };
    const { username, password } = DOCTOR_USER;
    const wrong = { username: 'nobody', password: 'wrong' };
    const probe = probeOf(clusterOf(stack, { ...wrong, tls, doctor: { username, password } }), t);
    const nodes = await probe.nodes();
    assert.ok('known' in nodes && nodes.known.length === 2, JSON.stringify(nodes));
    for (const { address } of nodes.known) {
      for (const [index, reply] of (await probe.askMany(address, QUESTIONS)).entries()) {
        // The key may be the other node's.
        const permitted = reply.kind === 'reply' || (reply.kind === 'refused' && reply.detail.startsWith('MOVED'));
        assert.ok(permitted, `${QUESTIONS[index]?.join(' ')}: ${JSON.stringify(reply)}`);
      }
      const change = await probe.change(address, ['CONFIG', 'SET', 'slowlog-max-len', '64']);
      assert.ok(change.kind === 'refused' && change.detail.startsWith('NOPERM'), JSON.stringify(change));
    }
  });

  test('the advised user of the store gets the nodes and INFO, and is told what it may not ask', async (t) => {
    const stack = await startedFor(t, startCluster({ flavour: 'redis', masters: 2, acl: ADVISED_USER }));
    const { username, password } = ADVISED_USER;
    const probe = probeOf(clusterOf(stack, { username, password }), t);
    const nodes = await probe.nodes();
    assert.ok('known' in nodes, JSON.stringify(nodes));
    assert.deepEqual(
      nodes.known.map(({ address }) => address).sort(),
      stack.nodes.map(({ address }) => address).sort(),
    );
    const [first] = stack.nodes;
    assert.ok(first);
    assert.equal((await probe.ask(first.address, ['INFO'])).kind, 'reply');
    for (const command of ['CONFIG GET save', 'SLOWLOG LEN', 'CLIENT LIST', 'MEMORY STATS']) {
      const reply = await probe.ask(first.address, command.split(' '));
      assert.ok(reply.kind === 'refused' && reply.detail.startsWith('NOPERM'), command);
    }
  });

  test('a wrong password is the server’s refusal, not an unreachable node', async (t) => {
    const { stack, server } = await oneServer(t, { acl: ADVISED_USER });
    const probe = probeOf(standaloneOf(stack, { username: 'serpcache', password: 'wrong' }), t);
    const reply = await probe.ask(server.address, ['INFO']);
    assert.ok(reply.kind === 'refused' && reply.detail.startsWith('WRONGPASS'), JSON.stringify(reply));
    assert.deepEqual(await probe.nodes(), { known: [{ address: server.address, role: 'master' }] });
  });

  test('only the settings and records of diagnosis are changed', async (t) => {
    const { stack, server } = await oneServer(t);
    const probe = probeOf(standaloneOf(stack), t);
    const threshold = 'latency-monitor-threshold';
    const settings = ['CONFIG SET slowlog-log-slower-than -1', `CONFIG SET ${threshold} 123`];
    for (const command of [...settings, 'SLOWLOG RESET', 'LATENCY RESET'])
      assert.equal((await probe.change(server.address, command.split(' '))).kind, 'reply', command);
    assert.deepEqual(await server.command('CONFIG', 'GET', threshold), [threshold, '123']);
    const others = [
      'CONFIG SET maxmemory 1',
      'CONFIG SET slowlog-max-len 1 maxmemory 1',
      'CONFIG SET slowlog-max-len 1kb',
    ];
    for (const command of [...others, 'LATENCY RESET command', 'INFO'])
      assert.notEqual(refusalOfChange(command.split(' ')), undefined, command);
    assert.notEqual(refusalOfChange([]), undefined);
  });

  test('keys are those of the store’s database, and of no other when that one is missing', async (t) => {
    const { stack, server } = await oneServer(t);
    await server.command('SET', 'elsewhere', 'x');
    const inDatabase = (database: number): StoreProbe => {
      const settings = standaloneOf(stack);
      assert.ok(settings.kind === 'standalone');
      return probeOf({ ...settings, database }, t);
    };
    const there = await inDatabase(3).ask(server.address, ['DBSIZE']);
    assert.ok(there.kind === 'reply' && there.reply === 0);
    const missing = inDatabase(99);
    for (const command of [['DBSIZE'], ['SCAN', '0'], ['MEMORY', 'USAGE', 'elsewhere']]) {
      const reply = await missing.ask(server.address, command);
      assert.ok(reply.kind === 'refused' && reply.detail.startsWith('database 99'), JSON.stringify(reply));
    }
    assert.equal((await missing.ask(server.address, ['MEMORY', 'STATS'])).kind, 'reply');
  });

  test('a single server tells its replicas, and a replica that it is one', async (t) => {
    const stack = await startedFor(t, startSentinel({ flavour: 'redis' }));
    const [master, replica] = stack.nodes;
    assert.ok(master && replica);
    const at = (port: number) => probeOf(standaloneOf({ nodes: [{ host: '127.0.0.1', port }] }), t);
    assert.deepEqual(await at(master.port).nodes(), {
      known: [
        { address: master.address, role: 'master' },
        { address: replica.address, role: 'replica' },
      ],
    });
    assert.deepEqual(await at(replica.port).nodes(), { known: [{ address: replica.address, role: 'replica' }] });
  });

  test('a server that accepts and is silent is unreachable, for every question at once and for the nodes', async (t) => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => sockets.add(socket));
    const port = await listening(t, server);
    t.after(() => {
      for (const socket of sockets) socket.destroy();
    });
    const node = `127.0.0.1:${port}`;
    const probe = probeOf(clusterOf({ nodes: [{ host: '127.0.0.1', port }] }), t);
    const [ping, many, nodes] = await Promise.all([
      probe.ask(node, ['PING']),
      probe.askMany(node, Array(300).fill(['PING'])),
      probe.nodes(),
    ]);
    assert.equal(ping.kind, 'unreachable');
    assert.deepEqual(new Set(many.map(({ kind }) => kind)), new Set(['unreachable']));
    assert.ok('skipped' in nodes, JSON.stringify(nodes));
    assert.equal(sockets.size, 1, 'one attempt at a time');
  });

  test('bytes that are no RESP end the connection, and are told', async (t) => {
    const server = createServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const port = await listening(t, server);
    const probe = probeOf(standaloneOf({ nodes: [{ host: '127.0.0.1', port }] }), t);
    const reply = await probe.ask(`127.0.0.1:${port}`, ['PING']);
    assert.ok(reply.kind === 'unreachable' && reply.detail.includes('RESP'), JSON.stringify(reply));
  });
});

const asAnnounced = (announced: HostPort): HostPort => announced;
const SEED = { asked: 'seed:6379', reachable: asAnnounced, slots: undefined };

test('failed nodes of a cluster are listed; those in a handshake or without an address are not', () => {
  const text = [
    'a 10.0.0.1:6379@16379,cache-1,shard-id=1 myself,master - 0 0 1 connected 0-8191',
    'b 10.0.0.2:6379@16379,cache-2 master,fail - 1 0 2 disconnected 8192-16383',
    'c 10.0.0.3:6379@16379 slave,fail? a 0 0 1 connected',
    'd ::1:6380@16380,,tls-port=0 slave a 0 0 1 connected',
    'e :0@0 master,noaddr - 0 0 0 disconnected',
    'f 10.0.0.9:6379@16379 handshake - 0 0 0 disconnected',
    '',
  ].join('\n');
  assert.deepEqual(nodesOfCluster(text, { ...SEED, tls: false }), [
    { address: '10.0.0.1:6379', role: 'master' },
    { address: '10.0.0.2:6379', role: 'master' },
    { address: '10.0.0.3:6379', role: 'replica' },
    { address: '[::1]:6380', role: 'replica' },
  ]);
  const [named] = nodesOfCluster(text, { ...SEED, tls: true });
  assert.equal(named?.address, 'cache-1:6379', 'certificates name hosts');
  const alone = nodesOfCluster('a :6379@16379 myself,master - 0 0 0 connected', { ...SEED, tls: false });
  assert.deepEqual(alone, [{ address: 'seed:6379', role: 'master' }]);
});

test('the doctor reaches nodes where clients do: at the endpoints of CLUSTER SLOTS and through natMap', () => {
  const text = ['a 10.0.0.1:6379@16379 master -', 'b 10.0.0.2:6379@16379 master -', 'c 10.0.0.3:6379@16379 slave a'];
  const slots = [
    [0, 1, [null, 7001, 'a', ['ip', '10.0.0.1']]],
    [2, 3, ['?', 6379, 'b', ['ip', '10.0.0.2']]],
  ];
  const { reachable } = createEndpoints({ '10.0.0.2:6379': { host: 'gate', port: 7002 } });
  assert.deepEqual(
    pluck(nodesOfCluster(text.join('\n'), { asked: 'seed:6379', reachable, slots, tls: false }), 'address'),
    ['seed:7001', 'gate:7002', '10.0.0.3:6379'],
  );
});

test('at most 256 nodes are listed, and a reply of another shape lists none', () => {
  const slots = Array.from({ length: 300 }, (_, index) => [index, index, ['10.0.0.1', 1000 + index, 'id']]);
  assert.equal(nodesOfSlots(slots, SEED).length, 256);
  for (const odd of [undefined, 'OK', [1, [2]], [[0, 1, 'x', [3, 4]]]]) assert.deepEqual(nodesOfSlots(odd, SEED), []);
});

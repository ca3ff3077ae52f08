import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createStoreAsker } from '../../../loadtest/sample/store.ts';
import { startStandalone } from '../../../loadtest/stack/redis.ts';
import { systemClock } from '../../../src/runtime.ts';
import { until } from '../../until.ts';

const LIMIT_MS = 5000;
/** A time limit for nodes that never answer. */
const SHORT_MS = 50;

for (const flavour of ['redis', 'valkey'] as const) {
  test(`${flavour}: the figures are those of the node, read over one connection`, async (context) => {
    const { asker, node } = await real(context, flavour);
    const first = await asker.ask(LIMIT_MS);
    for (const key of ['a', 'b', 'c']) await node.command('SET', key, 'x'.repeat(50_000));
    await node.command('DEL', 'c');
    const second = await asker.ask(LIMIT_MS);
    const third = await asker.ask(LIMIT_MS);
    if (first === undefined || second === undefined || third === undefined) assert.fail('no answer');

    assert.equal(second.name, 'goods-1');
    assert.deepEqual([first.keys, second.keys], [0, 2]);
    assert.ok(second.commands >= first.commands + 4);
    assert.ok(second.usedBytes > first.usedBytes + 100_000);
    assert.ok(second.receivedBytes > first.receivedBytes + 150_000);
    assert.ok(second.sentBytes > first.sentBytes);
    assert.ok(second.cpuSeconds > 0 && second.cpuSeconds >= first.cpuSeconds);
    assert.equal(second.maxBytes, 256 * 1024 * 1024);
    assert.ok(second.maxConnections > 100);
    assert.ok(second.connections >= 1);
    assert.deepEqual([second.evicted, second.rejectedConnections], [0, 0]);
    // Four connections of `command`, none of the asker.
    assert.equal(second.connectionsOpened, first.connectionsOpened + 4);
    assert.equal(third.connectionsOpened, second.connectionsOpened);
  });
}

test('a node that ended is absent, and present again once it is back', async (context) => {
  const { asker, node } = await real(context, 'redis');
  assert.ok(await asker.ask(LIMIT_MS));
  await node.stop();
  assert.equal(await asker.ask(LIMIT_MS), undefined);
  assert.equal(await asker.ask(LIMIT_MS), undefined);
  await node.restart();
  await until('the node to answer again', async () => (await asker.ask(LIMIT_MS)) !== undefined);
});

test('a node that hangs is absent after the time limit, then at once, and later answers over the same connection', async (context) => {
  const { asker, node } = await real(context, 'redis');
  const before = await asker.ask(LIMIT_MS);
  assert.ok(before !== undefined);
  await node.pause();
  assert.equal(await asker.ask(SHORT_MS), undefined);
  // If it waited, this would take the whole time of the test.
  for (let n = 0; n < 20; n += 1) assert.equal(await asker.ask(600_000), undefined);
  node.resume();
  await until('the node to answer again', async () => (await asker.ask(LIMIT_MS)) !== undefined);
  const after = await asker.ask(LIMIT_MS);
  assert.equal(after?.connectionsOpened, before.connectionsOpened);
});

test('an error reply, or a reply that lacks a figure, gives no sample, and the connection is used again', async (context) => {
  const replies = ['-NOAUTH Authentication required.\r\n', bulk('used_memory:5\r\n'), bulk(INFO)];
  const fake = await pretend(context, (socket) => socket.on('data', () => socket.write(replies.shift() ?? '')));
  assert.equal(await fake.ask(LIMIT_MS), undefined);
  assert.equal(await fake.ask(LIMIT_MS), undefined);
  assert.deepEqual(await fake.ask(LIMIT_MS), SAMPLE);
  assert.equal(fake.connections(), 1);
});

const FIGURES = [
  'used_memory:941792',
  'maxmemory:0',
  'maxclients:10000',
  'connected_clients:11',
  'executable:/srv/redis-сервер',
  'total_commands_processed:1',
  'total_connections_received:2',
  'total_net_input_bytes:41',
  'total_net_output_bytes:5',
  'rejected_connections:4',
  'evicted_keys:3',
  'used_cpu_sys:0.5',
  'used_cpu_user:0.25',
];
const INFO = ['# Server', ...FIGURES, '', '# Keyspace', 'db0:keys=5,expires=0', 'db3:keys=2,expires=1', ''].join(
  '\r\n',
);

const SAMPLE = {
  name: 'fake',
  commands: 1,
  cpuSeconds: 0.75,
  usedBytes: 941_792,
  maxBytes: 0,
  keys: 7,
  evicted: 3,
  connections: 11,
  maxConnections: 10_000,
  rejectedConnections: 4,
  connectionsOpened: 2,
  receivedBytes: 41,
  sentBytes: 5,
};

const bulk = (text: string): string => `$${Buffer.byteLength(text)}\r\n${text}\r\n`;

async function real(context: TestContext, flavour: 'redis' | 'valkey') {
  const stack = await startStandalone({ flavour });
  const [node] = stack.nodes;
  if (node === undefined) assert.fail('no node');
  const asker = createStoreAsker({ name: 'goods-1', host: node.host, port: node.port }, systemClock);
  context.after(async () => {
    asker.close();
    await stack.stop();
  });
  return { asker, node };
}

/** A TCP listener with one handler for each connection. */
async function pretend(context: TestContext, serve: (socket: Socket) => void) {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    serve(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const asker = createStoreAsker({ name: 'fake', host: '127.0.0.1', port }, { wallMs: () => 0, monotonicMs: () => 0 });
  context.after(() => {
    asker.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { ask: asker.ask, connections: () => connections };
}

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type Connections, createConnections } from '../../../src/engines/sphinx/connection-pool.ts';

const packet = (sequence: number, payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from([payload.length, 0, 0, sequence]), payload]);
const GREETING = Buffer.concat([
  Buffer.from('\x0a2.2.11\0\x01\0\0\0saltsalt\0', 'latin1'),
  // Capabilities, character set, status, the length of the salt, the rest of the salt.
  Buffer.from([0x08, 0x82, 33, 2, 0, 8, 0, 21, ...Array(10).fill(0)]),
  Buffer.from('saltsaltsalt\0mysql_native_password\0', 'latin1'),
]);
const OK = Buffer.from([0, 0, 0, 2, 0, 0, 0]);

interface Harness {
  readonly connections: Connections;
  readonly asked: readonly string[];
  /** Answers the statements `hang` received so far. */
  readonly answer: () => void;
}

/** Connections to a server that answers every statement except `hang` at once, with an empty reply. */
async function createHarness(t: TestContext, maxConnections: number): Promise<Harness> {
  const asked: string[] = [];
  const hanging: Socket[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write(packet(0, GREETING));
    socket.on('data', (data) => {
      const isStatement = data[3] === 0;
      const sql = data.toString('latin1', 5);
      if (isStatement) asked.push(sql);
      if (isStatement && sql === 'hang') hanging.push(socket);
      else socket.write(packet(isStatement ? 1 : 2, OK));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connections = createConnections({
    ...{ host: '127.0.0.1', port: (server.address() as AddressInfo).port, target: 'fake', maxConnections },
    ...{ connectTimeoutMs: 20_000, idleMs: 60_000, observe: () => undefined },
  });
  t.after(() => {
    connections.close();
    server.close();
  });
  const answer = (): void => {
    for (const socket of hanging.splice(0)) socket.write(packet(1, OK));
  };
  return { connections, asked, answer };
}

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((done) => setTimeout(done, 5));
};

test('when a query is given up, the waiter gets a new connection', { timeout: 20_000 }, async (t) => {
  const { connections, asked } = await createHarness(t, 1);
  const leave = new AbortController();
  const given = assert.rejects(connections.ask('hang', leave.signal), { code: 'engine-timeout' });
  await until(() => asked.includes('hang'));
  const waits = connections.ask('next', new AbortController().signal);
  assert.equal(connections.counts().waiting, 1);
  leave.abort();
  await Promise.all([given, waits]);
  assert.equal(asked.at(-1), 'next');
  assert.deepEqual(connections.counts(), { open: 1, idle: 1, waiting: 0 });
});

test('a waiter gets the connection that becomes idle, and a waiter beyond the bound is refused', {
  timeout: 20_000,
}, async (t) => {
  const { connections, asked, answer } = await createHarness(t, 1);
  const { signal } = new AbortController();
  const first = connections.ask('hang', signal);
  await until(() => asked.includes('hang'));
  const waits = connections.ask('next', signal);
  await assert.rejects(connections.ask('third', signal), { code: 'engine-overloaded' });
  answer();
  await Promise.all([first, waits]);
  assert.deepEqual(asked.slice(-2), ['hang', 'next']);
  assert.deepEqual(connections.counts(), { open: 1, idle: 1, waiting: 0 });
});

test('closing rejects every waiter', { timeout: 20_000 }, async (t) => {
  const { connections, asked } = await createHarness(t, 1);
  const { signal } = new AbortController();
  const both = ['hang', 'next'].map((sql) =>
    assert.rejects(connections.ask(sql, signal), { code: 'engine-unavailable' }),
  );
  await until(() => asked.includes('hang'));
  connections.close();
  await Promise.all(both);
  assert.deepEqual(connections.counts(), { open: 0, idle: 0, waiting: 0 });
});

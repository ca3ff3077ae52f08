import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import {
  type Connection,
  createConnection,
  createTally,
  type Deadline,
  type Idle,
} from '../../../../../loadtest/labs/kit/driver/connection.ts';

const FIVE = Buffer.from('*1\r\n$4\r\nPING\r\n'.repeat(5));

/** Five commands were sent to a server that has received them all and answers none. */
async function fiveUnderWay(t: TestContext, deadline?: Deadline) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const clock = { ms: 0 };
  const tally = createTally(0, () => clock.ms);
  const waits: ((why: Idle) => void)[] = [];
  const connection: Connection = createConnection({
    target: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    deadline,
    tally,
    nowMs: () => clock.ms,
    onBytes: () => undefined,
    onConnect: () => undefined,
    onIdle: (why) => waits.shift()?.(why),
  });
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  connection.send(FIVE, 0, 5);
  const [peer] = await accepted;
  t.after(() => {
    connection.close();
    peer.destroy();
    server.close();
  });
  for (let read = 0; read < FIVE.length; ) read += ((await once(peer, 'data')) as [Buffer])[0].length;
  const idle = (): Promise<Idle> => new Promise((resolve) => waits.push(resolve));
  return { connection, peer, clock, tally, idle };
}

test('a connection that breaks loses all of its commands in flight', async (t) => {
  const { connection, peer, tally, idle } = await fiveUnderWay(t);
  const lost = idle();
  peer.destroy();
  assert.equal(await lost, 'lost');
  assert.equal(tally.end().errors.broken, 5);
  assert.equal(connection.waiting(), 0);
});

test('commands answered before the break are not lost, and are timed from when they were due', async (t) => {
  const { peer, clock, tally, idle } = await fiveUnderWay(t);
  const lost = idle();
  clock.ms = 40;
  peer.end('+PONG\r\n+PONG\r\n');
  await lost;
  const { answered, errors, p50Ms } = tally.end();
  assert.deepEqual([answered, errors.broken], [2, 3]);
  assert.ok(Math.abs(p50Ms - 40) < 1, `${p50Ms} ms`);
});

test('a deadline that closes the connection counts one late command, and all others on the connection as broken', async (t) => {
  const { connection, clock, tally } = await fiveUnderWay(t, { ms: 100, closes: true });
  clock.ms = 100;
  connection.sweep();
  assert.equal(tally.end().errors.late, 0);
  clock.ms = 101;
  connection.sweep();
  const { errors } = tally.end();
  assert.deepEqual([errors.late, errors.broken], [1, 4]);
});

test('a deadline that abandons makes every overdue command late, and drops its reply when it arrives', async (t) => {
  const { connection, peer, clock, tally, idle } = await fiveUnderWay(t, { ms: 100, closes: false });
  clock.ms = 101;
  connection.sweep();
  assert.equal(connection.waiting(), 5);
  const answered = idle();
  peer.write('+PONG\r\n'.repeat(5));
  assert.equal(await answered, 'answered');
  const ended = tally.end();
  assert.deepEqual([ended.answered, ended.errors.late, ended.errors.broken], [0, 5, 0]);
});

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, afterEach, before, describe, it, test } from 'node:test';
import { startTcpProxy, type TcpProxy } from '../../../loadtest/fault-proxy/tcp-proxy.ts';
import { type RedisStack, startStandalone } from '../../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import { until } from '../../until.ts';
import { knock, redisAt } from './harness.ts';

describe('a TCP proxy in front of Redis', () => {
  let stack: RedisStack;
  let node: RedisNode;
  let proxy: TcpProxy;
  /** The proxy's random number, which decides whether a read is reset. */
  let drawn = 1;
  before(async () => {
    stack = await startStandalone({ flavour: 'redis' });
    const [first] = stack.nodes;
    if (first === undefined) throw new Error('a stack without nodes');
    node = first;
    proxy = await startTcpProxy({ target: node, random: () => drawn });
  });
  after(async () => {
    await proxy?.stop();
    await stack?.stop();
  });
  afterEach(async () => {
    proxy.resume();
    proxy.reset(0);
    await proxy.refuse(false);
    await connections(0);
  });
  const connections = (count: number) => until(`${count} connections`, async () => proxy.connections() === count);

  it('forwards everything, megabytes included, and counts connections', async () => {
    const before = proxy.opened();
    const clients = await Promise.all([1, 2, 3].map(() => redisAt(proxy.port)));
    await connections(3);
    assert.equal(proxy.opened(), before + 3);
    const value = Buffer.alloc(5 * 2 ** 20, 'serpcache');
    await clients[0]?.set('large', value);
    assert.ok((await clients[1]?.getBuffer('large'))?.equals(value));
    for (const client of clients) client.disconnect();
    await connections(0);
    assert.equal(proxy.opened(), before + 3);
  });

  it('while paused it accepts connections and forwards nothing; after resuming everything arrives in order', async () => {
    const client = await redisAt(proxy.port);
    const direct = await redisAt(node.port);
    await client.set('order', '');
    proxy.pause();
    const replies: unknown[] = [];
    for (const letter of ['a', 'b', 'c']) {
      void client.append('order', letter).then((length) => replies.push(length));
    }
    const late = redisAt(proxy.port).then(async (newcomer) => {
      replies.push(await newcomer.ping());
      newcomer.disconnect();
    });
    await connections(2);
    // After each round trip this process, its proxy and Redis have handled all earlier input.
    for (let round = 0; round < 10; round += 1) assert.equal(await direct.get('order'), '');
    assert.deepEqual(replies, []);
    proxy.resume();
    assert.equal(await client.get('order'), 'abc');
    await late;
    assert.deepEqual(replies.sort(), [1, 2, 3, 'PONG']);
    for (const one of [client, direct]) one.disconnect();
  });

  it('while paused it buffers a bounded part of the data of a client', async () => {
    const client = await redisAt(proxy.port);
    proxy.pause();
    const written = assert.rejects(client.set('much', Buffer.alloc(64 * 2 ** 20))); // larger than the server takes
    let waiting = Number.POSITIVE_INFINITY;
    await until('nothing more to be taken', async () => {
      const before = waiting;
      waiting = client.stream.writableLength;
      return waiting > 0 && waiting === before;
    });
    assert.ok(waiting > 40 * 2 ** 20, `${waiting} bytes are still at the client`);
    proxy.resume();
    await written;
    client.disconnect();
  });

  it('refuses new connections like a closed port, and keeps the established ones', async () => {
    const client = await redisAt(proxy.port);
    await proxy.refuse(true);
    assert.equal(await knock(proxy.port), 'ECONNREFUSED');
    assert.equal(await client.ping(), 'PONG');
    await proxy.refuse(false);
    await proxy.refuse(false);
    assert.equal(await knock(proxy.port), 'open');
    client.disconnect();
  });

  it('cuts every connection', async () => {
    const clients = await Promise.all([1, 2].map(() => redisAt(proxy.port)));
    const pending = clients.map((client) => assert.rejects(client.blpop('nothing', 0)));
    await connections(2);
    proxy.cut();
    await Promise.all(pending);
    assert.equal(await knock(proxy.port), 'open');
  });

  it('resets connections on a share of the reads, each time only the connection of that read', async () => {
    const [lucky, unlucky] = await Promise.all([redisAt(proxy.port), redisAt(proxy.port)]);
    proxy.reset(0.01);
    drawn = 0.02;
    assert.equal(await lucky.ping(), 'PONG');
    drawn = 0.001;
    await assert.rejects(unlucky.ping());
    drawn = 1;
    assert.equal(await lucky.ping(), 'PONG');
    lucky.disconnect();
  });

  it('when the server dies its connections close, and no new one is served until it is back', async () => {
    const client = await redisAt(proxy.port);
    const pending = assert.rejects(client.blpop('nothing', 0));
    await connections(1);
    await node.kill();
    await pending;
    assert.match(await knock(proxy.port), /closed|ECONNRESET/);
    await node.restart();
    assert.equal(await knock(proxy.port), 'open');
  });
});

const MODULE = join(import.meta.dirname, '../../../loadtest/fault-proxy/relay.ts');

/** A client that ends its socket and resets it in the same turn of the event loop. */
const PROGRAM = `
import { connect, createServer } from 'node:net';
import { resetSocket } from ${JSON.stringify(MODULE)};
const server = createServer((socket) => socket.on('error', () => {}).resume());
server.listen(0, '127.0.0.1', () => {
  const client = connect(server.address().port, '127.0.0.1', () => {
    client.end();
    resetSocket(client);
    server.close();
  });
});
`;

test('a process can exit after it reset a socket that was ending', () => {
  const ended = spawnSync(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    encoding: 'utf8',
  });
  assert.equal(ended.stderr, '');
  assert.equal(ended.status, 0);
});

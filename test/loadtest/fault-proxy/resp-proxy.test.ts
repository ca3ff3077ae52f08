import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Redis } from 'ioredis';
import { type RespProxy, startRespProxy } from '../../../loadtest/fault-proxy/resp-proxy.ts';
import { type RedisStack, startStandalone } from '../../../loadtest/stack/redis.ts';
import { LIMIT_MS, until } from '../../until.ts';
import { countedAt, redisAt } from './harness.ts';

const named = (name: string, command: readonly Buffer[]): boolean => command[0]?.toString().toUpperCase() === name;

describe('a RESP-aware proxy in front of Redis', () => {
  let stack: RedisStack;
  let proxy: RespProxy;
  let client: Redis;
  let direct: Redis;
  before(async () => {
    stack = await startStandalone({ flavour: 'redis' });
    const [node] = stack.nodes;
    if (node === undefined) throw new Error('a stack without nodes');
    proxy = await startRespProxy({ target: node });
    client = await redisAt(proxy.port);
    direct = await redisAt(node.port);
    await direct.set('a', '1');
  });
  after(async () => {
    client?.disconnect();
    direct?.disconnect();
    await proxy?.stop();
    await stack?.stop();
  });
  afterEach(() => {
    proxy.answer();
    proxy.delay(0);
  });

  it('forwards commands and replies of any type and size', async () => {
    const counted = countedAt(proxy);
    const value = Buffer.alloc(3 * 2 ** 20, '\r\n$5\r\n');
    await client.set('large', value);
    assert.ok((await client.getBuffer('large'))?.equals(value));
    assert.equal(await client.get('nothing'), null);
    assert.deepEqual(await client.multi().get('a').incr('n').exec(), [
      [null, '1'],
      [null, 1],
    ]);
    const keys = await client.mget('a', 'nothing');
    assert.deepEqual(keys, ['1', null]);
    const newest = await redisAt(proxy.port, { protocol: 3 });
    assert.deepEqual(await newest.hgetall('nothing'), {});
    newest.disconnect();
    assert.deepEqual(['SET', 'GET', 'MULTI', 'INCR', 'EXEC', 'MGET'].map(counted), [1, 3, 1, 1, 1, 1]);
  });

  it('an answer of the proxy replaces one reply within a pipeline, and the server does not get the command', async () => {
    proxy.answer((command) => {
      if (named('SET', command)) return Buffer.from("-READONLY You can't write against a read only replica.\r\n");
      return String(command[1]) === 'b' ? Buffer.from('$3\r\nown\r\n') : undefined;
    });
    const replies = await client.pipeline().get('b').get('a').set('a', '2').get('b').get('a').exec();
    const [b1, a1, set, b2, a2] = replies ?? [];
    assert.deepEqual(
      [b1, a1, b2, a2],
      [
        [null, 'own'],
        [null, '1'],
        [null, 'own'],
        [null, '1'],
      ],
    );
    assert.match(String(set?.[0]), /READONLY/);
    assert.equal(await direct.get('a'), '1');
  });

  it('a function changes the real reply, after the server has run the command', async () => {
    proxy.answer((command) => {
      if (named('SET', command)) return () => Buffer.from('-ERR but I did\r\n');
      return named('GET', command)
        ? (reply) => Buffer.from(reply.toString().replace('\r\n1\r\n', '\r\n7\r\n'))
        : undefined;
    });
    const replies = await client.pipeline().get('a').set('ran', 'x').get('a').exec();
    assert.deepEqual(
      [replies?.[0], replies?.[2]],
      [
        [null, '7'],
        [null, '7'],
      ],
    );
    assert.match(String(replies?.[1]?.[0]), /but I did/);
    assert.equal(await direct.get('ran'), 'x');
  });

  it('replies are delayed and stay in order, and are prompt again without the delay', async () => {
    const late = await redisAt(proxy.port);
    // A reply of the proxy itself is delayed as soon as its command is counted.
    const counted = countedAt(proxy, (command) => (named('GET', command) ? Buffer.from('$1\r\n1\r\n') : undefined));
    proxy.delay(LIMIT_MS);
    let replied = false;
    const lost = late.get('a').finally(() => {
      replied = true;
    });
    await until('its reply', () => counted('GET') === 1);
    proxy.delay(150);
    const slow = client.get('a');
    await until('its reply', () => counted('GET') === 2);
    proxy.delay(0);
    assert.deepEqual([await Promise.all([slow, client.ping()]), replied], [['1', 'PONG'], false]);
    late.disconnect();
    await assert.rejects(lost);
  });

  it('a truncated reply is the last one: then the connection is silent or reset', async () => {
    for (const end of ['silence', 'reset'] as const) {
      const victim = await redisAt(proxy.port, { socketTimeout: 300 });
      proxy.answer((command) => (named('GET', command) ? { last: Buffer.from('$100\r\nabc'), end } : undefined));
      const heard: Buffer[] = [];
      victim.stream.on('data', (bytes: Buffer) => heard.push(bytes));
      const faults: string[] = [];
      victim.on('error', ({ message }: Error) => faults.push(message));
      for (const one of await Promise.allSettled([victim.get('a'), victim.ping()]))
        assert.equal(one.status, 'rejected');
      assert.match(faults.join(), end === 'silence' ? /Socket timeout/ : /ECONNRESET/);
      assert.equal(Buffer.concat(heard).toString(), '$100\r\nabc');
      proxy.answer();
      victim.disconnect();
    }
    assert.equal(await client.get('a'), '1');
  });
});

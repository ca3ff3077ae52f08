import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { startToxiproxy, type ToxicProxy, type Toxiproxy } from '../../../loadtest/fault-proxy/toxiproxy.ts';
import { type RedisStack, startStandalone } from '../../../loadtest/stack/redis.ts';
import { knock, redisAt, took } from './harness.ts';

describe('toxiproxy in front of Redis', () => {
  let toxiproxy: Toxiproxy;
  let stack: RedisStack;
  let proxy: ToxicProxy;
  before(async () => {
    toxiproxy = await startToxiproxy();
    stack = await startStandalone({ flavour: 'redis' });
    const [node] = stack.nodes;
    if (node === undefined) throw new Error('a stack without nodes');
    proxy = await toxiproxy.proxy({ target: node });
  });
  after(async () => {
    await toxiproxy?.stop();
    await stack?.stop();
    assert.throws(() => process.kill(toxiproxy.pid, 0), { code: 'ESRCH' });
  });
  afterEach(() => proxy.heal());

  it('delays an open connection in either direction until the toxic is removed', async () => {
    const client = await redisAt(proxy.port);
    const withdraw = await proxy.add({ type: 'latency', attributes: { latency: 60 } }, { stream: 'downstream' });
    await proxy.add({ type: 'latency', attributes: { latency: 60, jitter: 5 } }, { stream: 'upstream' });
    const both = await took(client.ping());
    assert.ok(both >= 80, `${both} ms`);
    await withdraw();
    const one = await took(client.ping());
    assert.ok(one >= 30, `${one} ms`);
    await proxy.heal();
    assert.equal(await client.ping(), 'PONG');
    client.disconnect();
  });

  it('ends connections by a reset, after a number of bytes, or after a timeout', async () => {
    for (const toxic of [
      { type: 'reset_peer', attributes: { timeout: 0 } },
      { type: 'limit_data', attributes: { bytes: 3 } },
      { type: 'timeout', attributes: { timeout: 50 } },
    ] as const) {
      const client = await redisAt(proxy.port);
      const withdraw = await proxy.add(toxic, { stream: 'downstream' });
      await assert.rejects(client.ping(), Error, toxic.type);
      await withdraw();
    }
    assert.equal(await knock(proxy.port), 'open');
  });

  it('drops the data of one direction: the replies or the commands', async () => {
    const direct = await redisAt(stack.nodes[0]?.port ?? 0);
    for (const [stream, stored] of [
      ['downstream', 'x'],
      ['upstream', null],
    ] as const) {
      const client = await redisAt(proxy.port);
      const withdraw = await proxy.add({ type: 'timeout', attributes: { timeout: 100 } }, { stream });
      await assert.rejects(client.set(stream, 'x'));
      assert.equal(await direct.get(stream), stored);
      await withdraw();
    }
    direct.disconnect();
  });

  it('refuses connections while disabled, and reports why it rejects a toxic', async () => {
    const client = await redisAt(proxy.port);
    await proxy.enable(false);
    await assert.rejects(client.ping());
    assert.equal(await knock(proxy.port), 'ECONNREFUSED');
    await proxy.enable(true);
    assert.equal(await knock(proxy.port), 'open');
    await assert.rejects(
      proxy.add({ type: 'latency', attributes: { latency: 1.5 } }, { stream: 'upstream' }),
      /toxiproxy: .* 400/,
    );
  });
});

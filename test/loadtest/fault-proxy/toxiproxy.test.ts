import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { startToxiproxy, type ToxicProxy, type Toxiproxy } from '../../../loadtest/fault-proxy/toxiproxy.ts';
import { type RedisStack, startStandalone } from '../../../loadtest/stack/redis.ts';
import { redisAt, took } from './harness.ts';

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

  it('delays the replies of an open connection until the toxic is removed, and reports why it rejects one', async () => {
    const client = await redisAt(proxy.port);
    await proxy.add({ type: 'latency', attributes: { latency: 60 } });
    const delayed = await took(client.ping());
    assert.ok(delayed >= 50, `${delayed} ms`);
    await proxy.heal();
    assert.equal(await client.ping(), 'PONG');
    client.disconnect();
    await assert.rejects(proxy.add({ type: 'latency', attributes: { latency: 1.5 } }), /toxiproxy: .* 400/);
  });
});

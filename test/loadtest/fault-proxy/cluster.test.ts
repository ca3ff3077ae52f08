import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import slotOf from 'cluster-key-slot';
import { Cluster } from 'ioredis';
import { type ProxiedCluster, startProxiedCluster } from '../../../loadtest/fault-proxy/cluster.ts';
import { type RespProxy, startRespProxy } from '../../../loadtest/fault-proxy/resp-proxy.ts';
import { startTcpProxy } from '../../../loadtest/fault-proxy/tcp-proxy.ts';
import { migrateSlot } from '../../stores/redis/migration.ts';
import { until } from '../../until.ts';
import { countedAt, knock } from './harness.ts';

async function connectThrough(nodes: ProxiedCluster<RespProxy>['nodes']): Promise<Cluster> {
  const cluster = new Cluster([...nodes], { redisOptions: { protocol: 2 }, shardedSubscribers: false });
  cluster.on('error', () => {});
  await until('a ready cluster', async () => cluster.status === 'ready');
  return cluster;
}

// The tests run concurrently: each has its own servers and mostly waits for them.
describe('a cluster behind proxies', { concurrency: true }, () => {
  for (const flavour of ['redis', 'valkey'] as const) {
    it(`${flavour}: every command, redirected ones included, reaches its node through the proxy of that node`, async () => {
      const behind = await startProxiedCluster({ flavour, startProxy: startRespProxy });
      const shards = behind.shards.map((shard) => ({ ...shard, counted: countedAt(shard.proxy) }));
      const cluster = await connectThrough(behind.nodes);
      try {
        const keys = Array.from({ length: 60 }, (_, index) => `key:${index}`);
        for (const key of keys) await cluster.set(key, key);
        for (const key of keys) assert.equal(await cluster.get(key), key);
        let seen = 0;
        for (const { node, counted } of shards) {
          const held = Number(await node.command('DBSIZE'));
          assert.ok(held > 0, 'a shard without keys');
          assert.equal(counted('SET'), held);
          seen += counted('GET');
        }
        assert.equal(seen, keys.length);
        assert.deepEqual(
          cluster
            .nodes('master')
            .map(({ options }) => options.port)
            .sort(),
          behind.nodes.map(({ port }) => port).sort(),
        );

        const [from, to] = shards;
        if (from === undefined || to === undefined) throw new Error('too few shards');
        const key = keys.find((each) => slotOf(each) < 5461);
        if (key === undefined) throw new Error('no key on the first shard');
        const nodes = behind.shards.map(({ node }) => node);
        const before = to.counted('GET');
        await migrateSlot(slotOf(key), nodes, from.node, to.node, async () => {
          assert.equal(await cluster.get(key), key);
        });
        assert.ok(to.counted('GET') > before, 'no redirect went through the proxy');
      } finally {
        cluster.disconnect();
        await behind.stop();
      }
    });
  }

  it('the proxy of a killed node refuses connections until the node has restarted and rejoined; the others keep working', async () => {
    const behind = await startProxiedCluster({ flavour: 'redis', startProxy: startTcpProxy });
    try {
      const [victim, other] = behind.shards;
      if (victim === undefined || other === undefined) throw new Error('too few shards');
      await victim.node.kill();
      assert.equal(await knock(victim.proxy.port), 'ECONNREFUSED');
      assert.equal(await knock(other.proxy.port), 'open');
      await victim.node.restart();
      assert.equal(await knock(victim.proxy.port), 'open');
      await until('a whole cluster', async () =>
        String(await victim.node.command('CLUSTER', 'INFO')).includes('cluster_state:ok'),
      );
      const shown = String(await other.node.command('CLUSTER', 'NODES'));
      for (const { node } of behind.shards) assert.ok(shown.includes(`${node.address}@${node.port + 10_000}`), shown);
    } finally {
      await behind.stop();
    }
  });
});

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type RedisStack, startCluster, startSentinel } from '../../../loadtest/stack/redis.ts';
import { readOnce } from '../../../src/cache/store.ts';
import type { RedisSettings } from '../../../src/stores/redis/connection.ts';
import { until } from '../../until.ts';
import { clusterOf, connectedFor, SILENCE_MS, sentinelOf } from './harness.ts';

const NAME = 'sc1:goods:{failover}';

/**
 * Does something to the master that has the name, and waits until reads and writes come back elsewhere by themselves: a
 * user of the store does nothing else to bring it back.
 */
async function loses(t: TestContext, stack: RedisStack, settings: RedisSettings, how: 'kill' | 'pause'): Promise<void> {
  t.after(stack.stop);
  const { store } = await connectedFor(
    t,
    { ...settings, socketTimeoutMs: SILENCE_MS },
    settings.kind === 'cluster' ? 3 : 1,
  );
  assert.equal((await store.write(NAME, Buffer.from('before'), 600_000)).kind, 'stored');
  const lost = store.locate(NAME).node;
  const lostMs = performance.now();
  await stack.nodes.find(({ address }) => address === lost)?.[how]();
  await until('reads and writes at the new master', async () => {
    const written = await store.write(NAME, Buffer.from('after'), 600_000);
    const read = await readOnce(store, NAME, 500);
    return written.kind === 'stored' && read.kind === 'value' && store.locate(NAME).node !== lost;
  });
  t.diagnostic(`back after ${Math.round(performance.now() - lostMs)} ms (the servers wait 1500 to 2000 ms first)`);
}

// Each test has its own servers and waits for their decisions.
describe('a master is lost', { concurrency: true }, () => {
  for (const flavour of ['redis', 'valkey'] as const) {
    test(`${flavour} sentinel: the master is killed, reads and writes come back by themselves`, async (t) => {
      const stack = await startSentinel({ flavour });
      await loses(t, stack, sentinelOf(stack), 'kill');
    });
  }

  test('sentinel: the master is stopped, its connection timed out, reads and writes come back by themselves', async (t) => {
    const stack = await startSentinel({ flavour: 'redis' });
    await loses(t, stack, sentinelOf(stack), 'pause');
  });

  for (const how of ['kill', 'pause'] as const) {
    test(`cluster: a replica takes over for a master after a ${how}, and the store follows`, async (t) => {
      const stack = await startCluster({ flavour: 'redis', masters: 3, replicasPerMaster: 1 });
      await loses(t, stack, clusterOf(stack), how);
    });
  }
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type RedisStack, startCluster, startSentinel } from '../../../loadtest/stack/redis.ts';
import { readOnce, type Store } from '../../../src/cache/store.ts';
import { until } from '../../until.ts';
import { clusterOf, connected, openStore, SILENCE_MS, sentinelOf } from './harness.ts';

const NAME = 'sc1:goods:{failover}';
const TIMED = { socketTimeoutMs: SILENCE_MS };

async function withStore(
  stack: RedisStack,
  opened: { readonly store: Store },
  nodes: number,
  run: (store: Store) => Promise<void>,
): Promise<void> {
  try {
    await connected(opened.store, nodes);
    assert.equal((await opened.store.write(NAME, Buffer.from('before'), 600_000)).kind, 'stored');
    await run(opened.store);
  } finally {
    await opened.store.close();
    await stack.stop();
  }
}

/** Reads and writes only: a user of the store does nothing else to bring it back. */
const comesBackAt = (store: Store, lost: string | undefined): Promise<void> =>
  until('reads and writes at the new master', async () => {
    const written = await store.write(NAME, Buffer.from('after'), 600_000);
    const read = await readOnce(store, NAME, 500);
    return written.kind === 'stored' && read.kind === 'value' && store.locate(NAME).node !== lost;
  });

// Each test has its own servers and waits for their decisions.
describe('a master is lost', { concurrency: true }, () => {
  for (const flavour of ['redis', 'valkey'] as const) {
    test(`${flavour} sentinel: the master is killed, reads and writes come back by themselves`, async (t) => {
      const stack = await startSentinel({ flavour });
      await withStore(stack, openStore(sentinelOf(stack, TIMED)), 1, async (store) => {
        const lost = store.locate(NAME).node;
        const killedMs = performance.now();
        await stack.nodes.find(({ address }) => address === lost)?.kill();
        await comesBackAt(store, lost);
        t.diagnostic(`back after ${Math.round(performance.now() - killedMs)} ms (sentinels wait 1500 ms first)`);
      });
    });
  }

  test('sentinel: the master is stopped, its connection timed out, reads and writes come back by themselves', async (t) => {
    const stack = await startSentinel({ flavour: 'redis' });
    await withStore(stack, openStore(sentinelOf(stack, TIMED)), 1, async (store) => {
      const lost = store.locate(NAME).node;
      const stoppedMs = performance.now();
      await stack.nodes.find(({ address }) => address === lost)?.pause();
      await comesBackAt(store, lost);
      t.diagnostic(`back after ${Math.round(performance.now() - stoppedMs)} ms (sentinels wait 1500 ms first)`);
    });
  });

  for (const how of ['kill', 'pause'] as const) {
    test(`cluster: a replica takes over for a master after a ${how}, and the store follows`, async (t) => {
      const stack = await startCluster({ flavour: 'redis', masters: 3, replicasPerMaster: 1 });
      await withStore(stack, openStore(clusterOf(stack, TIMED)), 3, async (store) => {
        const lost = store.locate(NAME).node;
        const lostMs = performance.now();
        await stack.nodes.find(({ address }) => address === lost)?.[how]();
        await comesBackAt(store, lost);
        t.diagnostic(`back after ${Math.round(performance.now() - lostMs)} ms (the cluster waits 2000 ms first)`);
      });
    });
  }
});

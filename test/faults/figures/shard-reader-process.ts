/**
 * A process that reads from all shards of a cluster in an open loop until its parent disconnects. It counts the results of
 * its reads between `begin` and `end`.
 */

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Redis } from 'ioredis';
import { openLoop } from '../../../loadtest/http-driver/loops.ts';
import { createRandom } from '../../../loadtest/random.ts';
import { readOnce } from '../../../src/cache/store.ts';
import { systemClock } from '../../../src/runtime.ts';
import type { HostPort } from '../../../src/schema/units.ts';
import { DEADLINE_MS, type ReaderTask, type ShardReads, SOCKET_TIMEOUT_MS } from './shard-load.ts';

/** Allowed lateness of a timer. */
const TIMER_MS = 20;

process.once('message', async (task) => {
  process.on('message', await start(task as ReaderTask));
  process.send?.('started');
});
process.on('disconnect', () => process.exit());

async function start(task: ReaderTask): Promise<(message: unknown) => void> {
  const { client, nodes, names, ratePerSecond, seed } = task;
  const reader: ShardClient =
    client === 'store' ? await createStoreClient(nodes, task.checkout) : createClosingClient(nodes);
  const { next: random } = createRandom(seed);
  const noReads = (): ShardReads[] =>
    nodes.map(() => ({ durationsMs: [], values: 0, slow: 0, refused: 0, overdue: 0 }));
  let counts = noReads();
  const read = async (): Promise<void> => {
    const into = counts;
    const shard = Math.floor(random() * nodes.length);
    const own = names[shard] ?? [];
    const sentMs = systemClock.monotonicMs();
    const result = await reader.read(own[Math.floor(random() * own.length)] ?? '', shard);
    const durationMs = systemClock.monotonicMs() - sentMs;
    const reads = into[shard];
    if (reads === undefined) return;
    reads.durationsMs.push(durationMs);
    reads[result === 'value' ? 'values' : result] += 1;
    if (durationMs > DEADLINE_MS + TIMER_MS) reads.overdue += 1;
  };
  openLoop({ ratePerSecond, random, send: read });
  return (message) => {
    if (message === 'end') process.send?.(counts);
    counts = noReads();
    if (message === 'begin') process.send?.('begun');
  };
}

/** `slow`: abandoned at the deadline. `refused`: not sent, or the connection was closed. */
type Read = 'value' | 'slow' | 'refused';

interface ShardClient {
  readonly read: (name: string, shard: number) => Promise<Read>;
  readonly close: () => Promise<void>;
}

type StoreModule = typeof import('../../../src/stores/redis/store.ts');

/** The store adapter of that checkout, with the settings of the service. */
async function createStoreClient(nodes: readonly HostPort[], checkout: string): Promise<ShardClient> {
  const path = pathToFileURL(join(checkout, 'src', 'stores', 'redis', 'store.ts'));
  const { createRedisStore } = (await import(path.href)) as StoreModule;
  const store = createRedisStore({
    settings: {
      kind: 'cluster',
      nodes,
      deadlineMs: DEADLINE_MS,
      connectTimeoutMs: 2000,
      socketTimeoutMs: SOCKET_TIMEOUT_MS,
      maxOutstanding: 1024,
      batchSize: 128,
      refreshMs: 15_000,
      dedicated: false,
    },
    name: 'goods',
    clock: systemClock,
    random: Math.random,
    observe: () => undefined,
  });
  return {
    read: async (name) => {
      const read = await readOnce(store, name, DEADLINE_MS);
      if (read.kind === 'value') return 'value';
      return read.kind === 'fault' && read.fault === 'store-slow' ? 'slow' : 'refused';
    },
    close: store.close,
  };
}

/**
 * The common alternative: a timeout closes the connection and the next read opens another one. One connection per process
 * and shard; a pool would use one per read in flight.
 */
function createClosingClient(nodes: readonly HostPort[]): ShardClient {
  const open: (Redis | undefined)[] = nodes.map(() => undefined);
  const connect = ({ host, port }: HostPort): Redis => {
    const redis = new Redis({
      host,
      port,
      protocol: 2,
      disableClientInfo: true,
      enableReadyCheck: false,
      commandTimeout: DEADLINE_MS,
      maxRetriesPerRequest: 0,
      retryStrategy: null,
    });
    redis.on('error', () => undefined);
    return redis;
  };
  return {
    read: async (name, shard) => {
      const node = nodes[shard];
      if (node === undefined) throw new Error(`no shard ${shard}`);
      open[shard] ??= connect(node);
      const redis = open[shard];
      try {
        await redis.getBuffer(name);
        return 'value';
      } catch (error) {
        if (open[shard] === redis) {
          open[shard] = undefined;
          redis.disconnect();
          redis.stream?.destroy();
        }
        return error instanceof Error && error.message === 'Command timed out' ? 'slow' : 'refused';
      }
    },
    close: async () => {
      for (const redis of open) redis?.disconnect();
    },
  };
}

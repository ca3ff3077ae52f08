import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Redis } from 'ioredis';
import type { HostPort } from '../../../src/config/fields.ts';
import { systemClock } from '../../../src/runtime.ts';

/** `slow`: given up at the deadline. `refused`: given up before it was sent, or when the connection broke. */
export type Read = 'value' | 'slow' | 'refused';

export interface ShardClient {
  readonly read: (name: string, shard: number) => Promise<Read>;
  readonly close: () => Promise<void>;
}

export const DEADLINE_MS = 50;
export const SOCKET_TIMEOUT_MS = 3000;

type Room = typeof import('../../../src/stores/redis/store.ts');

/** What the service of that checkout reads its store with, and its settings. */
export async function createStoreClient(nodes: readonly HostPort[], checkout: string): Promise<ShardClient> {
  const room = pathToFileURL(join(checkout, 'src', 'stores', 'redis', 'store.ts'));
  const { createRedisStore } = (await import(room.href)) as Room;
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
      const read = await store.read(name, DEADLINE_MS);
      if (read.kind === 'value') return 'value';
      return read.kind === 'fault' && read.fault === 'store-slow' ? 'slow' : 'refused';
    },
    close: store.close,
  };
}

/**
 * How it is commonly done: a timeout is taken for a broken connection, which is closed, and the next read opens another.
 * One connection per process and shard; with a pool it would be one per read in flight.
 */
export function createClosingClient(nodes: readonly HostPort[]): ShardClient {
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

import { systemClock } from '../../../src/runtime.ts';
import type { HostPort } from '../../../src/schema/units.ts';
import { createRedisStore, type RedisStore } from '../../../src/stores/redis/store.ts';

export interface AdapterOptions {
  readonly target: HostPort;
  readonly deadlineMs: number;
  /** The connection is closed after this time without an answer. */
  readonly socketTimeoutMs?: number;
  readonly random?: () => number;
  readonly observe?: Parameters<typeof createRedisStore>[0]['observe'];
}

/** serpcache's own adapter with one connection to one store. Settings that are not given are the configuration's defaults. */
export function openAdapter(options: AdapterOptions): RedisStore {
  const { target, deadlineMs, socketTimeoutMs = 3000, random = Math.random, observe = () => undefined } = options;
  return createRedisStore({
    settings: {
      kind: 'standalone',
      nodes: [target],
      database: 0,
      deadlineMs,
      socketTimeoutMs,
      connectTimeoutMs: 2000,
      maxOutstanding: 1024,
      batchSize: 128,
      refreshMs: 15_000,
      dedicated: false,
      shared: false,
    },
    name: 'experiment',
    clock: systemClock,
    random,
    observe,
  });
}

export function isConnected(adapter: RedisStore): boolean {
  return adapter.nodes().every((node) => node.connected);
}

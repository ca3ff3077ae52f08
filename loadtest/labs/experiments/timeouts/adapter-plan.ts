import type { HostPort } from '../../../../src/schema/units.ts';
import type { RedisSettings } from '../../../../src/stores/redis/connection.ts';
import type { Mix } from '../../kit/mix.ts';

/** What one process of adapters does: as many of serpcache's own stores as there are connections, at one rate. */
export interface AdapterPlan {
  readonly target: HostPort;
  readonly connections: number;
  readonly seconds: number;
  readonly ratePerSecond: number;
  readonly mix: Mix;
  readonly deadlineMs: number;
  /** After so long without an answer the connection is closed. */
  readonly socketTimeoutMs: number;
  readonly seed: number;
  /** Processes whose processor time is read at both ends of the load. */
  readonly watched: readonly number[];
}

/** The configuration's defaults, but for what the plan says. */
export function settingsOf({ target, deadlineMs, socketTimeoutMs }: AdapterPlan): RedisSettings {
  return {
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
  };
}

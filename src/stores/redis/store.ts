import { setImmediate as nextTurn } from 'node:timers/promises';
import { readOnce, type Store } from '../../cache/store.ts';
import type { ChangeSource, ChangeStream } from '../../changes/feed.ts';
import type { ControlStore } from '../../control/control-store.ts';
import type { StoreContent } from '../../operations/flush/content.ts';
import type { CounterStore } from '../../popularity/shared.ts';
import { createRedisChanges, createRedisSource } from './changes.ts';
import { connectCluster } from './cluster.ts';
import { commandSender, createRedisLeases, entryCommands } from './commands.ts';
import type { RedisSettings, TopologyParts } from './connection.ts';
import { createRedisContent } from './content.ts';
import { createRedisControl } from './control.ts';
import { createRedisCounters } from './counters.ts';
import { createEpochs, createProcessCount } from './membership.ts';
import { pipelineCommands } from './pipeline.ts';
import { createSender } from './send.ts';
import { connectSingle } from './single.ts';

export interface RedisStoreOptions extends TopologyParts {
  readonly settings: RedisSettings;
  /** Length of one window of the counters; ten minutes unless given. */
  readonly counterWindowMs?: number;
  readonly contentDeadlineMs?: number;
}

/** One set of connections behind all the ports that Redis-protocol servers serve. */
export interface RedisStore extends Store {
  readonly control: ControlStore;
  readonly changes: ChangeStream;
  /** The stream of another team under this name. */
  readonly sourceOf: (key: string) => ChangeSource;
  readonly content: StoreContent;
  readonly counters: CounterStore;
  /** Whether the store holds a name; undefined when the store did not answer in time. */
  readonly holds: (name: string) => Promise<boolean | undefined>;
}

/**
 * The L2 store over any Redis-protocol servers. Connects in the background: servers that are away make it `store-down`
 * until they come, never a failed start.
 */
export function createRedisStore(options: RedisStoreOptions): RedisStore {
  const { settings, name: domain, clock, random, observe, counterWindowMs, contentDeadlineMs } = options;
  const { batchSize, deadlineMs } = settings;
  const topology = settings.kind === 'cluster' ? connectCluster(settings, options) : connectSingle(settings, options);
  let closed = false;

  const { ownerOf, owners } = topology;
  const toOwner = createSender(topology, observe);
  const send = commandSender(toOwner);
  const entries = entryCommands(toOwner);

  return {
    ...entries,
    holds: async (name) => {
      const found = await readOnce(entries, name, deadlineMs);
      return found.kind === 'fault' ? undefined : found.kind === 'value';
    },
    ...pipelineCommands({ ownerOf, batchSize, clock }),
    leases: createRedisLeases({ send, deadlineMs, random, closed: () => closed }),
    control: createRedisControl({ send }),
    changes: createRedisChanges({ send }),
    sourceOf: (key) => createRedisSource({ send, key }),
    content: createRedisContent({ domain, owners, ownerOf, batchSize, deadlineMs: contentDeadlineMs }),
    counters: createRedisCounters({ send, clock, windowMs: counterWindowMs }),
    ...createProcessCount({ domain, send }),
    epochs: createEpochs({ domain, owners, ownerOf, random }),
    locate: topology.locate,
    nodes: () => topology.nodes().map((node) => node.status()),
    trouble: topology.trouble,
    async close() {
      if (closed) return;
      closed = true;
      topology.close();
      // The sockets close after the first turn, and the commands in flight have failed after the second.
      await nextTurn();
      await nextTurn();
    },
  };
}

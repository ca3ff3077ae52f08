import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Store, StoreEvent } from '../../cache/store.ts';
import type { ControlStore } from '../../control/control-store.ts';
import type { StoreContent } from '../../operations/flush/content.ts';
import type { CounterStore } from '../../popularity/shared.ts';
import type { Clock } from '../../runtime.ts';
import { connectCluster } from './cluster.ts';
import { createRedisContent } from './content.ts';
import { createRedisControl } from './control.ts';
import { createRedisCounters } from './counters.ts';
import { readFrom, writeTo } from './entry-commands.ts';
import { createEpochs, createFleet } from './fleet.ts';
import { createRedisLeases } from './lease.ts';
import { FAULTS } from './node.ts';
import type { RedisSettings } from './options.ts';
import { readBatches, seedBatches } from './pipeline.ts';
import { type Command, type CommandReply, commandTo } from './send.ts';
import { connectSingle } from './single.ts';

export interface RedisStoreOptions {
  readonly settings: RedisSettings;
  /** The domain's name: part of its names in the store, and what the servers' CLIENT LIST shows. */
  readonly name: string;
  readonly clock: Clock;
  /** [0, 1): spreads waits, so that a fleet does not act at once. */
  readonly random: () => number;
  readonly observe: (event: StoreEvent) => void;
  /** Length of one window of the counters; ten minutes unless said. */
  readonly counterWindowMs?: number;
}

/** One set of connections behind all the ports that Redis-protocol servers serve. */
export interface RedisStore extends Store {
  readonly control: ControlStore;
  /** Of the domain the store is named for. */
  readonly content: StoreContent;
  readonly counters: CounterStore;
}

/**
 * The L2 store over any Redis-protocol servers. Connects in the background: servers that are away make it `store-down`
 * until they come, never a failed start.
 */
export function createRedisStore(options: RedisStoreOptions): RedisStore {
  const { settings, name, clock, random, observe, counterWindowMs } = options;
  const topology = settings.kind === 'cluster' ? connectCluster(settings, options) : connectSingle(settings, options);
  let closed = false;

  const ownerOf = (name: string) => {
    if (closed) return undefined;
    const node = topology.ownerOf(name);
    if (node === undefined) topology.remap('a name without an owner');
    return node;
  };
  const unowned = (operation: 'read' | 'write' | Command['operation']): void => {
    observe({ kind: 'command', operation, node: topology.unplaced, result: 'store-down', durationMs: 0 });
  };

  const send = (name: string, command: Command): Promise<CommandReply> => {
    const node = ownerOf(name);
    if (node !== undefined) return commandTo(node, command);
    unowned(command.operation);
    return Promise.resolve({ kind: 'fault', fault: 'store-down', sent: false });
  };
  const fleet = createFleet({ domain: name, send });
  const owners = () => (closed ? [] : topology.owners());

  return {
    leases: createRedisLeases({ send, deadlineMs: settings.deadlineMs, random, closed: () => closed }),
    epochs: createEpochs({
      domain: name,
      owners,
      ownerOf: (each) => (closed ? undefined : topology.ownerOf(each)),
      send: commandTo,
      random,
    }),
    control: createRedisControl({ send }),
    content: createRedisContent({ domain: name, owners, batchSize: settings.batchSize }),
    counters: createRedisCounters({
      send,
      clock,
      ...(counterWindowMs !== undefined && { windowMs: counterWindowMs }),
    }),
    beat: fleet.beat,
    leave: fleet.leave,
    seedMany: (items) => seedBatches({ items, batchSize: settings.batchSize, ownerOf }),
    read(name, deadlineMs) {
      const node = ownerOf(name);
      if (node !== undefined) return readFrom(node, name, deadlineMs);
      unowned('read');
      return Promise.resolve(FAULTS['store-down']);
    },
    readMany: (names, deadlineMs) => readBatches({ names, deadlineMs, batchSize: settings.batchSize, clock, ownerOf }),
    write(name, value, ttlMs) {
      const node = ownerOf(name);
      if (node !== undefined) return writeTo(node, name, value, ttlMs);
      unowned('write');
      return Promise.resolve({ kind: 'dropped', fault: 'store-down' });
    },
    locate: topology.locate,
    nodes: () => topology.nodes().map((node) => node.view()),
    async close() {
      if (closed) return;
      closed = true;
      topology.close();
      // Sockets close after the first turn, and fail what was in flight by the second.
      await nextTurn();
      await nextTurn();
    },
  };
}

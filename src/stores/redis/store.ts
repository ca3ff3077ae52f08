import { setImmediate as nextTurn } from 'node:timers/promises';
import { Command } from 'ioredis';
import { readOnce, type Store, type StoreEvent, type StoreRead, type StoreWrite } from '../../cache/store.ts';
import type { ControlStore } from '../../control/control-store.ts';
import type { StoreContent } from '../../operations/flush/content.ts';
import type { CounterStore } from '../../popularity/shared.ts';
import { connectCluster } from './cluster.ts';
import { type SendCommand, sendCommand, wholeMs } from './command.ts';
import type { RedisSettings } from './connection.ts';
import { createRedisContent } from './content.ts';
import { createRedisControl } from './control.ts';
import { createRedisCounters } from './counters.ts';
import { createRedisLeases } from './lease.ts';
import { createEpochs, createHeartbeats } from './membership.ts';
import type { RedisNode, TopologyParts } from './node.ts';
import { ABSENT, NOT_A_VALUE, READ_FAULTS, readMany, writeManyIfAbsent } from './pipeline.ts';
import { type Replies, type RequestKind, send, sendTo } from './send.ts';
import { connectSingle } from './single.ts';

export interface RedisStoreOptions extends TopologyParts {
  readonly settings: RedisSettings;
  /** Length of one window of the counters; ten minutes unless given. */
  readonly counterWindowMs?: number;
  /** Deadline of a call about the content; see content.ts. */
  readonly contentDeadlineMs?: number;
}

/** One set of connections behind all the ports that Redis-protocol servers serve. */
export interface RedisStore extends Store {
  readonly control: ControlStore;
  /** The content of the domain that the store is named for. */
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

  const ownerOf = (name: string): RedisNode | undefined => {
    if (closed) return undefined;
    const node = topology.ownerOf(name);
    if (node === undefined) topology.refreshSlots();
    return node;
  };
  const reportNoOwner = (operation: Extract<StoreEvent, { readonly kind: 'command' }>['operation']): void => {
    observe({ kind: 'command', operation, node: topology.unknownNode, result: 'store-down', durationMs: 0 });
  };
  const sendToOwner: SendCommand = (name, command) => {
    const node = ownerOf(name);
    if (node !== undefined) return sendCommand(node, command);
    reportNoOwner(command.operation);
    return Promise.resolve({ kind: 'fault', fault: 'store-down', sent: false });
  };
  const owners = () => (closed ? [] : topology.owners());

  const read: Store['read'] = (name, readDeadlineMs, settle) => {
    const node = ownerOf(name);
    if (node !== undefined) {
      sendTo(node, READ, { name, deadlineMs: readDeadlineMs }, settle);
      return;
    }
    reportNoOwner('read');
    settle(READ_FAULTS['store-down']);
  };

  return {
    read,
    holds: async (name) => {
      const found = await readOnce({ read }, name, deadlineMs);
      return found.kind === 'fault' ? undefined : found.kind === 'value';
    },
    write(name, value, ttlMs) {
      const node = ownerOf(name);
      if (node !== undefined) return send(node, WRITE, { name, value, ttlMs, bytes: value.byteLength });
      reportNoOwner('write');
      return Promise.resolve({ kind: 'dropped', fault: 'store-down' });
    },
    readMany: (names, readDeadlineMs) => readMany({ names, deadlineMs: readDeadlineMs, batchSize, clock, ownerOf }),
    seedMany: (items) => writeManyIfAbsent({ items, batchSize, ownerOf }),
    leases: createRedisLeases({ send: sendToOwner, deadlineMs, random, closed: () => closed }),
    control: createRedisControl({ send: sendToOwner }),
    content: createRedisContent({
      ...{ domain, owners, ownerOf, batchSize },
      ...(contentDeadlineMs !== undefined && { deadlineMs: contentDeadlineMs }),
    }),
    counters: createRedisCounters({
      send: sendToOwner,
      clock,
      ...(counterWindowMs !== undefined && { windowMs: counterWindowMs }),
    }),
    ...createHeartbeats({ domain, send: sendToOwner }),
    epochs: createEpochs({
      domain,
      owners,
      ownerOf: (name) => (closed ? undefined : topology.ownerOf(name)),
      random,
    }),
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

/** GET. A redirect that is not followed is a miss; everything that the node will not do is the fault `store-down`. */
const READ: RequestKind<{ readonly name: string; readonly deadlineMs: number }, unknown, StoreRead> = {
  admit: (node) => node.admitRead(),
  corked: true,
  send: (redis, { name }) => redis.getBuffer(name),
  sendTo: (redis, { name }, replies) => void redis.sendCommand(new GetCommand(name, replies)),
  mismatch: (reply) => (reply === null || Buffer.isBuffer(reply) ? undefined : NOT_A_VALUE),
  answer: (reply) => (Buffer.isBuffer(reply) ? { kind: 'value', value: reply } : ABSENT),
  fail: (cause) => (cause === 'moved' ? ABSENT : READ_FAULTS[cause === 'refused' ? 'store-down' : cause]),
  expire: (node, _request, startedMs, reply) => ({
    kind: 'fault',
    fault: 'store-slow',
    late: lateValue(node, startedMs, reply),
  }),
  event: (node, _request, result, durationMs) => ({
    kind: 'command',
    operation: 'read',
    node,
    result: result.kind === 'fault' ? result.fault : result.kind,
    durationMs,
  }),
};

/**
 * A GET whose reply goes straight to its request. Each command of ioredis has a promise; this one never settles it, and
 * nothing waits for it.
 */
class GetCommand extends Command {
  constructor(name: string, { replied, failed }: Replies<unknown>) {
    super('get', [name]);
    this.resolve = replied;
    this.reject = failed;
  }
}

/** The reply to an abandoned read. An error after the deadline (mostly a connection that broke) is not examined. */
async function lateValue(node: RedisNode, startedMs: number, sent: Promise<unknown>): Promise<Buffer | undefined> {
  let reply: unknown;
  try {
    reply = await sent;
  } catch {
    return undefined;
  }
  const value = Buffer.isBuffer(reply) ? reply : undefined;
  if (value === undefined && reply !== null) node.protocolError(NOT_A_VALUE);
  const durationMs = node.clock.monotonicMs() - startedMs;
  node.observe({ kind: 'late', node: node.address, hit: value !== undefined, durationMs });
  return value;
}

interface WriteRequest {
  readonly name: string;
  readonly value: Buffer;
  readonly ttlMs: number;
  readonly bytes: number;
}

const STORED: StoreWrite = { kind: 'stored' };

/**
 * SET … PX. No reply to a client waits for it, so it has no deadline and ends with its connection: confirmed, refused, or
 * given up when `socketTimeout` closes the socket. OOM and similar errors refuse a write while every read is served, so
 * they do not count as failures of the node.
 */
const WRITE: RequestKind<WriteRequest, unknown, StoreWrite> = {
  admit: (node, { bytes }) => node.admitWrite(bytes),
  corked: true,
  send: (redis, { name, value, ttlMs }) => redis.set(name, value, 'PX', wholeMs(ttlMs)),
  answer: () => STORED,
  fail: (cause) => ({ kind: 'dropped', fault: cause === 'moved' ? 'refused' : cause }),
  event: (node, _request, result, durationMs) => ({
    kind: 'command',
    operation: 'write',
    node,
    result: result.kind === 'stored' ? 'stored' : result.fault,
    durationMs,
  }),
};

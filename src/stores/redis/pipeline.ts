import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainableCommander } from 'ioredis';
import type { StoreFault } from '../../cache/events.ts';
import type { SeedItem, SeedResult, StoreEvent, StoreRead } from '../../cache/store.ts';
import type { Clock } from '../../runtime.ts';
import { COMMAND, type CommandFault, wholeMs } from './command.ts';
import type { RedisNode } from './node.ts';
import { causeOf, classify, failureOf, follow, type NodeRequest, type RequestKind, send } from './send.ts';

/** One object per fault: a refused read allocates nothing. */
export const READ_FAULTS: Readonly<Record<StoreFault, Extract<StoreRead, { readonly kind: 'fault' }>>> = {
  'node-open': { kind: 'fault', fault: 'node-open' },
  'store-down': { kind: 'fault', fault: 'store-down' },
  'store-saturated': { kind: 'fault', fault: 'store-saturated' },
  'store-slow': { kind: 'fault', fault: 'store-slow' },
};

export const ABSENT: StoreRead = { kind: 'absent' };

/** Such a reply cannot belong to GET: replies and commands are out of step, or the server is not Redis. */
export const NOT_A_VALUE = 'a reply to GET that is neither a string nor nil';

interface PipelineRequest extends NodeRequest {
  readonly commands: number;
}
type Reply = readonly [error: Error | null, value: unknown];

/** Uses `node.pipeline()` and never the cluster's pipeline, which fails as a whole when the topology changes. */
async function exec(pipeline: ChainableCommander, { commands }: PipelineRequest): Promise<readonly Reply[]> {
  try {
    return (await pipeline.exec()) ?? failed(commands, new Error('no reply'));
  } catch (error) {
    return failed(commands, error instanceof Error ? error : new Error(String(error)));
  }
}

const failed = (commands: number, error: Error): readonly Reply[] =>
  Array.from({ length: commands }, () => [error, undefined]);

/**
 * Whether the node is down: every command of the pipeline must show it. The failure of one command concerns only that
 * command.
 */
const isDown = (replies: readonly Reply[]): boolean =>
  replies.every(([error]) => error !== null && classify(error).kind === 'down');

function pipelineEvent(
  type: 'read' | 'write',
  node: string,
  { commands }: PipelineRequest,
  failedCount: number,
  durationMs: number,
): StoreEvent {
  return { kind: 'pipeline', type, node, size: commands, failed: failedCount, durationMs };
}

interface ReadManyOptions {
  readonly names: readonly string[];
  readonly deadlineMs: number;
  /** Names per pipeline. */
  readonly batchSize: number;
  readonly clock: Clock;
  readonly ownerOf: (name: string) => RedisNode | undefined;
}

/** GET in pipelines, one reply per name. MOVED and ASK are misses, and MOVED refreshes the slot map. */
export function readMany(options: ReadManyOptions): Promise<readonly StoreRead[]> {
  const { names, ownerOf, clock, deadlineMs, batchSize } = options;
  const startedMs = clock.monotonicMs();
  const left = (): number => deadlineMs - (clock.monotonicMs() - startedMs);
  return pipelinesByNode<string, StoreRead>({
    items: names,
    nameOf: (name) => name,
    ownerOf,
    unowned: READ_FAULTS['store-down'],
    // Without room the pipeline is refused as a whole. After the deadline nothing more is sent: a name that was not
    // sent has the same result as a name that was not answered.
    take: (node, items) => (left() > 0 ? Math.min(batchSize, node.pipelineRoom() || batchSize) : items.length),
    send: async (node, chunk) => {
      const leftMs = left();
      if (leftMs <= 0) return chunk.map(() => READ_FAULTS['store-slow']);
      return send(node, READS, { names: chunk, commands: chunk.length, deadlineMs: leftMs });
    },
  });
}

interface ReadsRequest extends PipelineRequest {
  readonly names: readonly string[];
}

/**
 * Refused when single reads have left no room. Redirects are not followed. After the deadline each name keeps its own late
 * reply; late errors are not examined.
 */
const READS: RequestKind<ReadsRequest, readonly Reply[], readonly StoreRead[]> = {
  admit: (node) => (node.pipelineRoom() === 0 ? 'store-saturated' : node.admitRead()),
  corked: false,
  send(redis, request) {
    const pipeline = redis.pipeline();
    for (const name of request.names) pipeline.getBuffer(name);
    return exec(pipeline, request);
  },
  isDown,
  answer: (replies, node) => replies.map((reply) => readOf(node, reply)),
  fail: (cause, { names }) =>
    names.map(() => (cause === 'moved' ? ABSENT : READ_FAULTS[cause === 'refused' ? 'store-down' : cause])),
  expire(node, { names }, startedMs, sent) {
    void sent.then((replies) => {
      const durationMs = node.clock.monotonicMs() - startedMs;
      for (const [error, value] of replies) {
        if (error === null) node.observe({ kind: 'late', node: node.address, hit: Buffer.isBuffer(value), durationMs });
      }
    });
    const lateValue = async (index: number): Promise<Buffer | undefined> => {
      const value = (await sent)[index]?.[1];
      return Buffer.isBuffer(value) ? value : undefined;
    };
    return names.map((_, index) => ({ kind: 'fault', fault: 'store-slow', late: lateValue(index) }));
  },
  event: (node, request, reads, durationMs) =>
    pipelineEvent('read', node, request, reads.filter(({ kind }) => kind === 'fault').length, durationMs),
};

function readOf(node: RedisNode, [error, value]: Reply): StoreRead {
  if (error !== null) return failureOf(node, error).kind === 'redirect' ? ABSENT : READ_FAULTS['store-down'];
  if (Buffer.isBuffer(value)) return { kind: 'value', value };
  if (value === null) return ABSENT;
  node.protocolError(NOT_A_VALUE);
  return READ_FAULTS['store-down'];
}

interface WriteManyOptions {
  readonly items: readonly SeedItem[];
  /** Entries per pipeline. */
  readonly batchSize: number;
  readonly ownerOf: (name: string) => RedisNode | undefined;
}

const STORED: SeedResult = { kind: 'stored' };
const KEPT: SeedResult = { kind: 'kept' };
const DOWN: SeedResult = { kind: 'dropped', fault: 'store-down' };
const REFUSED: SeedResult = { kind: 'dropped', fault: 'refused' };

/** Keeps a pipeline short on the wire: the reads behind it wait for one megabyte, not for a hundred large entries. */
const MAX_PIPELINE_BYTES = 1024 * 1024;

/** SET … NX PX in pipelines. As a write it has no deadline and ends with its connection; one result per entry. */
export function writeManyIfAbsent({ items, batchSize, ownerOf }: WriteManyOptions): Promise<readonly SeedResult[]> {
  return pipelinesByNode<SeedItem, SeedResult>({
    items,
    nameOf: ({ name }) => name,
    ownerOf,
    unowned: DOWN,
    take(node, all, first) {
      const max = Math.min(batchSize, node.pipelineRoom() || batchSize, all.length - first);
      let size = 0;
      for (let bytes = 0; size < max; size += 1) {
        bytes += all[first + size]?.value.byteLength ?? 0;
        if (bytes > MAX_PIPELINE_BYTES) break;
      }
      return Math.max(1, size);
    },
    send: (node, chunk) => {
      const bytes = chunk.reduce((sum, { value }) => sum + value.byteLength, 0);
      return send(node, WRITES, { items: chunk, commands: chunk.length, bytes });
    },
  });
}

interface WritesRequest extends PipelineRequest {
  readonly items: readonly SeedItem[];
  readonly bytes: number;
}

/** Admitted as a write of all its bytes, and without a deadline. Redirects are not followed: MOVED and ASK are `refused`. */
const WRITES: RequestKind<WritesRequest, readonly Reply[], readonly SeedResult[]> = {
  admit: (node, { bytes }) => (node.pipelineRoom() === 0 ? 'store-saturated' : node.admitWrite(bytes)),
  corked: false,
  send(redis, request) {
    const pipeline = redis.pipeline();
    for (const { name, value, ttlMs } of request.items) pipeline.set(name, value, 'PX', wholeMs(ttlMs), 'NX');
    return exec(pipeline, request);
  },
  isDown,
  answer: (replies, node) =>
    replies.map(([error, value]) => {
      if (error === null) return value === null ? KEPT : STORED;
      return failureOf(node, error).kind === 'down' ? DOWN : REFUSED;
    }),
  fail: (cause, { items }) => items.map(() => ({ kind: 'dropped', fault: cause === 'moved' ? 'refused' : cause })),
  event: (node, request, results, durationMs) =>
    pipelineEvent('write', node, request, results.filter(({ kind }) => kind === 'dropped').length, durationMs),
};

interface NodePipelineOptions {
  readonly node: RedisNode;
  /** Sent once per name, with the name as its only argument. Its reply is an integer. */
  readonly command: 'STRLEN' | 'UNLINK';
  readonly names: readonly string[];
  /** Names per pipeline: single reads are sent between two pipelines. */
  readonly batchSize: number;
  /** For all names together. */
  readonly deadlineMs: number;
}

type NodePipelineReply =
  /** In the order of the names. */
  { readonly kind: 'replies'; readonly replies: readonly number[] } | Omit<CommandFault, 'sent'>;

/** The pause before a pipeline checks for room again, after single commands have taken all of it. */
const NO_ROOM_WAIT_MS = 10;

/**
 * One command for each of many names on one node, in pipelines one after another. For a name that has moved, the redirect
 * is followed once. The first command that the node refuses ends the whole call.
 */
export async function pipelineOnNode(options: NodePipelineOptions): Promise<NodePipelineReply> {
  const { node, command, names, batchSize, deadlineMs } = options;
  const startedMs = node.clock.monotonicMs();
  const left = (): number => deadlineMs - (node.clock.monotonicMs() - startedMs);
  const replies: number[] = [];
  while (replies.length < names.length) {
    const room = Math.min(batchSize, node.pipelineRoom());
    const leftMs = left();
    if (leftMs <= 0) return { kind: 'fault', fault: room === 0 ? 'store-saturated' : 'store-slow' };
    if (room === 0) {
      await sleep(Math.min(NO_ROOM_WAIT_MS, leftMs));
      continue;
    }
    const chunk = names.slice(replies.length, replies.length + room);
    const sent = await send(node, INTEGERS, { command, names: chunk, commands: chunk.length, deadlineMs: leftMs });
    if (sent.kind === 'fault') return sent;
    for (const [index, [error, reply]] of sent.replies.entries()) {
      const value = error === null ? Number(reply) : await afterError(options, chunk[index] ?? '', error, left());
      if (typeof value !== 'number') return value;
      replies.push(value);
    }
  }
  return { kind: 'replies', replies };
}

interface IntegersRequest extends PipelineRequest {
  readonly command: 'STRLEN' | 'UNLINK';
  readonly names: readonly string[];
}
type Fault = Extract<NodePipelineReply, { readonly kind: 'fault' }>;

/** Admitted as a read, UNLINK too: the caller waits for room first, and follows the redirect of each name separately. */
const INTEGERS: RequestKind<
  IntegersRequest,
  readonly Reply[],
  { readonly kind: 'replies'; readonly replies: readonly Reply[] } | Fault
> = {
  admit: (node) => node.admitRead(),
  corked: false,
  send(redis, request) {
    const pipeline = redis.pipeline();
    for (const name of request.names) pipeline.call(request.command, name);
    return exec(pipeline, request);
  },
  isDown,
  answer: (replies) => ({ kind: 'replies', replies }),
  fail: (cause) => ({ kind: 'fault', fault: cause === 'moved' ? 'refused' : cause }),
  event(node, request, result, durationMs) {
    const failedCount =
      result.kind === 'fault' ? request.commands : result.replies.filter(([error]) => error !== null).length;
    return pipelineEvent(request.command === 'STRLEN' ? 'read' : 'write', node, request, failedCount, durationMs);
  },
};

/** The reply for a name whose command failed in the pipeline: from the node that has the name now, or the fault. */
async function afterError(
  { node, command }: NodePipelineOptions,
  name: string,
  error: Error,
  leftMs: number,
): Promise<number | Fault> {
  const failure = failureOf(node, error);
  // A key of another type is not one of our values.
  if (failure.kind === 'refused' && error.message.startsWith('WRONGTYPE')) return 0;
  if (failure.kind === 'redirect') {
    const reply = await follow(node, failure, COMMAND, {
      operation: 'content',
      shape: 'integer',
      parts: [command, name],
      deadlineMs: Math.max(1, leftMs),
    });
    if (reply !== undefined) return reply.kind === 'reply' ? Number(reply.reply) : reply;
  }
  const cause = causeOf(failure);
  return { kind: 'fault', fault: cause === 'moved' ? 'refused' : cause, detail: error.message };
}

interface PipelinesByNodeOptions<Item, Result> {
  readonly items: readonly Item[];
  readonly nameOf: (item: Item) => string;
  readonly ownerOf: (name: string) => RedisNode | undefined;
  /** The result of items whose name has no owner. */
  readonly unowned: Result;
  /** The number of items, from `first` on, that go into the next pipeline: at least one. */
  readonly take: (node: RedisNode, items: readonly Item[], first: number) => number;
  /** Results in the order of `chunk`. Never rejects. */
  readonly send: (node: RedisNode, chunk: readonly Item[]) => Promise<readonly Result[]>;
}

/**
 * Sends many items in pipelines: grouped by node, nodes in parallel, the pipelines of one node one after another, so that
 * single commands are sent between them. Results in the order of `items`.
 */
async function pipelinesByNode<Item, Result>(
  options: PipelinesByNodeOptions<Item, Result>,
): Promise<readonly Result[]> {
  const { items, nameOf, ownerOf, unowned, take, send: sendChunk } = options;
  const results: Result[] = items.map(() => unowned);
  const groups = new Map<RedisNode, { readonly positions: number[]; readonly items: Item[] }>();
  for (const [position, item] of items.entries()) {
    const node = ownerOf(nameOf(item));
    if (node === undefined) continue;
    const group = groups.get(node) ?? { positions: [], items: [] };
    groups.set(node, group);
    group.positions.push(position);
    group.items.push(item);
  }
  const drain = async (node: RedisNode, group: { positions: readonly number[]; items: readonly Item[] }) => {
    for (let first = 0; first < group.items.length; ) {
      const end = first + Math.max(1, take(node, group.items, first));
      const replies = await sendChunk(node, group.items.slice(first, end));
      for (const [index, position] of group.positions.slice(first, end).entries()) {
        results[position] = replies[index] ?? unowned;
      }
      first = end;
    }
  };
  await Promise.all([...groups].map(([node, group]) => drain(node, group)));
  return results;
}

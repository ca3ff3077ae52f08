import { setTimeout as sleep } from 'node:timers/promises';
import type { SeedItem, SeedResult, StoreRead } from '../../cache/store.ts';
import type { Clock } from '../../runtime.ts';
import { NOT_A_VALUE } from './entry-commands.ts';
import { FAULTS, type RedisNode } from './node.ts';
import { armDeadline, classify, commandTo } from './send.ts';

export interface BatchOptions {
  readonly names: readonly string[];
  readonly deadlineMs: number;
  /** Names per pipeline. */
  readonly batchSize: number;
  readonly clock: Clock;
  readonly ownerOf: (name: string) => RedisNode | undefined;
}

/**
 * Reads many names. `node.pipeline()`, never the cluster's, which answers a change of topology with errors for the
 * whole batch. Each reply stands for itself; MOVED and ASK are misses, and the map is refreshed.
 */
export function readBatches(options: BatchOptions): Promise<readonly StoreRead[]> {
  const { names, ownerOf, clock, deadlineMs, batchSize } = options;
  const startedMs = clock.monotonicMs();
  const left = (): number => deadlineMs - (clock.monotonicMs() - startedMs);
  return perNode<string, StoreRead>({
    items: names,
    nameOf: (name) => name,
    ownerOf,
    unowned: FAULTS['store-down'],
    // Without room the chunk is refused as a whole. After a deadline nothing more is sent: what was not asked is as
    // slow as what was not answered.
    take: (node, items) => (left() > 0 ? Math.min(batchSize, node.bulkRoom() || batchSize) : items.length),
    send: async (node, chunk) => {
      const leftMs = left();
      return leftMs > 0 ? readChunk(node, chunk, leftMs) : chunk.map(() => FAULTS['store-slow']);
    },
  });
}

type Reply = readonly [error: Error | null, value: unknown];

/** One pipeline on one node: one event and one booking for the whole of it. */
function readChunk(node: RedisNode, names: readonly string[], deadlineMs: number): Promise<readonly StoreRead[]> {
  const size = names.length;
  const startedMs = node.clock.monotonicMs();
  const elapsedMs = (): number => node.clock.monotonicMs() - startedMs;
  const report = (failed: number): void =>
    node.observe({ kind: 'pipeline', type: 'read', node: node.address, size, failed, durationMs: elapsedMs() });

  const pass = node.bulkRoom() === 0 ? 'store-saturated' : node.admitRead();
  if (typeof pass === 'string') {
    report(size);
    return Promise.resolve(names.map(() => FAULTS[pass]));
  }
  node.count(size);
  const pipeline = node.redis.pipeline();
  for (const name of names) pipeline.getBuffer(name);
  const broken = (error: Error): Reply[] => names.map(() => [error, undefined]);
  const sent = pipeline.exec().then((replies): Reply[] => replies ?? broken(new Error('no reply')), broken);

  return new Promise((resolve) => {
    let waiting = true;
    const cancel = armDeadline(node.clock, startedMs, deadlineMs, (ownStall) => {
      waiting = false;
      node.book(pass, ownStall ? 'unknown' : 'failed');
      report(size);
      resolve(names.map((_, index) => ({ kind: 'fault', fault: 'store-slow', late: lateReply(sent, index) })));
    });
    sent.then((replies) => {
      node.count(-size);
      if (!waiting) return reportLate(node, replies, elapsedMs());
      waiting = false;
      cancel();
      const reads = replies.map((reply) => toRead(node, reply));
      const failed = reads.filter((read) => read.kind === 'fault').length;
      const down = replies.every(([error]) => error !== null && classify(error).kind === 'down');
      node.book(pass, down ? 'failed' : 'answered');
      report(failed);
      resolve(reads);
    });
  });
}

function toRead(node: RedisNode, [error, value]: Reply): StoreRead {
  if (error === null) {
    if (Buffer.isBuffer(value)) return { kind: 'value', value };
    if (value === null) return { kind: 'absent' };
    node.distrust(NOT_A_VALUE);
    return FAULTS['store-down'];
  }
  const failure = classify(error);
  switch (failure.kind) {
    case 'redirect':
      if (!failure.ask) node.remap('MOVED');
      return { kind: 'absent' };
    case 'refused':
      if (failure.remap) node.remap(error.message);
      return FAULTS['store-down'];
    case 'down':
      node.remap(error.message);
      return FAULTS['store-down'];
  }
}

function reportLate(node: RedisNode, replies: readonly Reply[], durationMs: number): void {
  for (const [error, value] of replies) {
    if (error === null) node.observe({ kind: 'late', node: node.address, hit: Buffer.isBuffer(value), durationMs });
  }
}

async function lateReply(sent: Promise<readonly Reply[]>, index: number): Promise<Buffer | undefined> {
  const value = (await sent)[index]?.[1];
  return Buffer.isBuffer(value) ? value : undefined;
}

export interface NamePipeline {
  readonly node: RedisNode;
  /** One per name, with the name alone. Answered with an integer. */
  readonly command: 'STRLEN' | 'UNLINK';
  readonly names: readonly string[];
  /** Names per pipeline: single reads find their way in between. */
  readonly batchSize: number;
  /** For all of it. */
  readonly deadlineMs: number;
}

export type NamePipelineReply =
  /** In the order of the names. */
  | { readonly kind: 'replies'; readonly replies: readonly number[] }
  | { readonly kind: 'fault'; readonly fault: string; readonly detail?: string };

/** Until single commands have left room again. */
const NO_ROOM_WAIT_MS = 10;

/**
 * One command for each of many names on one node, in pipelines one after another. A name that has moved to another node
 * is asked for there, once. The first thing the node will not do ends it.
 */
export async function pipelineNames(options: NamePipeline): Promise<NamePipelineReply> {
  const { node, names, batchSize, deadlineMs } = options;
  const startedMs = node.clock.monotonicMs();
  const left = (): number => deadlineMs - (node.clock.monotonicMs() - startedMs);
  const replies: number[] = [];
  while (replies.length < names.length) {
    const room = Math.min(batchSize, node.bulkRoom());
    const leftMs = left();
    if (leftMs <= 0) return { kind: 'fault', fault: room === 0 ? 'store-saturated' : 'store-slow' };
    if (room === 0) {
      await sleep(Math.min(NO_ROOM_WAIT_MS, leftMs));
      continue;
    }
    const chunk = names.slice(replies.length, replies.length + room);
    const sent = await sendChunk(options, chunk, leftMs);
    if (sent.kind === 'fault') return sent;
    for (const [index, [error, reply]] of sent.replies.entries()) {
      const value = error === null ? Number(reply) : await answerTo(options, chunk[index] ?? '', error, left());
      if (typeof value !== 'number') return value;
      replies.push(value);
    }
  }
  return { kind: 'replies', replies };
}

type Sent = { readonly kind: 'replies'; readonly replies: readonly Reply[] } | Fault;
type Fault = Extract<NamePipelineReply, { readonly kind: 'fault' }>;

/** One pipeline: one event and one booking for the whole of it. */
function sendChunk({ node, command }: NamePipeline, names: readonly string[], deadlineMs: number): Promise<Sent> {
  const size = names.length;
  const startedMs = node.clock.monotonicMs();
  const report = (failed: number): void => {
    const durationMs = node.clock.monotonicMs() - startedMs;
    const type = command === 'STRLEN' ? 'read' : 'write';
    node.observe({ kind: 'pipeline', type, node: node.address, size, failed, durationMs });
  };
  const pass = node.admitRead();
  if (typeof pass === 'string') {
    report(size);
    return Promise.resolve({ kind: 'fault', fault: pass });
  }
  node.count(size);
  const pipeline = node.redis.pipeline();
  for (const name of names) pipeline.call(command, name);
  return new Promise((resolve) => {
    let waiting = true;
    const cancel = armDeadline(node.clock, startedMs, deadlineMs, (ownStall) => {
      waiting = false;
      node.book(pass, ownStall ? 'unknown' : 'failed');
      report(size);
      resolve({ kind: 'fault', fault: 'store-slow' });
    });
    const settle = (replies: readonly Reply[]): void => {
      node.count(-size);
      if (!waiting) return;
      waiting = false;
      cancel();
      const down = replies.every(([error]) => error !== null && classify(error).kind === 'down');
      node.book(pass, down ? 'failed' : 'answered');
      report(replies.filter(([error]) => error !== null).length);
      resolve({ kind: 'replies', replies });
    };
    const broken = (error: Error): void => settle(names.map(() => [error, undefined]));
    pipeline.exec().then((replies) => (replies === null ? broken(new Error('no reply')) : settle(replies)), broken);
  });
}

async function answerTo(
  { node, command }: NamePipeline,
  name: string,
  error: Error,
  leftMs: number,
): Promise<number | Fault> {
  const failure = classify(error);
  switch (failure.kind) {
    case 'down':
      node.remap(error.message);
      return { kind: 'fault', fault: 'store-down', detail: error.message };
    case 'refused':
      if (failure.remap) node.remap(error.message);
      // Somebody else's key of another type: not one of our values.
      if (error.message.startsWith('WRONGTYPE')) return 0;
      return { kind: 'fault', fault: 'refused', detail: error.message };
    case 'redirect': {
      if (!failure.ask) node.remap('MOVED');
      const target = node.peer(failure.to);
      if (target === undefined) return { kind: 'fault', fault: 'refused', detail: error.message };
      const ask = { operation: 'content', shape: 'integer', parts: [command, name] } as const;
      const hop = failure.ask ? 'asking' : 'moved';
      const reply = await commandTo(target, { ...ask, deadlineMs: Math.max(1, leftMs) }, hop);
      return reply.kind === 'reply' ? Number(reply.reply) : reply;
    }
  }
}

export interface PerNodeOptions<Item, Result> {
  readonly items: readonly Item[];
  readonly nameOf: (item: Item) => string;
  readonly ownerOf: (name: string) => RedisNode | undefined;
  /** What items get whose name has no owner. */
  readonly unowned: Result;
  /** How many from `first` on go into the next pipeline: at least one. */
  readonly take: (node: RedisNode, items: readonly Item[], first: number) => number;
  /** Results in the order of `chunk`. Never rejects. */
  readonly send: (node: RedisNode, chunk: readonly Item[]) => Promise<readonly Result[]>;
}

/**
 * Work on many names: grouped by node, nodes side by side, one node's chunks one after another, so that single
 * commands find their way in between. Results in the order of `items`.
 */
export async function perNode<Item, Result>(options: PerNodeOptions<Item, Result>): Promise<readonly Result[]> {
  const { items, nameOf, ownerOf, unowned, take, send } = options;
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
      const replies = await send(node, group.items.slice(first, end));
      for (const [index, position] of group.positions.slice(first, end).entries()) {
        results[position] = replies[index] ?? unowned;
      }
      first = end;
    }
  };
  await Promise.all([...groups].map(([node, group]) => drain(node, group)));
  return results;
}

export interface SeedOptions {
  readonly items: readonly SeedItem[];
  /** Entries per pipeline. */
  readonly batchSize: number;
  readonly ownerOf: (name: string) => RedisNode | undefined;
}

const STORED: SeedResult = { kind: 'stored' };
const KEPT: SeedResult = { kind: 'kept' };
const DOWN: SeedResult = { kind: 'dropped', fault: 'store-down' };
const REFUSED: SeedResult = { kind: 'dropped', fault: 'refused' };

/** One pipeline stays short on the wire, so that reads behind it wait for a megabyte and not for a hundred entries of one. */
const MAX_CHUNK_BYTES = 1024 * 1024;

/** SET … NX PX in pipelines per node. Like a write its end is the connection's; each reply stands for itself. */
export function seedBatches({ items, batchSize, ownerOf }: SeedOptions): Promise<readonly SeedResult[]> {
  return perNode<SeedItem, SeedResult>({
    items,
    nameOf: ({ name }) => name,
    ownerOf,
    unowned: DOWN,
    take(node, all, first) {
      const most = Math.min(batchSize, node.bulkRoom() || batchSize, all.length - first);
      let size = 0;
      for (let bytes = 0; size < most; size += 1) {
        bytes += all[first + size]?.value.byteLength ?? 0;
        if (bytes > MAX_CHUNK_BYTES) break;
      }
      return Math.max(1, size);
    },
    send: seedChunk,
  });
}

/** One pipeline on one node: one event and one booking for the whole of it. */
async function seedChunk(node: RedisNode, chunk: readonly SeedItem[]): Promise<readonly SeedResult[]> {
  const size = chunk.length;
  const bytes = chunk.reduce((sum, { value }) => sum + value.byteLength, 0);
  const startedMs = node.clock.monotonicMs();
  const report = (failed: number): void => {
    const durationMs = node.clock.monotonicMs() - startedMs;
    node.observe({ kind: 'pipeline', type: 'write', node: node.address, size, failed, durationMs });
  };
  const pass = node.bulkRoom() === 0 ? 'store-saturated' : node.admitWrite(bytes);
  if (typeof pass === 'string') {
    report(size);
    return chunk.map(() => ({ kind: 'dropped', fault: pass }));
  }
  node.count(size, bytes);
  const pipeline = node.redis.pipeline();
  for (const { name, value, ttlMs } of chunk) pipeline.set(name, value, 'PX', Math.max(1, Math.ceil(ttlMs)), 'NX');
  const replies = await pipeline.exec().catch(() => null);
  node.count(-size, -bytes);
  const results = chunk.map((_, index) => resultOf(node, replies?.[index]));
  node.book(pass, results.every((result) => result === DOWN) ? 'failed' : 'answered');
  report(results.filter(({ kind }) => kind === 'dropped').length);
  return results;
}

function resultOf(node: RedisNode, reply: readonly [error: Error | null, value: unknown] | undefined): SeedResult {
  if (reply === undefined) return DOWN;
  const [error, value] = reply;
  if (error === null) return value === null ? KEPT : STORED;
  const failure = classify(error);
  if (failure.kind === 'down') {
    node.remap('a seed failed');
    return DOWN;
  }
  if (failure.kind === 'redirect' ? !failure.ask : failure.remap) node.remap('a seed was refused');
  return REFUSED;
}

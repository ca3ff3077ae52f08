import type { StoreRead } from '../../cache/store.ts';
import type { Clock } from '../../clock.ts';
import { armDeadline } from './deadline.ts';
import { FAULTS, type RedisNode } from './node.ts';
import { perNode } from './per-node.ts';
import { NOT_A_VALUE } from './read.ts';
import { classify } from './reply-error.ts';

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

import { setTimeout as sleep } from 'node:timers/promises';
import { commandTo } from './command.ts';
import { armDeadline } from './deadline.ts';
import type { RedisNode } from './node.ts';
import { classify } from './reply-error.ts';

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

type Reply = readonly [error: Error | null, value: unknown];
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

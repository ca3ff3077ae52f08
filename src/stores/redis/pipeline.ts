import type { SeedItem, SeedResult, Store, StoreEvent, StoreRead } from '../../cache/store.ts';
import type { Clock } from '../../runtime.ts';
import { ABSENT, lateValue, NOT_A_VALUE, READ_FAULTS, readFailure, storeFaultOf, wholeMs } from './commands.ts';
import { classifyError } from './errors.ts';
import type { RedisNode } from './node.ts';
import {
  causeOf,
  DirectCommand,
  type FailureCause,
  failureOf,
  type NodeRequest,
  type RequestKind,
  send,
  type Topology,
} from './send.ts';

/** Many commands for one node as one request: they leave in one write, and each reply succeeds or fails alone. */
interface Pipeline extends NodeRequest {
  readonly parts: readonly (readonly [name: string, ...args: (string | number | Buffer)[]])[];
  readonly commands: number;
}

/** A reply is an Error where its command failed. */
type Replies = readonly unknown[];

interface PipelineKind<Result> extends Pick<RequestKind<Pipeline, Replies, readonly Result[]>, 'admit' | 'expire'> {
  readonly type: 'read' | 'write';
  readonly resultOf: (reply: unknown, node: RedisNode) => Result;
  /** The result of a command that failed, alone or with the whole pipeline. */
  readonly failed: (cause: FailureCause) => Result;
  readonly isFailure: (result: Result) => boolean;
}

/** Pipelines are refused when single commands have left no room. Redirects are not followed. */
function pipelineSender<Result>(kind: PipelineKind<Result>) {
  const { type, resultOf, failed, isFailure, expire } = kind;
  const pipelines: RequestKind<Pipeline, Replies, readonly Result[]> = {
    admit: (node, request) => (node.pipelineRoom() === 0 ? 'store-saturated' : kind.admit(node, request)),
    send: (redis, { parts }, { replied }) => {
      const replies: unknown[] = [];
      let missing = parts.length;
      for (const [index, [name, ...args]] of parts.entries()) {
        const take = (reply: unknown): void => {
          replies[index] = reply;
          missing -= 1;
          if (missing === 0) replied(replies);
        };
        redis.sendCommand(new DirectCommand(name, args, { replied: take, failed: take }));
      }
    },
    // Every command must show that the node is down: the failure of one concerns only that command.
    isDown: (replies) => replies.every((reply) => reply instanceof Error && classifyError(reply).kind === 'down'),
    answer: (replies, node) =>
      replies.map((reply) =>
        reply instanceof Error ? failed(causeOf(failureOf(node, reply))) : resultOf(reply, node),
      ),
    fail: (cause, { parts }) => parts.map(() => failed(cause)),
    expire,
    event: ({ commands }, results, durationMs): StoreEvent => {
      return { kind: 'pipeline', type, size: commands, failed: results.filter(isFailure).length, durationMs };
    },
  };
  return (node: RedisNode, { parts, ...limits }: Omit<Pipeline, 'commands'>): Promise<readonly Result[]> =>
    new Promise((resolve) => send(node, pipelines, { parts, commands: parts.length, ...limits }, resolve));
}

/** MOVED and ASK are misses, and MOVED refreshes the slot map. */
const sendReads = pipelineSender<StoreRead>({
  type: 'read',
  admit: (node) => node.admitRead(),
  resultOf: (reply, node) => {
    if (Buffer.isBuffer(reply)) return { kind: 'value', value: reply };
    if (reply === null) return ABSENT;
    node.protocolError(NOT_A_VALUE);
    return READ_FAULTS['store-down'];
  },
  failed: readFailure,
  isFailure: ({ kind }) => kind === 'fault',
  /** Each name keeps its own late reply. */
  expire: (node, { parts }, sent) =>
    parts.map((_, index) => {
      const own = sent.then((replies) => replies[index]);
      return { kind: 'fault', fault: 'store-slow', late: lateValue(node, own) };
    }),
});

const STORED: SeedResult = { kind: 'stored' };
const KEPT: SeedResult = { kind: 'kept' };

/** Admitted as a write of all its bytes. As a write it has no deadline and ends with its connection. */
const sendWrites = pipelineSender<SeedResult>({
  type: 'write',
  admit: (node, { bytes = 0 }) => node.admitWrite(bytes),
  resultOf: (reply) => (reply === null ? KEPT : STORED),
  failed: writeFailure,
  isFailure: ({ kind }) => kind === 'dropped',
});

function writeFailure(cause: FailureCause): SeedResult {
  return { kind: 'dropped', fault: storeFaultOf(cause) };
}

/** Keeps a pipeline short on the wire: the reads behind it wait for one megabyte, not for a hundred large entries. */
const MAX_PIPELINE_BYTES = 1024 * 1024;

interface PipelineOptions extends Pick<Topology, 'ownerOf'> {
  readonly batchSize: number;
  readonly clock: Clock;
}

/** GET, and SET … NX PX, of many names in pipelines: one result for each name. */
export function pipelineCommands({ ownerOf, batchSize, clock }: PipelineOptions): Pick<Store, 'readMany' | 'seedMany'> {
  const roomOf = (node: RedisNode): number => Math.min(batchSize, node.pipelineRoom() || batchSize);
  return {
    readMany: (names, deadlineMs) => {
      const untilMs = clock.monotonicMs() + deadlineMs;
      return pipelinesByNode<string, StoreRead>({
        items: names,
        nameOf: (name) => name,
        ownerOf,
        unowned: READ_FAULTS['store-down'],
        // Without room the pipeline is refused as a whole. After the deadline nothing more is sent: a name that was not
        // sent has the same result as a name that was not answered.
        take: (node, items) => (clock.monotonicMs() < untilMs ? roomOf(node) : items.length),
        send: async (node, chunk) => {
          const leftMs = untilMs - clock.monotonicMs();
          if (leftMs <= 0) return chunk.map(() => READ_FAULTS['store-slow']);
          return sendReads(node, { parts: chunk.map((name) => ['get', name]), deadlineMs: leftMs });
        },
      });
    },
    seedMany: (items) =>
      pipelinesByNode<SeedItem, SeedResult>({
        items,
        nameOf: ({ name }) => name,
        ownerOf,
        unowned: writeFailure('store-down'),
        take(node, all, first) {
          const max = Math.min(roomOf(node), all.length - first);
          let size = 0;
          for (let bytes = 0; size < max; size += 1) {
            bytes += all[first + size]?.value.byteLength ?? 0;
            if (bytes > MAX_PIPELINE_BYTES) break;
          }
          return size;
        },
        send: (node, chunk) => {
          const parts = chunk.map(
            ({ name, value, ttlMs }) => ['set', name, value, 'PX', wholeMs(ttlMs), 'NX'] as const,
          );
          const bytes = chunk.reduce((sum, { value }) => sum + value.byteLength, 0);
          return sendWrites(node, { parts, bytes });
        },
      }),
  };
}

interface PipelinesByNodeOptions<Item, Result> {
  readonly items: readonly Item[];
  readonly nameOf: (item: Item) => string;
  readonly ownerOf: (name: string) => RedisNode | undefined;
  /** The result of items whose name has no owner. */
  readonly unowned: Result;
  /** The number of items, from `first` on, that go into the next pipeline; one goes in any case. */
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
  const groups = Map.groupBy(items.entries(), ([, item]) => ownerOf(nameOf(item)));
  const drain = async (node: RedisNode, group: readonly (readonly [position: number, item: Item])[]) => {
    const grouped = group.map(([, item]) => item);
    for (let first = 0; first < group.length; ) {
      const end = first + Math.max(1, take(node, grouped, first));
      const replies = await sendChunk(node, grouped.slice(first, end));
      for (const [index, [position]] of group.slice(first, end).entries())
        results[position] = replies[index] ?? unowned;
      first = end;
    }
  };
  await Promise.all([...groups].map(([node, group]) => node && drain(node, group)));
  return results;
}

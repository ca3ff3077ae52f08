import type { SeedItem, SeedResult, StoreEvent, StoreRead } from '../../cache/store.ts';
import type { Clock } from '../../runtime.ts';
import { ABSENT, NOT_A_VALUE, READ_FAULTS, storeFaultOf, wholeMs } from './commands.ts';
import { classifyError } from './errors.ts';
import type { RedisNode } from './node.ts';
import { DirectCommand, type FailureCause, failureOf, type NodeRequest, type RequestKind, send } from './send.ts';

/** Many commands for one node as one request: they leave in one write, and each reply succeeds or fails alone. */
interface Pipeline extends NodeRequest {
  readonly parts: readonly (readonly [name: string, ...args: (string | number | Buffer)[]])[];
  readonly commands: number;
}

type Reply = readonly [error: Error | null, value: unknown];

interface PipelineKind<Result> extends Pick<RequestKind<Pipeline, readonly Reply[], readonly Result[]>, 'expire'> {
  readonly type: 'read' | 'write';
  readonly admit: RequestKind<Pipeline, unknown, unknown>['admit'];
  readonly resultOf: (reply: Reply, node: RedisNode) => Result;
  /** The result of each command when the whole pipeline failed. */
  readonly failed: (cause: FailureCause) => Result;
  readonly isFailure: (result: Result) => boolean;
}

/** Refused when single commands have left no room. Redirects are not followed. */
function pipelineKind<Result>(kind: PipelineKind<Result>): RequestKind<Pipeline, readonly Reply[], readonly Result[]> {
  const { type, resultOf, failed, isFailure, expire } = kind;
  return {
    admit: (node, request) => (node.pipelineRoom() === 0 ? 'store-saturated' : kind.admit(node, request)),
    send: (redis, { parts }, { replied }) => {
      const replies: Reply[] = [];
      let missing = parts.length;
      const take = (index: number, reply: Reply): void => {
        replies[index] = reply;
        missing -= 1;
        if (missing === 0) replied(replies);
      };
      for (const [index, [name, ...args]] of parts.entries()) {
        const own = {
          replied: (value: unknown) => take(index, [null, value]),
          failed: (error: Error) => take(index, [error, undefined]),
        };
        redis.sendCommand(new DirectCommand(name, args, own));
      }
    },
    // Every command must show that the node is down: the failure of one concerns only that command.
    isDown: (replies) => replies.every(([error]) => error !== null && classifyError(error).kind === 'down'),
    answer: (replies, node) => replies.map((reply) => resultOf(reply, node)),
    fail: (cause, { parts }) => parts.map(() => failed(cause)),
    expire,
    event: ({ commands }, results, durationMs): StoreEvent => {
      return { kind: 'pipeline', type, size: commands, failed: results.filter(isFailure).length, durationMs };
    },
  };
}

const sendPipeline = <Result>(
  node: RedisNode,
  kind: RequestKind<Pipeline, readonly Reply[], readonly Result[]>,
  parts: Pipeline['parts'],
  limits: Pick<Pipeline, 'deadlineMs' | 'bytes'>,
): Promise<readonly Result[]> =>
  new Promise((resolve) => send(node, kind, { parts, commands: parts.length, ...limits }, resolve));

interface ReadManyOptions {
  readonly names: readonly string[];
  readonly deadlineMs: number;
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
      const parts = chunk.map((name) => ['get', name] as const);
      return sendPipeline(node, READS, parts, { deadlineMs: leftMs });
    },
  });
}

const READS = pipelineKind<StoreRead>({
  type: 'read',
  admit: (node) => node.admitRead(),
  resultOf: ([error, value], node) => {
    if (error !== null) return failureOf(node, error).kind === 'redirect' ? ABSENT : READ_FAULTS['store-down'];
    if (Buffer.isBuffer(value)) return { kind: 'value', value };
    if (value === null) return ABSENT;
    node.protocolError(NOT_A_VALUE);
    return READ_FAULTS['store-down'];
  },
  failed: (cause) => (cause === 'moved' ? ABSENT : READ_FAULTS[cause === 'refused' ? 'store-down' : cause]),
  isFailure: ({ kind }) => kind === 'fault',
  /** Each name keeps its own late reply; late errors are not examined. */
  expire: (node, { parts }, sent) => {
    void sent.then((replies) => {
      for (const [error, value] of replies) {
        if (error === null) node.observe({ kind: 'late', hit: Buffer.isBuffer(value) });
      }
    });
    const lateValue = async (index: number): Promise<Buffer | undefined> => {
      const value = (await sent)[index]?.[1];
      return Buffer.isBuffer(value) ? value : undefined;
    };
    return parts.map((_, index) => ({ kind: 'fault', fault: 'store-slow', late: lateValue(index) }));
  },
});

interface WriteManyOptions {
  readonly items: readonly SeedItem[];
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
      const parts = chunk.map(({ name, value, ttlMs }) => ['set', name, value, 'PX', wholeMs(ttlMs), 'NX'] as const);
      return sendPipeline(node, WRITES, parts, { bytes: chunk.reduce((sum, { value }) => sum + value.byteLength, 0) });
    },
  });
}

/** Admitted as a write of all its bytes, and without a deadline. */
const WRITES = pipelineKind<SeedResult>({
  type: 'write',
  admit: (node, { bytes = 0 }) => node.admitWrite(bytes),
  resultOf: ([error, value], node) => {
    if (error === null) return value === null ? KEPT : STORED;
    return failureOf(node, error).kind === 'down' ? DOWN : REFUSED;
  },
  failed: (cause) => ({ kind: 'dropped', fault: storeFaultOf(cause) }),
  isFailure: ({ kind }) => kind === 'dropped',
});

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
  const groups = Map.groupBy(items.entries(), ([, item]) => ownerOf(nameOf(item)));
  groups.delete(undefined);
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
  await Promise.all([...groups].map(([node, group]) => (node === undefined ? undefined : drain(node, group))));
  return results;
}

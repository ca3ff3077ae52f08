import { setTimeout as sleep } from 'node:timers/promises';
import { type RedisStack, until } from '../../../loadtest/stack/redis.ts';
import { percentile } from '../samples.ts';
import { type Connections, type MostConnections, type NodeConnections, watchConnections } from './shard-connections.ts';
import type { ReaderTask, ShardReads } from './shard-reader.ts';
import { type ShardReaders, startShardReaders } from './shard-readers.ts';

/** One run with the stall and one without, right after each other. */
export interface Pair {
  readonly othersP95Ratio: number;
  /** Reads of the other shards that were given up at their deadline or settled after it. */
  readonly othersOverdue: { readonly stalled: number; readonly calm: number };
  readonly stalledShard: ShardReads;
  /** With the stall, all shards together. */
  readonly allP95Ms: number;
  /** With the stall, of each node. The first one is stalled. */
  readonly connections: readonly NodeRun[];
  /** From the beginning of the stall to the end of the first connection that stood then. */
  readonly firstClosedMs: number;
}

export interface NodeRun extends NodeConnections, MostConnections {}

export const STALL_MS = 6000;
const CALM_MS = 3000;
const SETTLE_MS = 1500;

interface Run {
  readonly shards: readonly ShardReads[];
  readonly connections: readonly NodeRun[];
  readonly firstClosedMs: number;
}

/** Pairs in turn, every second one in the other order: what drifts falls on both alike. */
export async function measurePairs(
  stack: RedisStack,
  task: Omit<ReaderTask, 'seed'>,
  processes: number,
  count: number,
): Promise<readonly Pair[]> {
  const readers = await startShardReaders(task, processes);
  const connections = await watchConnections(stack.nodes);
  const pairs: Pair[] = [];
  try {
    await recovered(readers);
    for (let at = 0; at < count; at += 1) {
      const order = at % 2 === 0 ? [false, true] : [true, false];
      const runs = new Map<boolean, Run>();
      for (const stalled of order) runs.set(stalled, await run(stack, readers, connections, stalled));
      const [calm, stalled] = [runs.get(false), runs.get(true)];
      if (calm !== undefined && stalled !== undefined) pairs.push(pairOf(calm, stalled));
    }
  } finally {
    connections.stop();
    await readers.stop();
  }
  return pairs;
}

async function run(
  { nodes }: RedisStack,
  readers: ShardReaders,
  connections: Connections,
  stalled: boolean,
): Promise<Run> {
  const before = await connections.counts();
  connections.most();
  await readers.begin();
  const firstClosedMs = await connections.follow();
  if (stalled) await nodes[0]?.pause();
  await sleep(stalled ? STALL_MS : CALM_MS);
  const shards = await readers.end();
  const closed = { firstClosedMs: firstClosedMs() };
  nodes[0]?.resume();
  if (stalled) await sleep(SETTLE_MS);
  await recovered(readers);
  const most = connections.most();
  const counts = await connections.counts();
  return {
    shards,
    ...closed,
    connections: counts.map(({ opened, refreshes }, at) => ({
      opened: opened - (before[at]?.opened ?? 0),
      refreshes: refreshes - (before[at]?.refreshes ?? 0),
      established: most[at]?.established ?? Number.NaN,
      held: most[at]?.held ?? Number.NaN,
    })),
  };
}

const LOOK_MS = 200;

async function recovered(readers: ShardReaders): Promise<void> {
  await until('all shards to be read again', async () => {
    await readers.begin();
    await sleep(LOOK_MS);
    return (await readers.end()).every(({ values, refused }) => values > 0 && refused === 0);
  });
}

function pairOf(calm: Run, stalled: Run): Pair {
  const others = ({ shards }: Run): readonly ShardReads[] => shards.slice(1);
  const p95 = (reads: readonly ShardReads[]): number =>
    percentile(
      reads.flatMap(({ durationsMs }) => durationsMs),
      0.95,
    );
  const overdue = (run: Run): number => others(run).reduce((sum, reads) => sum + reads.slow + reads.overdue, 0);
  const [stalledShard] = stalled.shards;
  if (stalledShard === undefined) throw new Error('a cluster without shards');
  return {
    othersP95Ratio: p95(others(stalled)) / p95(others(calm)),
    othersOverdue: { stalled: overdue(stalled), calm: overdue(calm) },
    stalledShard,
    allP95Ms: p95(stalled.shards),
    connections: stalled.connections,
    firstClosedMs: stalled.firstClosedMs,
  };
}

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster } from 'ioredis';
import { type RedisStack, startCluster, until } from '../../../loadtest/stack/redis.ts';
import { slotOf } from '../../../src/stores/redis/cluster.ts';
import { percentile } from '../report.ts';
import { type Figure, type FigureResult, measured } from './figure.ts';
import {
  type Connections,
  type MostConnections,
  type NodeConnections,
  type ReaderTask,
  type ShardReaders,
  type ShardReads,
  SOCKET_TIMEOUT_MS,
  startShardReaders,
  watchConnections,
} from './shard-load.ts';

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

const SHARDS = 3;
const PROCESSES = 3;
const READS_PER_SECOND = 300;
const NAMES_PER_SHARD = 500;
const VALUE_BYTES = 2048;
const PAIRS = 5;
/** Its client is there to be compared with: what it does shows at once. */
const CLOSING_PAIRS = 1;

export const STALL_MS = 6000;
const CALM_MS = 3000;
const SETTLE_MS = 1500;

/**
 * One shard of three stops answering while its readers go on. The store's adapter is driven by itself, without HTTP: the
 * other shards' reads take a fraction of a millisecond, and anything around them would hide what the stall does to them.
 */
export const STALLED_SHARD: Figure = {
  name: 'stalled-shard',
  summary: `one of ${SHARDS} shards stops for ${STALL_MS / 1000} s under ${PROCESSES} × ${READS_PER_SECOND} reads a second, ${PAIRS} alternated runs`,
  run: async ({ checkout }) => {
    const stack = await startCluster({ flavour: 'redis', masters: SHARDS });
    try {
      const names = await fill(stack);
      const nodes = stack.nodes.map(({ host, port }) => ({ host, port }));
      const pairs = async (client: ReaderTask['client'], count: number): Promise<readonly Pair[]> => {
        const task = { client, checkout, nodes, names, ratePerSecond: READS_PER_SECOND };
        return measurePairs(stack, task, PROCESSES, count);
      };
      const own = await pairs('store', PAIRS);
      const closing = await pairs('closing', CLOSING_PAIRS);
      return resultOf(own, closing);
    } finally {
      await stack.stop();
    }
  },
};

/** @returns names by shard, in the order of the nodes, each with a value. */
async function fill({ nodes }: RedisStack): Promise<readonly (readonly string[])[]> {
  const cluster = new Cluster(nodes.map(({ host, port }) => ({ host, port })));
  const names = nodes.map((): string[] => []);
  try {
    while (names.some((own) => own.length < NAMES_PER_SHARD)) {
      const name = `sc1:goods:{${randomBytes(16).toString('base64url')}}`;
      // startCluster deals the slots out evenly, in the order of its nodes.
      const own = names[Math.floor((slotOf(name) * nodes.length) / 16_384)];
      if (own === undefined || own.length >= NAMES_PER_SHARD) continue;
      await cluster.set(name, randomBytes(VALUE_BYTES));
      own.push(name);
    }
  } finally {
    cluster.disconnect();
  }
  return names;
}

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

export function resultOf(own: readonly Pair[], closing: readonly Pair[]): FigureResult {
  const sum = (of: (pair: Pair) => number): number => own.reduce((total, pair) => total + of(pair), 0);
  const late = sum(({ othersOverdue }) => othersOverdue.stalled);
  const lateCalm = sum(({ othersOverdue }) => othersOverdue.calm);
  const firstClosedMs = Math.min(...own.map((pair) => pair.firstClosedMs));
  const mostAtOnce = Math.max(...own.map((pair) => most(pair, 'established')));
  const median = (pairs: readonly Pair[], of: (pair: Pair) => number): number => percentile(pairs.map(of), 0.5);
  const timesOwn = (of: (pair: Pair) => number): number => median(closing, of) / median(own, of);
  const connectionRatio = timesOwn((pair) => most(pair, 'opened'));
  const latencyRatio = timesOwn(({ allP95Ms }) => allP95Ms);
  const othersRatio = median(own, ({ othersP95Ratio }) => othersP95Ratio);
  const everyPairReads = own.length > 0 && own.every(({ othersP95Ratio }) => !Number.isNaN(othersP95Ratio));
  // Reads of the stalled shard that waited in vain: without them the stall did not happen.
  const felt = own.every(({ stalledShard }) => stalledShard.slow + stalledShard.refused > 0);
  return {
    table: [
      ...own.map((pair, at) => rowOf(`the store, run ${at + 1}`, pair)),
      ...closing.map((pair) => rowOf('one that closes', pair)),
    ],
    verdicts: [
      {
        says: `p95 of the other shards, with the stall over without, median of ${own.length}: ${othersRatio.toFixed(2)}, at most 1.50`,
        holds: felt ? measured(othersRatio, (ratio) => ratio <= 1.5) : 'not measured',
      },
      {
        says: `their reads past the deadline: ${late} with the stall, ${lateCalm} without`,
        holds: late > 0 ? false : felt && everyPairReads ? true : 'not measured',
      },
      {
        says: `connections to any node at once: ${mostAtOnce}, at most ${PROCESSES} processes and a refresh of each`,
        holds: mostAtOnce > 0 ? measured(mostAtOnce, (most) => most <= 2 * PROCESSES) : 'not measured',
      },
      {
        says: `abandoned reads close nothing: the first connection ended after ${seconds(firstClosedMs)}, by the socket timeout of ${seconds(SOCKET_TIMEOUT_MS)}`,
        // Infinite while all connections stand; without any there is nothing to close.
        holds:
          own.length === 0 || Number.isNaN(firstClosedMs) ? 'not measured' : firstClosedMs >= 0.9 * SOCKET_TIMEOUT_MS,
      },
      {
        says: `a client whose timeout closes: ${connectionRatio.toFixed(0)} × the connections opened, ${latencyRatio.toFixed(0)} × the p95 of all reads`,
        holds: Number.isNaN(connectionRatio + latencyRatio) ? 'not measured' : connectionRatio > 1 && latencyRatio > 1,
      },
    ],
  };
}

function rowOf(name: string, pair: Pair): FigureResult['table'][number] {
  return {
    client: name,
    'others p95 with ÷ without': pair.othersP95Ratio.toFixed(2),
    'others past deadline with/without': `${pair.othersOverdue.stalled}/${pair.othersOverdue.calm}`,
    'its own reads waited/refused': `${pair.stalledShard.slow}/${pair.stalledShard.refused}`,
    'all reads p95 ms': pair.allP95Ms.toFixed(1),
    'most connections at once': most(pair, 'established'),
    'held by the node': most(pair, 'held'),
    opened: most(pair, 'opened'),
    refreshes: refreshesOf(pair),
    'first closed after': seconds(pair.firstClosedMs),
  };
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** Of the node that has most. */
const most = ({ connections }: Pair, what: keyof NodeRun): number => Math.max(...connections.map((node) => node[what]));

/** A refresh that waits in vain for one node goes on to the next, so all nodes together have seen them all. */
const refreshesOf = ({ connections }: Pair): number => connections.reduce((sum, { refreshes }) => sum + refreshes, 0);

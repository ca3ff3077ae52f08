import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import slotOf from 'cluster-key-slot';
import { Cluster } from 'ioredis';
import { type RedisStack, startCluster } from '../../../loadtest/stack/redis.ts';
import { until } from '../../until.ts';
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

/** One run with the stall and one without, directly after each other. */
export interface Pair {
  readonly othersP95Ratio: number;
  /** Reads of the other shards that were abandoned at their deadline or settled after it. */
  readonly othersOverdue: { readonly stalled: number; readonly calm: number };
  readonly stalledShard: ShardReads;
  /** p95 of all shards with the stall. */
  readonly allP95Ms: number;
  /** Connections of each node in the run with the stall. The first node is the stalled one. */
  readonly connections: readonly NodeRun[];
  /** From the start of the stall until the first connection of that moment was closed. */
  readonly firstClosedMs: number;
}

interface NodeRun extends NodeConnections, MostConnections {}

const SHARDS = 3;
const PROCESSES = 3;
const READS_PER_SECOND = 300;
const NAMES_PER_SHARD = 500;
const VALUE_BYTES = 2048;
const PAIRS = 5;
/** The closing client is only a comparison; one pair shows its behaviour. */
const CLOSING_PAIRS = 1;

const STALL_MS = 6000;
const CALM_MS = 3000;
const SETTLE_MS = 1500;

/**
 * One of three shards stops answering while clients keep reading. The store adapter runs without HTTP: reads of the other
 * shards take a fraction of a millisecond, and any further work would hide the effect of the stall on them.
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

/** Stores a value under each name. @returns the names by shard, in the order of the nodes. */
async function fill({ nodes }: RedisStack): Promise<readonly (readonly string[])[]> {
  const cluster = new Cluster(nodes.map(({ host, port }) => ({ host, port })));
  const names = nodes.map((): string[] => []);
  try {
    while (names.some((own) => own.length < NAMES_PER_SHARD)) {
      const name = `sc1:goods:{${randomBytes(16).toString('base64url')}}`;
      // startCluster distributes the slots evenly, in the order of its nodes.
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

/** Runs the pairs, every second one in reverse order, so that drift affects both kinds of run equally. */
async function measurePairs(
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
  connections.maximum();
  await readers.begin();
  const firstClosedMs = await connections.follow();
  if (stalled) await nodes[0]?.pause();
  await sleep(stalled ? STALL_MS : CALM_MS);
  const shards = await readers.end();
  const closed = { firstClosedMs: firstClosedMs() };
  nodes[0]?.resume();
  if (stalled) await sleep(SETTLE_MS);
  await recovered(readers);
  const maximum = connections.maximum();
  const counts = await connections.counts();
  return {
    shards,
    ...closed,
    connections: counts.map(({ opened, refreshes }, at) => ({
      opened: opened - (before[at]?.opened ?? 0),
      refreshes: refreshes - (before[at]?.refreshes ?? 0),
      established: maximum[at]?.established ?? Number.NaN,
      held: maximum[at]?.held ?? Number.NaN,
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
  const mostAtOnce = Math.max(...own.map((pair) => maximumOf(pair, 'established')));
  const median = (pairs: readonly Pair[], of: (pair: Pair) => number): number => percentile(pairs.map(of), 0.5);
  const timesOwn = (of: (pair: Pair) => number): number => median(closing, of) / median(own, of);
  const connectionRatio = timesOwn((pair) => maximumOf(pair, 'opened'));
  const latencyRatio = timesOwn(({ allP95Ms }) => allP95Ms);
  const othersRatio = median(own, ({ othersP95Ratio }) => othersP95Ratio);
  const everyPairReads = own.length > 0 && own.every(({ othersP95Ratio }) => !Number.isNaN(othersP95Ratio));
  // Without failed reads of the stalled shard the stall did not happen.
  const hasStalled = own.every(({ stalledShard }) => stalledShard.slow + stalledShard.refused > 0);
  return {
    table: [
      ...own.map((pair, at) => rowOf(`the store, run ${at + 1}`, pair)),
      ...closing.map((pair) => rowOf('one that closes', pair)),
    ],
    verdicts: [
      {
        says: `p95 of the other shards, with the stall over without, median of ${own.length}: ${othersRatio.toFixed(2)}, at most 1.50`,
        holds: hasStalled ? measured(othersRatio, (ratio) => ratio <= 1.5) : 'not measured',
      },
      {
        says: `their reads past the deadline: ${late} with the stall, ${lateCalm} without`,
        holds: late > 0 ? false : hasStalled && everyPairReads ? true : 'not measured',
      },
      {
        says: `connections to any node at once: ${mostAtOnce}, at most ${PROCESSES} processes and a refresh of each`,
        holds: mostAtOnce > 0 ? measured(mostAtOnce, (value) => value <= 2 * PROCESSES) : 'not measured',
      },
      {
        says: `abandoned reads close nothing: the first connection ended after ${seconds(firstClosedMs)}, by the socket timeout of ${seconds(SOCKET_TIMEOUT_MS)}`,
        // Infinity while all connections are open, NaN without connections.
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
    'most connections at once': maximumOf(pair, 'established'),
    'held by the node': maximumOf(pair, 'held'),
    opened: maximumOf(pair, 'opened'),
    refreshes: refreshesOf(pair),
    'first closed after': seconds(pair.firstClosedMs),
  };
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** Maximum over the nodes. */
const maximumOf = ({ connections }: Pair, what: keyof NodeRun): number =>
  Math.max(...connections.map((node) => node[what]));

/** A refresh that gets no answer from one node asks the next one, so the sum over all nodes counts every refresh. */
const refreshesOf = ({ connections }: Pair): number => connections.reduce((sum, { refreshes }) => sum + refreshes, 0);

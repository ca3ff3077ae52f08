import { randomBytes } from 'node:crypto';
import { Cluster } from 'ioredis';
import { type RedisStack, startCluster } from '../../../loadtest/stack/redis.ts';
import { slotOf } from '../../../src/stores/redis/cluster.ts';
import { percentile } from '../samples.ts';
import { type Figure, type FigureResult, measured } from './figure.ts';
import { SOCKET_TIMEOUT_MS } from './shard-clients.ts';
import type { ReaderTask } from './shard-reader.ts';
import { measurePairs, type NodeRun, type Pair, STALL_MS } from './stalled-pairs.ts';

const SHARDS = 3;
const PROCESSES = 3;
const READS_PER_SECOND = 300;
const NAMES_PER_SHARD = 500;
const VALUE_BYTES = 2048;
const PAIRS = 5;
/** Its client is there to be compared with: what it does shows at once. */
const CLOSING_PAIRS = 1;

/**
 * One shard of three stops answering while its readers go on. The store's adapter is driven by itself, without HTTP: the
 * other shards' reads take a fraction of a millisecond, and anything around them would hide what the stall does to them.
 */
export const STALLED_SHARD: Figure = {
  name: 'stalled-shard',
  says: `one of ${SHARDS} shards stops for ${STALL_MS / 1000} s under ${PROCESSES} × ${READS_PER_SECOND} reads a second, ${PAIRS} alternated runs`,
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

import { bytesText, countText } from '../../../src/report/format.ts';
import { benchmark } from '../kit/benchmark.ts';
import type { Claim } from '../kit/finding.ts';
import { defineExperiment, type Lab, type LabStore } from '../kit/lab.ts';
import { peakClientBytes } from '../kit/meters.ts';
import { PUBLISHED_MIX } from '../kit/mix.ts';
import { alternately } from '../kit/rounds.ts';
import { chartOf, type TableParts, tableOf } from '../kit/table.ts';
import {
  allClosed,
  BENCHMARK_KEYS,
  CORES,
  countedBenchmark,
  type DrivenRow,
  type LoadRow,
  MOST_CLIENTS,
  mixRow,
  SMALL_BYTES,
  STORE_TIME,
  startLadder,
  type WideStore,
} from './many-clients.ts';

/** Any store can do it on any core, so that only the number of connections differs. */
const ONE_RATE = 10_000;
const ROUNDS = 2;
const [RATE_SECONDS, FULL_SPEED_SECONDS, POOL_SECONDS, THREADS_SECONDS] = [2, 1.5, 1, 1.5];
const MEMORY_INTERVAL_MS = 250;
const PILOT_REQUESTS = 20_000;
/** With fewer requests of each, some connections would hardly be used. */
const LEAST_OF_EACH = 5;

/** Connections of one process; the largest pool is the published one. */
const POOLS = [1, 3, 10, 30, 100];
/** Commands that a process has under way, about: the same number on each connection of its pool. */
const UNDER_WAY = 100;

/** Published are 7–10, and 50. */
const THREADS = [1, 2, 4, 8, 50];
const PUBLISHED_THREADS = 7;
const THREAD_CLIENTS = 200;
/** With fewer, one thread fills a store of one thread, and all rows are the same. */
const THREAD_PIPELINE = 16;
/** With --threads redis-benchmark looks four times a second whether it is done: a short pilot would measure that. */
const THREADS_PILOT_REQUESTS = 200_000;

export type ConnectionsMeasured = Awaited<ReturnType<typeof measure>>;

const TIMES: TableParts<LoadRow>['columns'] = [
  ['answered', 'per-second', (row) => row.perSecond],
  ['p50', 'ms', (row) => row.p50Ms],
  ['p99', 'ms', (row) => row.p99Ms],
];
const DRIVEN: TableParts<DrivenRow>['columns'] = [
  ...TIMES,
  ['errors', 'count', (row) => row.errors],
  ...CORES,
  ...STORE_TIME,
];

export const connections = defineExperiment({
  varies: 'connections to one store at one rate and at full speed, the pool of one process, client threads',
  parts: ['redis'],
  title: 'How many connections does a store bear?',
  published:
    'the shard of one site fell at 2,000 connections where 60,000–70,000 were required; another keeps a pool of 100 with a socket timeout of 5 s and a connect timeout of 2 s; 7–10 client threads made 2 million commands a second, 50 threads fewer and a latency of 1 s',
  sentence:
    'Connections cost processor time and memory of the store: give each process the smallest pool that reaches nearly its best rate, and no more client threads than cores.',
  measure,
  tables: ({ oneRate, fullSpeed, pools, threads }) => [
    tableOf({
      title: `Connections to one store, at ${countText(ONE_RATE)} commands a second in all`,
      rows: oneRate,
      name: (row) => `${countText(row.connections)} connections`,
      columns: [...DRIVEN, ['store memory per connection', 'bytes', (row) => row.bytesEach]],
      published: (row) => (row.connections === 2000 ? 'the shard fell; 60,000–70,000 were required' : undefined),
    }),
    tableOf({
      title: 'Connections to one store, at full speed',
      rows: fullSpeed,
      name: (row) => `${countText(row.clients)} connections`,
      columns: [...TIMES, ...CORES, ...STORE_TIME],
    }),
    tableOf({
      title: `The pool of one process, with about ${UNDER_WAY} commands under way in all`,
      rows: pools,
      name: ({ connections: size, pipeline }) => `pool of ${size} × ${pipeline}`,
      columns: [...DRIVEN, ['generator time per command', 'us', (row) => row.generatorUs]],
      published: (row) =>
        row.connections === POOLS.at(-1) ? 'pool of 100, socket timeout 5 s, connect timeout 2 s' : undefined,
    }),
    tableOf({
      title: `Threads of one client with ${THREAD_CLIENTS} connections and ${THREAD_PIPELINE} commands at once on each`,
      rows: threads,
      name: (row) => (row.threads === 1 ? '1 thread' : `${row.threads} threads`),
      columns: [...TIMES, ...CORES],
      published: (row) => ({ 8: '7–10 threads: 2 million/s', 50: 'fewer than 2 million/s, 1 s' })[row.threads],
    }),
  ],
  charts: ({ oneRate }) => [
    chartOf({
      title: `Latency at ${countText(ONE_RATE)} commands a second in all`,
      across: 'connections to one store',
      points: oneRate,
      pointName: (row) => countText(row.connections),
      unit: 'ms',
      shape: 'lines',
      isLog: true,
      series: [
        { name: 'p99', of: (row) => row.p99Ms },
        { name: 'p50', of: (row) => row.p50Ms },
      ],
    }),
  ],
  claims: (measured) => [...numberClaims(measured), ...clientClaims(measured)],
  notes: ({ oneRate, cores, whyNoMore }) => {
    const bytesEach = Math.max(...oneRate.map((row) => row.bytesEach));
    const share = 2 ** 28;
    const { leastBytes, mostBytes, keys } = PUBLISHED_MIX;
    return [
      whyNoMore,
      `At one rate and in the pool our own driver sends the published mix (one write to four reads, ${leastBytes}–${mostBytes} B, ${countText(keys)} keys) at a fixed rate, whatever is answered. A row includes the driver's own processor time: where the driver was full, the latency is its own.`,
      `At full speed redis-benchmark sends GET for values of the same sizes. It opens at most ${countText(MOST_CLIENTS)} connections. All of them wait at once, so p50 cannot be below their number over the rate: compare the rates.`,
      'Store time is processor time of the store for one command. It does not depend on the speed of the generator. It includes idle connections, because the store checks each connection once a second.',
      `The limit on connection memory was removed. With maxmemory-clients at ${bytesText(share)} (25 % of 1 GiB, as deploy/redis has it) and ${bytesText(bytesEach)} for each, the store would begin to close connections at ${countText(Math.floor(share / bytesEach))} busy ones.`,
      `The connections of a pool send batches of the same size and wait for a whole batch, with about ${UNDER_WAY} commands under way in all: ${POOLS.map((size) => `${size * pipelineOf(size)} at ${size}`).join(', ')}.`,
      `Each row is the better of two runs that took turns with the others (at one rate by the mean latency, else by the rate), because other load on the machine can only slow a run down. Client threads have one run, and so have ${countText(MOST_CLIENTS)} connections at full speed, which take longest to open.`,
      `Client threads: GET of ${SMALL_BYTES} B, ${THREAD_CLIENTS} connections, ${THREAD_PIPELINE} commands at once. They share ${cores === 1 ? 'one core' : `${cores} cores`}; more threads than cores cannot help${cores < PUBLISHED_THREADS ? ', so the published gain of 7–10 threads cannot show on so few cores' : ''}. One store has one thread for commands, so the published 2 million need several stores. The tool checks four times a second whether it is done, so these rates are uncertain by a tenth.`,
    ];
  },
});

/** A shard has fallen when a larger share of its commands fails, or when it answers a smaller share. */
const [FALLEN_ERRORS, FALLEN_ANSWERS] = [0.01, 0.9];

/** The number alone fells a store: `yes`. Nothing fell, but many connections cost more than few: `partly`. */
function numberClaims({ oneRate, fullSpeed }: ConnectionsMeasured): readonly Claim[] {
  const fallen = oneRate.filter((row) => row.errorShare > FALLEN_ERRORS || row.perSecond < FALLEN_ANSWERS * ONE_RATE);
  const [first] = fallen;
  // A command that is not sent in time, or waits for a core of another program, is not the store's failure.
  const isByStore =
    first !== undefined && (first.errorShare > FALLEN_ERRORS || ['store', 'both'].includes(first.limit));
  const [few, many] = [oneRate[0], oneRate.at(-1)];
  const [slowFew, slowMany] = [fullSpeed[0], fullSpeed.at(-1)];
  // Costs are compared only where nothing fell: a fallen store answers the question by itself.
  const isStanding = first === undefined && few !== undefined && many !== undefined;
  return [
    {
      text: `numbers of connections that fell: over ${FALLEN_ERRORS * 100} % failed, or under ${FALLEN_ANSWERS * 100} % of the rate was answered`,
      figure: fallen.length,
      unit: 'count',
      atLeast: 1,
    },
    {
      text: 'of these, the first fell with the store full or with failures (1), and not for lack of a generator or a core (0)',
      figure: isByStore ? 1 : 0,
      unit: 'count',
      atLeast: 1,
    },
    {
      text: 'store time per command, most connections ÷ fewest, at one rate; not seen when one fell',
      figure: isStanding ? many.storeUs / few.storeUs : undefined,
      unit: 'times',
      // A smaller difference is within two runs of the same row on a busy machine; so it is below.
      atLeast: 1.5,
    },
    {
      text: 'p99, most connections ÷ fewest, at one rate; not seen when one fell or the generator was full',
      figure: isStanding && !['generator', 'both'].includes(many.limit) ? many.p99Ms / few.p99Ms : undefined,
      unit: 'times',
      atLeast: 3,
    },
    {
      text: 'rate at full speed, most connections ÷ fewest; not seen when one fell or only the generator was full',
      figure:
        isStanding && slowFew && slowMany?.limit !== 'generator'
          ? slowMany && slowMany.perSecond / slowFew.perSecond
          : undefined,
      unit: 'times',
      atMost: 0.67,
    },
  ];
}

const ENOUGH = 0.9;

/** Figures of one process: the size of its pool and its number of threads. They decide nothing. */
function clientClaims({ pools, threads }: ConnectionsMeasured): readonly Claim[] {
  const best = Math.max(...pools.map((row) => row.perSecond));
  const shareOf = (row: (typeof pools)[number] | undefined) => row && row.perSecond / best;
  const enough = pools.find((row) => (shareOf(row) ?? 0) >= ENOUGH);
  const bestThreads = threads.toSorted((one, other) => other.perSecond - one.perSecond)[0];
  const mostThreads = threads.at(-1);
  return [
    { text: `smallest pool with ${ENOUGH * 100} % of the best rate`, figure: enough?.connections, unit: 'count' },
    { text: 'its share of the best rate', figure: shareOf(enough), unit: 'share' },
    { text: 'share of the best rate of the largest pool', figure: shareOf(pools.at(-1)), unit: 'share' },
    { text: 'client threads with the best rate', figure: bestThreads?.threads, unit: 'count' },
    {
      text: 'rate of the most threads ÷ best',
      figure: bestThreads && mostThreads && mostThreads.perSecond / bestThreads.perSecond,
      unit: 'times',
    },
  ];
}

async function measure(lab: Lab) {
  const { wide, rungs, whyNoMore } = await startLadder(lab);
  return {
    // From few connections to many, as the next ones.
    oneRate: await atOneRate(lab, wide, rungs),
    fullSpeed: await atFullSpeed(lab, wide, rungs),
    pools: await poolRows(lab, wide),
    threads: await clientThreads(lab, wide.store),
    cores: lab.cores.generatorCount,
    whyNoMore,
  };
}

function atOneRate(lab: Lab, wide: WideStore, rungs: readonly number[]) {
  return alternately(
    rungs,
    ROUNDS,
    async (clients) => {
      lab.say(`${countText(clients)} connections, ${countText(ONE_RATE)} commands/s in all`);
      await allClosed(lab, wide.store);
      const load = { connections: clients, seconds: lab.seconds(RATE_SECONDS), ratePerSecond: ONE_RATE };
      // Memory of the store: query buffers, output buffers and the clients themselves.
      const { result, peak = 0 } = await peakClientBytes(wide.store, MEMORY_INTERVAL_MS, () => mixRow(lab, wide, load));
      return { ...result, connections: clients, bytesEach: peak / clients };
    },
    ({ meanMs }) => meanMs,
  );
}

async function atFullSpeed(lab: Lab, wide: WideStore, rungs: readonly number[]) {
  const once = countedBenchmark(lab, wide);
  const possible = rungs.filter((clients) => clients <= MOST_CLIENTS);
  let last = await once(Math.min(...possible), PILOT_REQUESTS);
  return alternately(
    possible,
    ROUNDS,
    async (clients, before: readonly (typeof last)[]) => {
      // Opening ten thousand takes longer than all else: the first round is enough.
      const known = before.at(-1);
      if (known !== undefined && clients >= MOST_CLIENTS) return known;
      lab.say(`${countText(clients)} connections at full speed`);
      const expected = (known ?? last).perSecond * lab.seconds(FULL_SPEED_SECONDS);
      last = await once(clients, Math.max(clients * LEAST_OF_EACH, Math.round(expected)));
      return last;
    },
    // The faster of two: other load on the machine only slows a run down.
    ({ perSecond }) => -perSecond,
  );
}

function poolRows(lab: Lab, wide: WideStore) {
  return alternately(
    POOLS,
    ROUNDS,
    async (size) => {
      const pipeline = pipelineOf(size);
      lab.say(`a pool of ${size}, ${size * pipeline} under way`);
      const row = await mixRow(lab, wide, { connections: size, seconds: lab.seconds(POOL_SECONDS), pipeline });
      return { ...row, connections: size, pipeline };
    },
    ({ perSecond }) => -perSecond,
  );
}

function pipelineOf(size: number): number {
  return Math.round(UNDER_WAY / size);
}

function clientThreads(lab: Lab, store: LabStore) {
  return Array.fromAsync(THREADS, async (threads) => {
    lab.say(`client threads: ${threads}`);
    const run = await benchmark(lab, {
      store,
      threads,
      clients: THREAD_CLIENTS,
      pipeline: THREAD_PIPELINE,
      command: ['GET', 'small:__rand_int__'],
      keySpace: BENCHMARK_KEYS,
      seconds: lab.seconds(THREADS_SECONDS),
      pilot: THREADS_PILOT_REQUESTS,
    });
    return { ...run, threads };
  });
}

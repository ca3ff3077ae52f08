import { bytesText, countText } from '../../../src/report/format.ts';
import type { Chart } from '../kit/finding.ts';
import type { Experiment, Lab } from '../kit/lab.ts';
import { memtierFill, PUBLISHED_MIX } from '../kit/mix.ts';
import { fillFirst } from '../kit/table.ts';
import { type AtOneRateRow, atOneRate, ONE_RATE } from './connections/at-one-rate.ts';
import { atFullSpeed } from './connections/full-speed.ts';
import { connectionsLesson } from './connections/lesson.ts';
import { POOLS, type PoolRow, pipelineOf, pools, UNDER_WAY } from './connections/pool.ts';
import { fullSpeedTable, poolTable, rateTable, threadsTable } from './connections/tables.ts';
import { clientThreads, THREAD_CLIENTS, THREAD_PIPELINE, type ThreadsRow } from './connections/threads.ts';
import { type Counted, MOST_CLIENTS } from './many-clients/counted-benchmark.ts';
import { roomHere, rungsOf } from './many-clients/room.ts';
import { BENCHMARK_FILL, SMALL_BYTES, SMALL_FILL, startWideStore } from './many-clients/wide-store.ts';

/** How many connections a store bears, and how many a process needs. */
export const connections: Experiment = {
  varies: 'connections to one store at one rate and at full speed, the pool of one process, client threads',
  parts: ['redis'],
  run: async (lab) => {
    const wide = await startWideStore(lab);
    const room = await roomHere(wide.store);
    const rungs = rungsOf(room.most);
    const oneRate = await atOneRate(lab, wide, rungs);
    const fullSpeed = await atFullSpeed(lab, wide, rungs);
    const { atRate, saturated } = await pools(lab, wide);
    const threads = await clientThreads(lab, wide.store);
    return {
      title: 'How many connections a store bears',
      published:
        'the shard of one site fell at 2,000 connections where 60,000–70,000 were required; another keeps a pool of 100 with a socket timeout of 5 s and a connect timeout of 2 s; 7–10 client threads made 2 million commands a second, 50 threads fewer and a latency of 1 s',
      tables: [
        ...fillFirst(memtierFill(PUBLISHED_MIX), [rateTable(oneRate)]),
        ...fillFirst(BENCHMARK_FILL, [fullSpeedTable(fullSpeed)]),
        poolTable(atRate, `at ${countText(ONE_RATE)} commands a second`),
        poolTable(saturated, `with about ${UNDER_WAY} commands under way in all`),
        ...fillFirst(SMALL_FILL, [threadsTable(threads)]),
      ],
      charts: chartsOf({ oneRate, fullSpeed, saturated, threads }),
      lesson: connectionsLesson({
        askedPerSecond: ONE_RATE,
        atOneRate: oneRate,
        fullSpeed,
        pools: saturated,
        threads,
        cores: lab.cores.generatorCount,
      }),
      notes: notesOf(lab, oneRate, room.why),
    };
  },
};

function chartsOf(all: {
  readonly oneRate: readonly AtOneRateRow[];
  readonly fullSpeed: readonly Counted[];
  readonly saturated: readonly PoolRow[];
  readonly threads: readonly ThreadsRow[];
}): Chart[] {
  const { oneRate, fullSpeed, saturated, threads } = all;
  const across = 'connections to one store';
  const places = oneRate.map((row) => countText(row.connections));
  return [
    {
      ...{ id: '', title: `Latency at ${countText(ONE_RATE)} commands a second in all`, across, places },
      ...{ unit: 'ms', shape: 'lines', isLog: true },
      series: [
        { name: 'p99', values: oneRate.map((row) => row.p99Ms) },
        { name: 'p50', values: oneRate.map((row) => row.p50Ms) },
      ],
    },
    {
      ...{ id: 'cost', title: 'Processor time of the store for one command', across, places },
      ...{ unit: 'us', shape: 'lines' },
      series: [
        { name: `at ${countText(ONE_RATE)}/s in all`, values: oneRate.map((row) => row.storeUs) },
        {
          name: 'GET at full speed',
          values: oneRate.map((row) => fullSpeed.find(({ clients }) => clients === row.connections)?.storeUs),
        },
      ],
    },
    {
      ...{
        id: 'pool',
        title: `One process with about ${UNDER_WAY} commands under way`,
        across: 'connections in its pool',
      },
      ...{ places: saturated.map((row) => String(row.connections)), unit: 'per-second', shape: 'lines' },
      series: [{ name: 'answered', values: saturated.map((row) => row.perSecond) }],
    },
    {
      ...{ id: 'threads', title: 'One process with several threads', across: 'threads of redis-benchmark' },
      ...{ places: threads.map((row) => String(row.threads)), unit: 'per-second', shape: 'lines' },
      series: [{ name: 'answered', values: threads.map((row) => row.perSecond) }],
    },
  ];
}

function notesOf(lab: Lab, oneRate: readonly AtOneRateRow[], whyNoMore: string): string[] {
  const bytesEach = Math.max(...oneRate.map((row) => row.bytesEach));
  const share = 2 ** 28;
  const { leastBytes, mostBytes, keys } = PUBLISHED_MIX;
  return [
    whyNoMore,
    `At one rate and in pools the load is the published mix (one write to four reads, ${leastBytes}–${mostBytes} B, ${countText(keys)} keys) by our own driver, which keeps to a rate whatever is answered; its command says how memtier_benchmark does the same (with more connections than commands a second it asks more: each has at least one a second). What the driver took for itself is in the figures of its row: where it was full, latency is its own.`,
    `At full speed the load is GET by redis-benchmark, on values of the same sizes. It watches at most ${countText(MOST_CLIENTS)} connections. With so many waiting at once, p50 can be no less than their number over the rate: look at the rate.`,
    'Store time is processor time of the store for one command. It does not depend on how much the generator can do; connections that are hardly used are part of it, since the store looks after each of them once a second.',
    `The bound on connection memory was taken off. With maxmemory-clients at ${bytesText(share)} (25 % of 1 GiB, as deploy/redis has it) and ${bytesText(bytesEach)} for each, the store would begin to cut them off at ${countText(Math.floor(share / bytesEach))} busy ones.`,
    `A pool has as many commands under way as all its connections alike can have of ${UNDER_WAY}: ${POOLS.map((size) => `${size * pipelineOf(size)} at ${size}`).join(', ')}.`,
    `Each row is the better of two runs that took turns with the others (at one rate by the mean latency, else by the rate), since whatever else runs only takes away; client threads have one run, and so have ${countText(MOST_CLIENTS)} connections at full speed, which take longest to open.`,
    'A pool sends the published number of commands in batches, and each connection waits for all of its batch: the fewer connections, the fewer system calls on both sides. Socket and connect timeouts are the subject of `timeouts`; nothing was slow enough for one here.',
    `Client threads: GET of ${SMALL_BYTES} B, ${THREAD_CLIENTS} connections, ${THREAD_PIPELINE} commands at once. They share ${lab.cores.generatorCount === 1 ? 'one core' : `${lab.cores.generatorCount} cores`}; more threads than cores cannot help, and one store has one thread for commands, so the published 2 million need several stores. The tool looks four times a second whether it is done, which makes these rates uncertain by a tenth.`,
  ];
}

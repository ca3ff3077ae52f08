import { join } from 'node:path';
import { disciplinesOf } from '../../../src/operations/doctor/collect/host.ts';
import { createRandom } from '../../random.ts';
import { limitersOf } from '../../sample/host.ts';
import { massImport } from '../kit/benchmark.ts';
import { runDriver } from '../kit/driven.ts';
import type { Limit } from '../kit/finding.ts';
import { defineExperiment, type Lab, type LabStore } from '../kit/lab.ts';
import { limitOf } from '../kit/meters.ts';
import { fillCommands, randomDigits } from '../kit/mix.ts';
import { type LabNamespace, namespacesProblem, startNamespace } from '../kit/namespace.ts';
import { alternately } from '../kit/rounds.ts';
import { chartOf, tableOf } from '../kit/table.ts';
import type { BurstPlan, BurstReads } from './limiter/reader.ts';

const RATE_BYTES = 50e6; // 400 mbit/s
const PAGES = { keys: 2000, leastBytes: 4096, mostBytes: 16_384 };
const MEAN_PAGE_BYTES = (PAGES.leastBytes + PAGES.mostBytes) / 2;
/** 25 bursts of 60 pages of 10 KB are 15 MB/s: 31 % of the rate. */
const LOAD = { clients: 8, burst: 60, burstsPerSecond: 25, keys: PAGES.keys, deadlineMs: 50 };
const MEAN_BURST_BYTES = LOAD.burst * MEAN_PAGE_BYTES;
/** The machine stalls for 100 ms now and then, and drops come by chance: the median of three runs is kept. */
const ROUNDS = 3;
const ROW_SECONDS = 2;
/** Beside the load: starting and ending the reader. */
const AROUND_SECONDS = 20;

/** One configuration of a limiter, and whether it is right for the load. */
interface Variant {
  readonly name: string;
  readonly kind: 'none' | 'tbf' | 'htb';
  readonly isRight: boolean;
  /** As the namespace's `shape` takes it. */
  readonly discipline?: readonly string[];
  readonly classes?: readonly (readonly string[])[];
}

/**
 * Ticks a second of the usual Debian and Ubuntu kernel. tc cannot be asked for it: it assumes 10⁹ where timers are fine,
 * and from that comes its burst of 1600 bytes where none is named.
 */
const TICKS_PER_SECOND = 250;
/** tc-tbf(8): a bucket must hold at least rate ÷ HZ, else more tokens come with a tick than fit. */
const LEAST_BURST_BYTES = RATE_BYTES / TICKS_PER_SECOND;
/** A burst that only just fits is held back when a second one follows. */
const RIGHT_BYTES = Math.ceil(Math.max(4 * LEAST_BURST_BYTES, MEAN_BURST_BYTES) / 1000) * 1000;
/** Just over one packet: tc's own choice for htb (rate ÷ 10⁹ + 1600), and common in examples for slow lines. */
const ONE_PACKET_BYTES = 1600;
/** Three packets. */
const FEW_PACKETS_BYTES = 4608;

const RATE = ['rate', `${(RATE_BYTES * 8) / 1e6}mbit`];

/** @param queueMs a time at this rate, which tc-tbf(8) calls latency. */
const tbf = (burst: number, queueMs: number): Pick<Variant, 'kind' | 'discipline'> => ({
  kind: 'tbf',
  discipline: ['tbf', ...RATE, 'burst', String(burst), 'latency', `${queueMs}ms`],
});
const htb = (...bursts: readonly (string | number)[]): Pick<Variant, 'kind' | 'discipline' | 'classes'> => ({
  kind: 'htb',
  discipline: ['htb', 'default', '10'],
  // The quantum only divides among classes; named, so that tc does not complain of its own choice.
  classes: [['parent', '1:', 'classid', '1:10', 'htb', ...RATE, ...bursts.map(String), 'quantum', '60000']],
});

export const VARIANTS: readonly Variant[] = [
  { name: 'no limiter', kind: 'none', isRight: true },
  { name: 'tbf, right', isRight: true, ...tbf(RIGHT_BYTES, 50) },
  { name: 'tbf, burst of 3 packets', isRight: false, ...tbf(FEW_PACKETS_BYTES, 50) },
  { name: 'tbf, burst of 3 packets, queue of 1 ms', isRight: false, ...tbf(FEW_PACKETS_BYTES, 1) },
  { name: 'tbf, burst of rate ÷ HZ, queue of 1 ms', isRight: false, ...tbf(LEAST_BURST_BYTES, 1) },
  { name: 'htb, right', isRight: true, ...htb('burst', RIGHT_BYTES, 'cburst', RIGHT_BYTES) },
  { name: 'htb, burst of 1 packet', isRight: false, ...htb('burst', ONE_PACKET_BYTES, 'cburst', RIGHT_BYTES) },
  { name: 'htb, cburst of 1 packet', isRight: false, ...htb('burst', RIGHT_BYTES, 'cburst', ONE_PACKET_BYTES) },
  { name: 'htb, no burst named', isRight: false, ...htb() },
];

export interface LimiterRow extends Pick<BurstReads, 'p50Ms' | 'p99Ms' | 'maxMs' | 'seconds'> {
  readonly variant: Variant;
  /** Share of all reads without a page within the deadline, or not sent because of those before. */
  readonly lateShare: number;
  readonly limiter?: LimiterState;
  readonly refusedShare: number;
  readonly pagesPerSecond: number;
  readonly bytesPerSecond: number;
  readonly limit: Limit;
}

export const limiter = defineExperiment<readonly LimiterRow[]>({
  varies: 'bandwidth limiters (tbf, htb) at one rate, with a right and a wrong burst and queue',
  parts: ['redis'],
  cannotRun: () =>
    namespacesProblem([
      ['tbf', 'rate', '1mbit', 'burst', '10kb', 'latency', '50ms'],
      ['htb', 'default', '10'],
    ]),
  title: 'Can a bandwidth limiter stall a store whose bandwidth is free?',
  published:
    'A classifieds site saw stalls and drops although its bandwidth was free: the burst and cburst of its limiter (TBF) were misconfigured. No figures were published.',
  sentence:
    'Give a limiter a burst and a queue of at least the bytes that are requested at once, and always name burst and cburst. When reads are late and the store is idle, look at the drops of tc before anything else.',
  measure: async (lab) => {
    const namespace = await startNamespace(lab);
    const store = await namespace.startStore();
    // As the reader and redis-benchmark, with `page:__rand_int__`, name the pages.
    await massImport(
      lab,
      store,
      fillCommands(PAGES, createRandom(1).next, (at) => `page:${randomDigits(at)}`),
    );
    const plan: BurstPlan = { host: store.host, port: store.port, ...LOAD, seconds: lab.seconds(ROW_SECONDS) };
    return alternately<Variant, LimiterRow>(
      VARIANTS,
      ROUNDS,
      (variant, before) => {
        lab.say(`${variant.name} (${before.length + 1} of ${ROUNDS})`);
        return measureRow(lab, namespace, store, variant, plan);
      },
      badness,
    );
  },
  tables: (rows) => [
    tableOf({
      title: 'What the service sees',
      rows,
      name: ({ variant }) => variant.name,
      columns: [
        ['pages in time', 'per-second', (row) => row.pagesPerSecond],
        ['throughput', 'bytes-per-second', (row) => row.bytesPerSecond],
        ['of the rate', 'share', usedShare],
        ['p50', 'ms', (row) => row.p50Ms],
        ['p99', 'ms', (row) => row.p99Ms],
        ['longest', 'ms', (row) => row.maxMs],
        ['late', 'share', (row) => row.lateShare - row.refusedShare],
        ['not asked', 'share', (row) => row.refusedShare],
      ],
    }),
  ],
  charts: (rows) => [
    chartOf({
      title: 'Time of a page, service to store and back',
      across: 'limiter, all at one rate',
      points: rows,
      pointName: ({ variant }) => variant.name,
      unit: 'ms',
      shape: 'bars',
      isLog: true,
      series: [
        { name: 'p50', of: ({ p50Ms }) => p50Ms },
        { name: 'p99', of: ({ p99Ms }) => p99Ms },
      ],
    }),
  ],
  claims: (rows) => {
    const kinds = kindsOf(rows);
    const stalled = kinds.filter(({ isStalled }) => isStalled).length;
    return [
      {
        text: `kinds of limiter that stall when wrong: p99 ≥ ${STALL_TIMES} × the right one's, or ${LATE_SHARE * 100} % more reads late`,
        figure: stalled,
        unit: 'count',
        atLeast: 1,
        isRequired: true,
      },
      { text: 'their share of all kinds', figure: stalled / kinds.length, unit: 'share', atLeast: 1 },
      {
        text: 'packets dropped by a wrong limiter, at most',
        figure: Math.max(0, ...kinds.map(({ drops }) => drops)),
        unit: 'count',
        atLeast: 1,
      },
      {
        text: 'used share of the rate, at most',
        figure: Math.max(0, ...rows.map((row) => usedShare(row) ?? 0)),
        unit: 'share',
        // Above it, the bandwidth cannot be called free.
        atMost: 0.7,
      },
    ];
  },
  notes: () => [
    `All limiters allow ${(RATE_BYTES * 8) / 1e6} mbit/s. Pages of 4–16 KB are read in bursts of ${LOAD.burst} over ${LOAD.clients} connections, ${LOAD.burstsPerSecond} bursts a second at random distances (Poisson): ${Math.round((LOAD.burstsPerSecond * MEAN_BURST_BYTES * 100) / RATE_BYTES)} % of the rate on average. The bursts are the same for every row.`,
    "Reads go through the project's own adapter, with its deadline of 50 ms, its breaker and its one connection for each process. Late: no page in time. Not asked: refused by the breaker because of earlier late reads.",
    'A right burst is 4 × rate ÷ HZ (HZ 250) or the bytes that are requested at once, whichever is more; tc-tbf(8) asks for at least rate ÷ HZ. For an htb without a burst tc itself chooses 1600 bytes, because it takes HZ for 10⁹ where timers are fine.',
    'Segmentation offload stays on, as on real machines: the store hands packets of up to 64 KB to the limiter. tbf cuts a packet that is larger than its burst into packets of the wire; htb lets it pass and waits afterwards. Right limiters hold back as well.',
    `Each row is the median of ${ROUNDS} runs, taken in turns.`,
  ],
});

/** On a busy machine the p99 of one limiter differs by half from run to run: twice the right one's is a stall. */
const STALL_TIMES = 2;
/** A stall is also a share of late reads that is larger by this: a site sees one in a hundred in its engine's load. */
const LATE_SHARE = 0.01;

function kindsOf(rows: readonly LimiterRow[]) {
  return (['tbf', 'htb'] as const).flatMap((kind) => {
    const right = rows.find(({ variant }) => variant.kind === kind && variant.isRight);
    const wrong = rows.filter(({ variant }) => variant.kind === kind && !variant.isRight);
    const worst = wrong.toSorted((a, b) => badness(b) - badness(a))[0];
    if (right === undefined || worst === undefined) return [];
    const isStalled = worst.p99Ms >= STALL_TIMES * right.p99Ms || worst.lateShare - right.lateShare >= LATE_SHARE;
    return [{ isStalled, drops: Math.max(...wrong.map((row) => row.limiter?.drops ?? 0)) }];
  });
}

/** Late reads first: a p99 beyond the deadline counts only reads that were still waited for. */
function badness({ lateShare, p99Ms }: Pick<LimiterRow, 'lateShare' | 'p99Ms'>): number {
  return lateShare * 1e6 + p99Ms;
}

/** One load through one limiter, newly set up: its bucket is full and its counters are 0. */
async function measureRow(
  lab: Lab,
  namespace: LabNamespace,
  store: LabStore,
  variant: Variant,
  plan: BurstPlan,
): Promise<LimiterRow> {
  await namespace.shape('replies', variant.discipline, variant.classes);
  const busyMs = store.processorMs();
  const main = join(import.meta.dirname, 'limiter', 'reader.ts');
  const limitMs = (plan.seconds + AROUND_SECONDS) * 1000;
  const reads = await runDriver<BurstReads>(lab, { main, plan, limitMs });
  const limiterState = limiterStateOf(await namespace.tcStatistics('replies'));
  // Cores over the time of the load: the reader takes a while to start and to end.
  const cores = (store.processorMs() - busyMs) / 1000 / reads.seconds;
  const share = (count: number): number => count / Math.max(1, reads.asked);
  return {
    ...reads,
    variant,
    lateShare: share(reads.late + reads.refused),
    refusedShare: share(reads.refused),
    pagesPerSecond: reads.inTime / reads.seconds,
    bytesPerSecond: reads.pageBytes / reads.seconds,
    limit: limitOf({ storeCores: cores, generatorCores: reads.processorSeconds / reads.seconds }),
    limiter: limiterState,
  };
}

/** A limiter as tc shows it: its settings, and its counters since it was set up. */
type LimiterState = NonNullable<ReturnType<typeof limiterStateOf>>;

/** @param shown `tc -s qdisc show`, then `tc -s class show`. Undefined without a tbf or a class of htb in it. */
export function limiterStateOf(shown: string) {
  const disciplines = disciplinesOf(shown);
  const { rateBits, burstBytes } =
    disciplines.find(({ kind, rateBits: rate }) => (kind === 'tbf' || kind === 'htb') && rate !== undefined) ?? {};
  const [outermost] = disciplines;
  if (rateBits === undefined || burstBytes === undefined || outermost === undefined) return undefined;
  return {
    rateBytesPerSecond: rateBits / 8,
    burstBytes,
    sentBytes: outermost.sentBytes,
    ...limitersOf(shown),
  };
}

function usedShare({ limiter, seconds }: Pick<LimiterRow, 'limiter' | 'seconds'>): number | undefined {
  return limiter && limiter.sentBytes / seconds / limiter.rateBytesPerSecond;
}

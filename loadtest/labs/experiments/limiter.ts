import { createRandom } from '../../../src/catalogue/demo/ad.ts';
import type { Finding } from '../kit/finding.ts';
import type { Experiment, Lab, LabStore } from '../kit/lab.ts';
import { massImport } from '../kit/mix.ts';
import { namespacesProblem, startNamespace } from '../kit/namespace.ts';
import { medianRun } from '../kit/rounds.ts';
import { badness, limiterLesson } from './limiter/lesson.ts';
import { type Measured, measure } from './limiter/measure.ts';
import { type BurstPlan, pageName } from './limiter/read-in-bursts.ts';
import { limiterCharts, limiterTables, toldNote } from './limiter/tables.ts';
import { variantsOf } from './limiter/variants.ts';

const RATE_BYTES = 50e6; // 400 mbit/s
const [LEAST_PAGE_BYTES, MOST_PAGE_BYTES] = [4096, 16_384];
/** 25 bursts of 60 pages of 10 KB are 15 MB/s: 31 % of the rate. */
const LOAD = { clients: 8, burst: 60, burstsPerSecond: 25, keys: 2000, deadlineMs: 50 };
const MEAN_BURST_BYTES = (LOAD.burst * (LEAST_PAGE_BYTES + MOST_PAGE_BYTES)) / 2;
/** The machine's own stalls are 100 ms now and then, and drops come by chance: of three times the middle one is kept. */
const TIMES = 3;
const ROW_SECONDS = 2;

export const limiter: Experiment = {
  varies: 'bandwidth limiters (tbf, htb) at one rate, with a right and a wrong burst and queue',
  parts: ['redis'],
  cannotRun: () =>
    namespacesProblem([
      ['tbf', 'rate', '1mbit', 'burst', '10kb', 'latency', '50ms'],
      ['htb', 'default', '10'],
    ]),
  run,
};

async function run(lab: Lab): Promise<Omit<Finding, 'name'>> {
  const namespace = await startNamespace(lab);
  const store = await namespace.startStore();
  await fill(lab, store);
  const plan: BurstPlan = { host: store.host, port: store.port, ...LOAD, seconds: lab.seconds(ROW_SECONDS), seed: 1 };
  const variants = variantsOf(RATE_BYTES, MEAN_BURST_BYTES);
  const all = new Map<string, Measured[]>();
  for (let time = 1; time <= TIMES; time += 1) {
    for (const variant of variants) {
      lab.say(`${variant.name} (${time} of ${TIMES})`);
      const one = await measure(lab, namespace, store, variant, plan);
      all.set(variant.name, [...(all.get(variant.name) ?? []), one]);
    }
  }
  const rows = [...all.values()].flatMap((times) => medianRun(times, badness) ?? []);
  return {
    title: 'A bandwidth limiter between service and store',
    published:
      'A classifieds site saw stalls and drops although its bandwidth was free: the burst and cburst of its limiter (TBF) were misconfigured. No figures were published.',
    tables: limiterTables(rows, LOAD.keys),
    charts: limiterCharts(rows),
    lesson: limiterLesson(rows),
    notes: [
      `All limiters allow ${(RATE_BYTES * 8) / 1e6} mbit/s. Pages of 4–16 KB are read in bursts of ${LOAD.burst} over ${LOAD.clients} connections, ${LOAD.burstsPerSecond} bursts a second at random distances (Poisson): ${Math.round((LOAD.burstsPerSecond * MEAN_BURST_BYTES * 100) / RATE_BYTES)} % of the rate on average. The bursts are the same for every row.`,
      "Reads go through the project's own adapter, with its deadline of 50 ms, its breaker and its one connection for each process: late is what had no page in time, not asked is what the breaker refused because of those before.",
      'Right is a burst of 4 × rate ÷ HZ (HZ 250) or as large as what is asked for at once, whichever is more; tc-tbf(8) asks for rate ÷ HZ at the very least. For an htb without a burst tc itself chooses 1600 bytes, because it takes HZ for 10⁹ where timers are fine.',
      'Segmentation offload stays on, as on real machines: the store hands packets of up to 64 KB to the limiter. tbf cuts those that are larger than its burst into packets of the wire, htb lets them pass and waits afterwards. A limiter on the same machine that refuses such a packet at once tells TCP so, which tries again later without counting a retransmit: drops are the figure to look at, not retransmits.',
      toldNote(rows),
      `Each row is the middle one of ${TIMES} times, taken in turns. The commands need root: the first one makes a namespace with a store in it and fills that, the last one takes it away. redis-benchmark repeats the reads as fast as they go, not in bursts: it shows the rate that is allowed, and tc -s qdisc there the drops.`,
    ],
  };
}

async function fill(lab: Lab, store: LabStore): Promise<void> {
  const { between } = createRandom(1);
  const page = Buffer.alloc(MOST_PAGE_BYTES, 'x');
  const commands = Array.from({ length: LOAD.keys }, (_, at) => [
    'SET',
    pageName(at),
    page.subarray(0, between(LEAST_PAGE_BYTES, MOST_PAGE_BYTES)),
  ]);
  await massImport(commands, { host: store.host, port: store.port, cores: lab.cores.generator, signal: lab.signal });
}

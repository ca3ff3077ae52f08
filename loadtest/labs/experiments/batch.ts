import { durationText, perSecondText } from '../../../src/report/format.ts';
import { createRandom } from '../../random.ts';
import { processFile, statFields } from '../../stack/processors.ts';
import { type Benchmark, benchmark, massImport } from '../kit/benchmark.ts';
import { defineExperiment, type Lab, type LabStore } from '../kit/lab.ts';
import { commandStats, peakClientBytes } from '../kit/meters.ts';
import { fillCommands, PUBLISHED_MIX, randomDigits } from '../kit/mix.ts';
import { alternately } from '../kit/rounds.ts';
import { chartOf, tableOf } from '../kit/table.ts';

/** Commands in a pipeline, and connections that send such pipelines. */
const BATCHES: readonly number[] = [1, 10, 50, 100, 200, 500];
const LOADS: readonly number[] = [1, 10, 50];

const PAGES = PUBLISHED_MIX.keys;
/** redis-benchmark replaces the number: `page:000000000012`. */
const PAGE = 'page:__rand_int__';

/** They take a few tens of milliseconds. */
const PILOT_REQUESTS = 5000;
const MEMORY_INTERVAL_MS = 60;

/** The load under which they were measured was not published. */
const PUBLISHED = [
  { pipeline: 1, perSecond: 5000, p99Ms: 35 },
  { pipeline: 10, perSecond: 8000, p99Ms: 22 },
  { pipeline: 50, perSecond: 12_000, p99Ms: 18 },
  { pipeline: 100, perSecond: 18_500, p99Ms: 15 },
  { pipeline: 200, perSecond: 20_000, p99Ms: 14 },
  { pipeline: 500, perSecond: 19_800, p99Ms: 16 },
];
/** The published golden number. Larger batches gained nothing, smaller ones had a lower rate. */
const GOLDEN = { least: 100, most: 200 } as const;

const SECONDS = 1.2;
/** Difference between two runs of one batch. A larger batch that gains less costs memory and time for nothing. */
const NOISE = 0.05;

/** Published was a factor of 4. A factor of 1.5 is more than any noise, and worth waiting for a batch to fill. */
const LEAST_GAIN = 1.5;

const WAYS = ['pipelined GET', 'MGET', 'Lua'] as const;
const KEY_COUNTS: readonly number[] = [10, 100];
const WAY_CLIENTS = 10;
const PILOT_KEYS = 10_000;
const SCRIPT = 'local pages = {} for at, key in ipairs(KEYS) do pages[at] = redis.call("GET", key) end return pages';

export type BatchRow = ReturnType<typeof batchRow>;

export const batch = defineExperiment({
  varies: 'pipelines of 1 to 500 at three loads; MGET, pipelined GET and Lua; where the time of a command goes',
  parts: ['redis'],
  title: 'How many commands should be sent at once?',
  published:
    'single commands 5k/s with a p99 of 35 ms; 10 at once 8k/s and 22 ms; 50: 12k/s and 18 ms; 100: 18.5k/s and 15 ms; 200: 20k/s and 14 ms; 500: 19.8k/s and 16 ms; the golden number, 100 to 200, moves with the load; MGET for few fixed keys, pipelined GET for many that vary',
  sentence:
    'Send commands in batches, and measure the size under your own load: take the smallest batch near the best rate, since a larger one only costs memory and waiting. Use a pipeline of GET for keys that vary, and MGET only for few fixed keys on one slot, where it costs the store clearly less per key.',
  measure: async (lab) => {
    const store = await lab.startStore();
    const pages = fillCommands(PUBLISHED_MIX, createRandom(1).next, (at) => `page:${randomDigits(at)}`);
    await massImport(lab, store, pages);
    const seconds = lab.seconds(SECONDS);
    return { rows: await sweep(lab, store, seconds), ways: await waysToRead(lab, store, seconds) };
  },
  tables: ({ rows, ways }) => [
    ...LOADS.map((clients) =>
      tableOf({
        title: `GET of pages in batches, ${loadName(clients)}`,
        rows: rows.filter((row) => row.clients === clients),
        name: batchName,
        columns: [
          ['rate', 'per-second', (row) => row.perSecond],
          ['p99 to the first reply of a batch', 'ms', (row) => row.p99Ms],
          ['a whole batch, mean', 'ms', (row) => row.wholeMs],
          ['cores of store', 'cores', (row) => row.storeCores],
          ['cores of generator', 'cores', (row) => row.generatorCores],
          ['most held for clients by the store', 'bytes', (row) => row.clientBytes],
        ],
        published: publishedText,
      }),
    ),
    tableOf({
      title: 'Several keys at once',
      rows: ways,
      name: ({ keys, way }) => `${keys} keys by ${way}`,
      columns: [
        ['keys', 'per-second', (row) => row.keysPerSecond],
        [
          'against a pipeline of GET',
          'times',
          ({ keys, keysPerSecond }) => {
            const pipelined = ways.find((row) => row.way === 'pipelined GET' && row.keys === keys);
            return pipelined && keysPerSecond / pipelined.keysPerSecond;
          },
        ],
        // The cost for the store, even when the generator was full or the machine busy. If MGET is less than a tenth
        // cheaper, a pipeline is the better choice, because it takes keys of any slot.
        ['store per key', 'us', (row) => row.storeUsPerKey],
        ['p99 to the first bytes', 'ms', (row) => row.p99Ms],
        ['cores of store', 'cores', (row) => row.storeCores],
        ['cores of generator', 'cores', (row) => row.generatorCores],
      ],
    }),
  ],
  charts: ({ rows }) => [
    chartOf({
      title: 'GET of pages a second by the size of a batch',
      across: 'commands in a batch',
      points: BATCHES,
      pointName: String,
      unit: 'per-second',
      shape: 'lines',
      isLog: true,
      series: [
        ...LOADS.map((clients) => ({
          name: loadName(clients),
          of: (pipeline: number) => rows.find((row) => row.clients === clients && row.pipeline === pipeline)?.perSecond,
        })),
        { name: 'published', isPublished: true, of: (pipeline) => sized(PUBLISHED, pipeline)?.perSecond },
      ],
    }),
  ],
  claims: ({ rows }) => {
    const gains = gainsOf(rows);
    const smallest = Math.min(...gains.map(({ best }) => best.pipeline));
    return [
      {
        text: 'rate of the best batch ÷ of single commands, the largest of all loads',
        figure: Math.max(...gains.map(({ gain }) => gain)),
        unit: 'times',
        atLeast: LEAST_GAIN,
        isRequired: true,
      },
      ...gains.flatMap(({ clients, gain, best }) => [
        {
          text: `rate of the best batch ÷ of single commands, ${loadName(clients)}`,
          figure: gain,
          unit: 'times' as const,
          atLeast: LEAST_GAIN,
        },
        {
          text: `smallest batch within 5 % of the best rate, ${loadName(clients)}`,
          figure: best.pipeline,
          unit: 'count' as const,
          atLeast: GOLDEN.least,
          atMost: GOLDEN.most,
        },
      ]),
      {
        // A generator that is full hides what the store would gain from larger batches.
        text: 'loads with a full generator at the best batch',
        figure: gains.filter(({ best }) => best.limit === 'generator').length,
        unit: 'count',
      },
      // Loopback has almost no round trip to share: a batch saves the store's own work for the network.
      ...[1, smallest].map((pipeline) => ({
        text: `network time of the store per command, ${batchName({ pipeline })}`,
        figure: meanNetworkUs(rows.filter((row) => row.pipeline === pipeline)),
        unit: 'us' as const,
      })),
    ];
  },
  notes: () => [
    'GET of 100,000 pages of the published mix, 100 to 6000 bytes each, by redis-benchmark; each row is the better of two runs of half its time, one on the way from small batches to large and one on the way back.',
    'The load at which the published figures were measured is not known: they stand beside every load.',
    'redis-benchmark stops its clock at the first bytes of a batch. The mean time of a whole batch is the number of commands under way over the number answered per second (Little 1961).',
    "Memory held for clients is the store's own figure (mem_clients_normal), the largest of one reading every 60 ms: requests it has not read yet and replies that no client has taken.",
    "Network is processor time of the store in the kernel per command, over both runs and their pilots, in steps of 10 ms. On loopback the kernel does some of a receiver's work while the sender sends.",
  ],
});

/** The gain of batches at each load. @throws when a load has no row of single commands. */
export function gainsOf(rows: readonly BatchRow[]) {
  return Array.from(
    Map.groupBy(rows, ({ clients }) => clients),
    ([clients, own]) => {
      const most = Math.max(...own.map(({ perSecond }) => perSecond));
      const best = own.find(({ perSecond }) => perSecond >= (1 - NOISE) * most);
      const single = sized(own, 1);
      if (best === undefined || single === undefined) throw new Error(`${clients} clients: no row of single commands`);
      return { clients, best, gain: best.perSecond / single.perSecond };
    },
  );
}

function meanNetworkUs(rows: readonly BatchRow[]): number | undefined {
  const each = rows.flatMap(({ networkUs }) => networkUs ?? []);
  return each.length === 0 ? undefined : each.reduce((sum, us) => sum + us, 0) / each.length;
}

function sized<Row extends { readonly pipeline: number }>(rows: readonly Row[], pipeline: number): Row | undefined {
  return rows.find((row) => row.pipeline === pipeline);
}

function batchName({ pipeline }: { readonly pipeline: number }): string {
  return pipeline === 1 ? 'single commands' : `${pipeline} at once`;
}

function publishedText({ pipeline }: { readonly pipeline: number }): string | undefined {
  const one = sized(PUBLISHED, pipeline);
  return one && `${perSecondText(one.perSecond)}, p99 ${durationText(one.p99Ms)}`;
}

/** Reads the same keys by each way in turn, twice, each time for half of a row's time. */
async function waysToRead(lab: Lab, store: LabStore, seconds: number) {
  const variants = KEY_COUNTS.flatMap((keys) => WAYS.map((way) => ({ way, keys })));
  return alternately(
    variants,
    2,
    async ({ way, keys }: (typeof variants)[number], before: readonly Benchmark[]) => {
      lab.say(`${keys} keys by ${way}`);
      const isPipelined = way === 'pipelined GET';
      const load = {
        store,
        clients: WAY_CLIENTS,
        pipeline: isPipelined ? keys : undefined,
        keySpace: PAGES,
        command: wordsOf(way, keys),
        seconds: seconds / 2,
      };
      const keysEach = isPipelined ? 1 : keys;
      const { perSecond } = before[0] ?? (await benchmark(lab, { ...load, requests: PILOT_KEYS / keysEach }));
      const ran = await benchmark(lab, { ...load, expectedPerSecond: perSecond });
      return { ...ran, way, keys, keysPerSecond: ran.perSecond * keysEach, storeUsPerKey: ran.storeUs / keysEach };
    },
    // The median of two runs is the lower figure, so the sign selects the higher rate.
    ({ keysPerSecond }) => -keysPerSecond,
  );
}

function wordsOf(way: (typeof WAYS)[number], keys: number): readonly string[] {
  const names = Array.from({ length: keys }, () => PAGE);
  return {
    'pipelined GET': ['GET', PAGE],
    MGET: ['MGET', ...names],
    Lua: ['EVAL', SCRIPT, String(keys), ...names],
  }[way];
}

interface Run {
  readonly ran: Benchmark;
  readonly before: Meters;
  readonly after: Meters;
  readonly peak: number | undefined;
}

/**
 * Runs every batch at every load, from small to large and back again, each time for half of a row's time. A disturbance
 * of the machine then affects both ends equally.
 */
async function sweep(lab: Lab, store: LabStore, seconds: number) {
  const rows: BatchRow[] = [];
  for (const clients of LOADS) {
    const all = BATCHES.map((pipeline) => ({ pipeline, runs: [] as Run[] }));
    for (const { pipeline, runs } of [...all, ...all.toReversed()]) {
      lab.say(`${loadName(clients)}, ${pipeline} commands at once`);
      const load = { store, clients, pipeline, keySpace: PAGES, command: ['GET', PAGE], seconds: seconds / 2 };
      const before = await readMeters(store);
      // Only the first run of a batch needs a pilot: the run on the way back uses its rate.
      const requests = Math.max(PILOT_REQUESTS, clients * pipeline);
      const { perSecond } = runs.at(-1)?.ran ?? (await benchmark(lab, { ...load, requests }));
      const { result: ran, peak } = await peakClientBytes(store, MEMORY_INTERVAL_MS, () =>
        benchmark(lab, { ...load, expectedPerSecond: perSecond }),
      );
      runs.push({ ran, before, after: await readMeters(store), peak });
    }
    for (const { pipeline, runs } of all) rows.push(batchRow(clients, pipeline, runs));
  }
  return rows;
}

/** One batch size under one load: the run with the higher rate; memory and the store's time are those of all runs together. */
export function batchRow(clients: number, pipeline: number, runs: readonly Run[]) {
  const [best] = runs.map(({ ran }) => ran).toSorted((one, other) => other.perSecond - one.perSecond);
  if (best === undefined) throw new Error('a row needs a run');
  const peaks = runs.flatMap(({ peak }) => peak ?? []);
  return {
    ...best,
    clients,
    pipeline,
    /** Mean time from sending a batch to its last reply: commands under way ÷ commands answered per second. */
    wholeMs: (clients * pipeline * 1000) / best.perSecond,
    /** The most memory that the store held for its clients at one time. */
    clientBytes: peaks.length === 0 ? undefined : Math.max(...peaks),
    networkUs: networkUsOf(runs),
  };
}

function loadName(clients: number): string {
  return clients === 1 ? 'one connection' : `${clients} connections`;
}

type Meters = Awaited<ReturnType<typeof readMeters>>;

async function readMeters(store: LabStore) {
  const { calls } = await commandStats(store, 'get');
  // Kernel time, in steps of 10 ms: a store that keeps nothing on disk spends it on its sockets.
  return { systemMs: Number(statFields(processFile(store.pid(), 'stat'))(15)) * 10, calls };
}

/** Kernel time of the store per command, over all runs: steps of 10 ms say little about one of them. Undefined: no calls. */
function networkUsOf(runs: readonly Pick<Run, 'before' | 'after'>[]): number | undefined {
  const grown = (name: keyof Meters): number =>
    runs.reduce((sum, { before, after }) => sum + after[name] - before[name], 0);
  return grown('calls') === 0 ? undefined : (grown('systemMs') * 1000) / grown('calls');
}

import { countText } from '../../../src/report/format.ts';
import { massImport } from '../kit/benchmark.ts';
import { countEffects, seenClaim } from '../kit/claims.ts';
import type { Claim } from '../kit/finding.ts';
import { defineExperiment, type Lab } from '../kit/lab.ts';
import { alternately } from '../kit/rounds.ts';
import { chartOf, tableOf } from '../kit/table.ts';
import {
  BUILT_IN,
  CONNECTIONS,
  type Engine,
  type EngineSetting,
  knownEngines,
  type Load,
  mixFill,
  mixLoad,
  READ_KEYS,
  readFill,
  readLoad,
  startEngine,
} from './engines/load.ts';
import { CLIENTS, negated, savedShare, type ThreeClients, threeClients } from './three-clients.ts';

const ROUNDS = 3;
const SECONDS = 0.8;
const COUNTERS = 1000;
const IO_THREADS: readonly number[] = [1, 2, 4];

/** Runs of one and the same server, taken in turn, differ by less. */
const AHEAD = 0.05;
/** At a higher rate a store handles more commands per turn of its loop: costs compare only at about one rate. */
const ONE_RATE = 1.2;

/** Microseconds per INCR by three clients: one store, three stores. */
const PUBLISHED_US: Readonly<Record<string, Readonly<Record<1 | 3, number>>>> = {
  redis: { 1: 9.3, 3: 6.68 },
  keydb: { 1: 10.8, 3: 8.05 },
  dragonfly: { 1: 12.3, 3: 14.6 },
};
const PUBLISHED_OTHERS = ['keydb', 'dragonfly'];

export interface LoadRow extends Load, EngineSetting {
  readonly engine: string;
}

export interface CounterRow extends ThreeClients {
  readonly engine: string;
  readonly stores: 1 | 3;
}

export const engines = defineExperiment({
  varies: 'Redis, Valkey and servers given by path; TLS, io-threads; one store and three',
  parts: ['redis', 'valkey', 'openssl'],
  title: 'Which engine serves one load at the lowest cost?',
  published:
    'KeyDB is ahead at x5 and with TLS; yet INCR by three clients, one store and three: Redis 9.30 and 6.68 µs, KeyDB 10.8 and 8.05, Dragonfly 12.3 and 14.6',
  sentence:
    'Compare engines by the processor time of a command under your own mix, with TLS if you use it, before you change the engine. Set io-threads only where the stores have more cores than threads, and try more stores as well.',
  measure: async (lab) => {
    const known = await knownEngines(lab);
    const all = known.filter(({ problem }) => problem === undefined);
    const counters = await measuredCounters(lab, all);
    await lab.clear();
    lab.say('the mix');
    const plain = [false, true].map((isTls) => ({ isTls, ioThreads: 1 }));
    const mix = await measuredLoads(lab, all, plain, mixFill, mixLoad);
    await lab.clear();
    // Up to twice the cores, to show the effect of a wrong setting.
    const threads = IO_THREADS.filter((count) => count <= 2 * lab.cores.storeCount);
    const settings = [false, true].flatMap((isTls) => threads.map((ioThreads) => ({ isTls, ioThreads })));
    lab.say('reads');
    const reads = await measuredLoads(lab, all, settings, readFill, readLoad);
    const { storeCount } = lab.cores;
    // `known` has the engines that do not serve as well.
    return { known, settings, mix, reads, counters, cores: { storeCount } };
  },
  tables: ({ known, settings, mix, reads, counters, cores: { storeCount } }) => [
    loadTable(
      'The published mix, by the driver',
      // An engine that does not serve has its row here, without figures; a note says why.
      known.flatMap(({ name, problem }) =>
        problem !== undefined
          ? [{ name }]
          : [false, true].flatMap((isTls) =>
              mix
                .filter((row) => row.engine === name && row.isTls === isTls)
                .map((row) => ({ ...row, name: `${name}${isTls ? ', TLS' : ''}` })),
            ),
      ),
    ),
    loadTable(
      'Reads of stored values, by redis-benchmark',
      known.flatMap(({ name }) =>
        settings.flatMap(({ isTls, ioThreads }) => {
          const few = ioThreads > storeCount ? ` on ${coresText(storeCount)}` : '';
          const threads = ioThreads === 1 ? 'no io-threads' : `io-threads ${ioThreads}${few}`;
          return reads
            .filter((row) => row.engine === name && row.isTls === isTls && row.ioThreads === ioThreads)
            .map((row) => ({ ...row, name: `${name}${isTls ? ', TLS' : ''}, ${threads}` }));
        }),
      ),
    ),
    tableOf({
      title: 'INCR by three clients: one store, and one each',
      rows: known.flatMap(({ name }) => counters.filter(({ engine }) => engine === name)),
      name: ({ engine, stores }) => `${engine}, ${storesText(stores)}`,
      columns: [
        ['per operation', 'us', (row) => row.usPerOp],
        // The baseline has no value of its own.
        ['against one store', 'share', (row) => negated(gainOf(counters, row)) ?? ''],
        ['rate', 'per-second', (row) => row.perSecond],
        ['processor time of stores per operation', 'us', (row) => row.storeUsPerOp],
        ['cores of stores', 'cores', (row) => row.storeCores],
        ['cores of clients', 'cores', (row) => row.generatorCores],
      ],
      published: ({ engine, stores }) => publishedUs(engine, stores)?.toString().concat(' µs'),
    }),
  ],
  charts: ({ known, mix, reads }) => {
    const single = reads.filter(({ ioThreads }) => ioThreads === 1);
    const cost = (rows: readonly LoadRow[], isTls: boolean) => (engine: Engine) =>
      coresPer100k(rows.find((row) => row.engine === engine.name && row.isTls === isTls));
    return [
      chartOf({
        title: 'Cores of the store for 100,000 commands a second',
        across: 'engine',
        points: known,
        pointName: ({ name }) => name,
        unit: 'cores',
        shape: 'bars',
        series: [
          { name: 'mix', of: cost(mix, false) },
          { name: 'mix, TLS', of: cost(mix, true) },
          { name: 'reads', of: cost(single, false) },
          { name: 'reads, TLS', of: cost(single, true) },
        ],
      }),
    ];
  },
  claims: ({ mix, counters }) => {
    const names = [...new Set(mix.map(({ engine }) => engine))];
    const effects = effectsOf(mix, counters, names);
    const { seen, held } = countEffects(effects);
    return [
      {
        text: `published effects that hold, of ${effects.length}; not seen when none holds and not all could be seen`,
        figure: held > 0 || seen === effects.length ? held : undefined,
        unit: 'count',
        atLeast: 1,
        isRequired: true,
      },
      seenClaim(effects),
      {
        text: 'engines of the publication that were given beside Redis: KeyDB, Dragonfly',
        figure: PUBLISHED_OTHERS.filter((other) => names.some((name) => isNamed(name, other))).length,
        unit: 'count',
        atLeast: PUBLISHED_OTHERS.length,
      },
      ...effects.flat(),
    ];
  },
  notes: ({ known, settings, cores: { storeCount } }) => {
    const fixed = known.filter(({ isConfigurable, problem }) => !isConfigurable && problem === undefined);
    const most = Math.max(...settings.map(({ ioThreads }) => ioThreads));
    const wanted = Math.max(...IO_THREADS);
    return [
      `The same generator, on cores of its own, loads every engine: the driver for the mix, redis-benchmark for the rest, Valkey too. Figures are medians of ${ROUNDS} runs that took turns. Where the generator is full the rate is the generator's; the cores that a store takes for 100,000 commands are its own.`,
      `The cost of a command is compared only between rates that differ by less than a factor of ${ONE_RATE}, or where both stores were full.`,
      `The published mix is sent by ${CONNECTIONS} connections as fast as they are answered, in place of the published x5, whose rate is not known. redis-benchmark reads ${countText(READ_KEYS)} stored values of the same sizes; with TLS its ${CONNECTIONS} handshakes are in the store's processor time.`,
      ...known.flatMap(({ name, problem }) => (problem === undefined ? [] : [`${name} was not measured: ${problem}`])),
      known.every(({ flavour }) => BUILT_IN.includes(flavour)) &&
        'Only Redis and Valkey were measured: KeyDB, Dragonfly and others are in no package archive this can install from; a server given by its path gets rows of its own.',
      ...fixed.map(
        ({ name }) =>
          `${name}: started with a port and an address only, so rows with TLS or io-threads were not measured, and its memory has no bound of ours.`,
      ),
      most > storeCount &&
        `Stores have ${coresText(storeCount)} here, fewer than ${most} io-threads: such rows show what too many threads cost, not what threads are good for.`,
      most < wanted && `${wanted} io-threads were left out: more than twice the cores of the stores.`,
    ].filter((note) => note !== false);
  },
});

/** Another engine is ahead of Redis under the mix, and with TLS; yet Redis gains most from three stores. */
function effectsOf(
  mix: readonly LoadRow[],
  counters: readonly CounterRow[],
  names: readonly string[],
): readonly (readonly Claim[])[] {
  const redis = names.find((name) => name.startsWith('Redis')) ?? 'Redis';
  const others = names.filter((name) => name !== redis);
  const gain = gainOf(counters, { engine: redis, stores: 3 });
  const otherGains = others.flatMap((engine) => gainOf(counters, { engine, stores: 3 }) ?? []);
  return [
    ...[false, true].map((isTls): readonly Claim[] => {
      const rows = mix.filter((row) => row.isTls === isTls).toSorted((one, other) => one.storeUs - other.storeUs);
      const base = rows.find(({ engine }) => engine === redis);
      const best = base && rows.find((row) => row !== base && isComparable(row, base));
      return [
        {
          // When the generator is full, only processor time compares.
          text: `processor time of a command saved by ${best?.engine ?? 'another engine'} against ${redis}, the mix${isTls ? ' with TLS' : ''}; seen only at one rate`,
          figure: best && 1 - best.storeUs / base.storeUs,
          unit: 'share',
          atLeast: AHEAD,
        },
      ];
    }),
    [
      {
        text: `time per INCR saved by three stores, ${redis}`,
        figure: gain,
        unit: 'share',
        // Half of the published gain, as in the experiment on domains.
        atLeast: 0.15,
      },
      {
        text: `the same, the largest of the other engines minus ${redis}`,
        figure: gain === undefined || otherGains.length === 0 ? undefined : Math.max(...otherGains) - gain,
        unit: 'share',
        atMost: AHEAD,
      },
    ],
  ];
}

/** Where both stores were full, the rate itself shows the cost of a command. */
function isComparable(one: LoadRow, other: LoadRow): boolean {
  const isFull = [one, other].every(({ limit }) => limit === 'store' || limit === 'both');
  const [least, most] = [Math.min(one.perSecond, other.perSecond), Math.max(one.perSecond, other.perSecond)];
  return isFull || most <= least * ONE_RATE;
}

function gainOf(rows: readonly CounterRow[], { engine, stores }: Pick<CounterRow, 'engine' | 'stores'>) {
  const [one, other] = [1, stores].map((count) => rows.find((row) => row.engine === engine && row.stores === count));
  return savedShare(one, other);
}

function publishedUs(engine: string, stores: 1 | 3): number | undefined {
  return Object.entries(PUBLISHED_US).find(([name]) => isNamed(engine, name))?.[1][stores];
}

function isNamed(engine: string, name: string): boolean {
  return engine.toLowerCase().startsWith(name);
}

/** Busy cores for 100,000 commands a second: still comparable when the generator is full. */
function coresPer100k(row: Partial<Load> | undefined): number | undefined {
  return row?.storeUs && row.storeUs / 10;
}

function loadTable(title: string, rows: readonly (Partial<Load> & { readonly name: string })[]) {
  return tableOf<Partial<Load> & { readonly name: string }>({
    title,
    rows,
    name: ({ name }) => name,
    columns: [
      ['cores of the store for 100,000 commands/s', 'cores', coresPer100k],
      ['commands', 'per-second', (row) => row.perSecond],
      ['p50', 'ms', (row) => row.p50Ms],
      ['p99', 'ms', (row) => row.p99Ms],
      ['cores of the store', 'cores', (row) => row.storeCores],
      ['cores of the generator', 'cores', (row) => row.generatorCores],
    ],
  });
}

function storesText(stores: 1 | 3): string {
  return stores === 1 ? 'one store' : 'three stores';
}

function coresText(count: number): string {
  return count === 1 ? 'one core' : `${count} cores`;
}

async function measuredCounters(lab: Lab, all: readonly Engine[]): Promise<readonly CounterRow[]> {
  const variants = await Array.fromAsync(
    all.flatMap((engine) => ([1, CLIENTS] as const).map((count) => ({ engine, count }))),
    async ({ engine, count }) => {
      const start = () => startEngine(lab, engine, { isTls: false, ioThreads: 1 });
      return { engine, count, stores: await Array.fromAsync({ length: count }, start) };
    },
  );
  return alternately<(typeof variants)[number], CounterRow>(
    variants,
    ROUNDS,
    async ({ engine, count, stores }, before) => {
      lab.say(`INCR, ${engine.name}, stores: ${count}`);
      const run = await threeClients(lab, {
        stores,
        command: (client) => ['INCR', `counter-${client}:__rand_int__`],
        keySpace: COUNTERS,
        seconds: lab.seconds(SECONDS),
        expectedPerSecond: before.at(-1)?.perSecond,
      });
      return { ...run, engine: engine.name, stores: count };
    },
    ({ usPerOp }) => usPerOp,
  );
}

async function measuredLoads(
  lab: Lab,
  all: readonly Engine[],
  settings: readonly EngineSetting[],
  fill: typeof mixFill,
  load: typeof readLoad,
): Promise<readonly LoadRow[]> {
  const wanted = settings.flatMap((setting) => all.map((engine) => ({ engine, ...setting })));
  const possible = wanted.filter(
    ({ engine, isTls, ioThreads }) => engine.isConfigurable || (!isTls && ioThreads === 1),
  );
  const sides = await Array.fromAsync(possible, async (side) => {
    const store = await startEngine(lab, side.engine, side);
    await massImport(lab, store, fill());
    return { ...side, store };
  });
  return alternately<(typeof sides)[number], LoadRow>(
    sides,
    ROUNDS,
    async ({ engine, store, isTls, ioThreads }) => {
      lab.say(`${engine.name}${isTls ? ', TLS' : ''}${ioThreads > 1 ? `, io-threads ${ioThreads}` : ''}`);
      return { ...(await load(lab, store, lab.seconds(SECONDS), ioThreads)), engine: engine.name, isTls, ioThreads };
    },
    ({ storeUs }) => storeUs,
  );
}

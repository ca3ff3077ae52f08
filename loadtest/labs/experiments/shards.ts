import { bytesText, countText } from '../../../src/report/format.ts';
import { sum } from '../../judge/series.ts';
import { createRandom } from '../../random.ts';
import { massImport } from '../kit/benchmark.ts';
import { driven } from '../kit/driven.ts';
import type { DrivePlan } from '../kit/driver/drive.ts';
import { defineExperiment, type Lab, type LabStore } from '../kit/lab.ts';
import { fillCommands, gaussianKey, type Mix, mixKey, PUBLISHED_MIX } from '../kit/mix.ts';
import { alternately } from '../kit/rounds.ts';
import { chartOf, tableOf } from '../kit/table.ts';
import { limitOfStores } from './three-clients.ts';

const SHARDS: readonly number[] = [1, 3, 6];
/** Half of the bytes of the published keys: it evicts like a cache that has outgrown its memory. */
const TOTAL_MEMORY_BYTES = 160 * 2 ** 20;
/** All clients together; a multiple of every number of shards. */
const CONNECTIONS = 60;
/** x1 of the load, far below what one store can do, so that x5 is a rate as well. */
const X1_PER_SECOND = 4000;
const GROWTHS: readonly number[] = [1, 3, 5];
const ROUNDS = 2;
const SECONDS = 2;
/** At full speed: the memory that filling and connecting took goes back to the pages. */
const SETTLING_SECONDS = 1.5;

interface Variant {
  readonly side: Awaited<ReturnType<typeof startSide>>;
  /** Absent: as fast as possible. */
  readonly growth?: number;
}

export type ShardRow = Awaited<ReturnType<typeof measured>>;

export const shards = defineExperiment({
  varies:
    '1, 3 and 6 shards of one total memory, a working set larger than it, rates from x1 to x5 and as fast as possible',
  parts: ['redis'],
  title: 'Do more shards of the same memory stop evictions?',
  published: '×3 shards were only a temporary cure: evictions came back with the next growth',
  sentence:
    'Hits and evictions follow the memory, so more shards of the same memory do not bring evictions down for good. Add memory for hits, and shards for processor time and connections.',
  measure: async (lab) => {
    const sides = await Array.fromAsync(SHARDS, (count) => startSide(lab, count));
    const atRates = GROWTHS.flatMap((growth) => sides.map((side) => ({ side, growth })));
    // Full speed last: its buffers are part of maxmemory, and a slow row takes long to fill the memory that they release.
    const atFullSpeed = sides.map((side) => ({ side }));
    return { rows: [...(await inTurn(lab, atRates)), ...(await inTurn(lab, atFullSpeed))] };
  },
  tables: ({ rows }) => [
    tableOf({
      title: 'The same memory in 1, 3 and 6 shards',
      rows,
      name: ({ growth, shards: count }) => `${loadName(growth)}, ${shardsName(count)}`,
      columns: [
        ['commands', 'per-second', (row) => row.perSecond],
        ['p99', 'ms', (row) => row.p99Ms],
        ['hits', 'share', (row) => row.hitRatio],
        ['evictions', 'per-second', (row) => row.evictionsPerSecond],
        ['cores of the busiest shard', 'cores', (row) => row.busiestCores],
        ['cores of all shards', 'cores', (row) => row.storeCores],
        ['cores of the driver', 'cores', (row) => row.generatorCores],
      ],
    }),
  ],
  charts: ({ rows }) => [
    chartOf({
      id: 'evictions',
      title: 'Evictions of all shards together, as the load grows',
      across: 'load as a multiple of the first rate',
      points: GROWTHS,
      pointName: (growth) => `x${growth}`,
      unit: 'per-second',
      shape: 'lines',
      series: SHARDS.map((count) => ({
        name: shardsName(count),
        of: (growth: number) => rows.find((row) => row.shards === count && row.growth === growth)?.evictionsPerSecond,
      })),
    }),
  ],
  claims: ({ rows }) => {
    const last = Math.max(...GROWTHS);
    const at = (count: number, growth?: number): ShardRow | undefined =>
      rows.find((row) => row.shards === count && row.growth === growth);
    const [one, six, calm] = [at(1, last), at(6, last), at(6, Math.min(...GROWTHS))];
    const [slow, fast] = [at(1), at(6)];
    const grown = calm && six && six.evictionsPerSecond / calm.evictionsPerSecond;
    const isGrown = grown !== undefined && grown > 1;
    const isFull = fast?.limit === 'generator' || fast?.limit === 'both';
    return [
      {
        text: `difference of the hit ratios of 6 shards and 1, x${last}`,
        figure: one && six && Math.abs(six.hitRatio - one.hitRatio),
        unit: 'share',
        // Six shards take a twentieth of the memory for themselves, which is two points.
        atMost: 0.03,
      },
      {
        text: `evictions of 6 shards ÷ of 1, x${last}; 0 when those of 6 shards did not grow from x1`,
        figure: one && six && calm && (isGrown ? six.evictionsPerSecond / one.evictionsPerSecond : 0),
        unit: 'times',
        // Evictions follow the size of the values that happened to be written, so they vary more than hits do.
        atLeast: 0.75,
      },
      { text: `evictions of 6 shards, x${last} ÷ x1`, figure: grown, unit: 'times' },
      {
        text: 'rate of 6 shards ÷ of 1, as fast as possible; not seen when the driver was full',
        figure: isFull ? undefined : slow && fast && fast.perSecond / slow.perSecond,
        unit: 'times',
      },
    ];
  },
  notes: () => [
    `${bytesText(TOTAL_MEMORY_BYTES)} of maxmemory are split evenly (allkeys-lru) and hold about half of the ${countText(PUBLISHED_MIX.keys)} keys of the published mix. They are filled by RESP mass import with keys drawn as the mix draws them, so that rarely requested keys are gone before anything is measured.`,
    'Each shard has an even part of the keys, drawn by the same normal distribution: what hashing to slots leaves of it on each shard.',
    `x1 is ${countText(X1_PER_SECOND)} commands/s of all clients together, sent when they are due whatever was answered; the driver counts the time from then. A miss is not written back, as memtier does not either; only the writes of the mix are.`,
    'Each row is the calmer of two runs (by its p99) that took turns with the others. Rows whose limit is the store share the cores of the store.',
  ],
});

function shardsName(count: number): string {
  return count === 1 ? '1 shard' : `${count} shards`;
}

function loadName(growth: number | undefined): string {
  return growth === undefined ? 'as fast as possible' : `x${growth}`;
}

function inTurn(lab: Lab, variants: readonly Variant[]): Promise<readonly ShardRow[]> {
  return alternately(
    variants,
    ROUNDS,
    (variant: Variant, before: readonly ShardRow[]) => measured(lab, variant, before.length),
    ({ p99Ms }) => p99Ms,
  );
}

async function startSide(lab: Lab, count: number) {
  const own = Math.floor(TOTAL_MEMORY_BYTES / count);
  const stores = await Array.fromAsync({ length: count }, () => lab.startStore({ config: [`maxmemory ${own}`] }));
  lab.say(`filling ${countText(count)} of ${bytesText(own)}`);
  // All at once: one after the other, small shards had 2 to 4 points fewer hits. The clock by which a store knows what was
  // used last has steps of a second, and a small shard is filled within one.
  await Promise.all(
    stores.map((store, shard) => massImport(lab, store, settledCommands(mixOf(count), createRandom(shard + 1).next))),
  );
  await driven(lab, stores, { ...loadOf(count), seconds: lab.seconds(SETTLING_SECONDS) });
  return { shards: count, stores };
}

function loadOf(count: number): Pick<DrivePlan, 'connections' | 'commands'> {
  return { connections: CONNECTIONS, commands: { kind: 'mix', ...mixOf(count) } };
}

function mixOf(count: number): Mix {
  return { ...PUBLISHED_MIX, keys: Math.floor(PUBLISHED_MIX.keys / count) };
}

async function measured(lab: Lab, { side, growth }: Variant, round: number) {
  const { shards: count, stores } = side;
  lab.say(`${shardsName(count)}, ${loadName(growth)}`);
  const before = await countersOf(stores);
  const ran = await driven(lab, stores, {
    ...loadOf(count),
    seconds: lab.seconds(SECONDS),
    // With the same seed the keys would be in the store already, and nothing would be evicted.
    seed: 100 * (1 + round) + (growth ?? 0),
    ratePerSecond: growth === undefined ? undefined : growth * X1_PER_SECOND,
  });
  const after = await countersOf(stores);
  const busy = { storeCores: sum(ran.watchedCores), generatorCores: ran.generatorCores };
  return {
    shards: count,
    growth,
    perSecond: ran.perSecond,
    p99Ms: ran.p99Ms,
    ...memoryFigures(before, after, ran.seconds),
    ...busy,
    busiestCores: ran.storeCores,
    // The driver is one process, on any number of cores.
    limit: limitOfStores(lab.cores, count, busy, { clients: 1 }),
  };
}

type Counters = Awaited<ReturnType<typeof countersOf>>;

/** Counted since the stores started, all of them together. */
export async function countersOf(stores: readonly Pick<LabStore, 'info'>[]) {
  const all = await Promise.all(stores.map((store) => store.info('stats')));
  const total = (name: string): number => sum(all.map((fields) => Number(fields[name])));
  return { hits: total('keyspace_hits'), misses: total('keyspace_misses'), evicted: total('evicted_keys') };
}

/** Share of the reads that were hits, and evictions, between two readings that are `seconds` of load apart. */
export function memoryFigures(before: Counters, after: Counters, seconds: number) {
  const [hits, misses] = [after.hits - before.hits, after.misses - before.misses];
  return { hitRatio: hits / (hits + misses), evictionsPerSecond: (after.evicted - before.evicted) / seconds };
}

/** Writes of a key on average. More changes nothing that shows in the hit ratio. */
const WRITES_PER_KEY = 1.5;

/**
 * SETs of keys as the mix asks for them, for `massImport`: a store that evicts keeps the last ones written, so keys in
 * order would leave the upper half of them, and not those that are asked for most.
 */
export function settledCommands(mix: Mix, random: () => number): Iterable<readonly (string | Buffer)[]> {
  const writes = { ...mix, keys: mix.keys * WRITES_PER_KEY };
  return fillCommands(writes, random, () => mixKey(gaussianKey(mix.keys, random)));
}

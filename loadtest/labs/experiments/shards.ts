import { createRandom } from '../../../src/catalogue/demo/ad.ts';
import { bytesText, countText } from '../../../src/report/format.ts';
import { driven } from '../kit/driven.ts';
import type { DrivePlan } from '../kit/driver/plan.ts';
import type { Experiment, Lab, LabStore } from '../kit/lab.ts';
import { type Mix, massImport, PUBLISHED_MIX } from '../kit/mix.ts';
import { alternately } from '../kit/rounds.ts';
import { limitOfStores, sum } from './one-and-three.ts';
import { shardsCommand } from './shards/command.ts';
import { countersOf, memoryFigures } from './shards/counters.ts';
import { type ShardRow, shardsLesson } from './shards/lesson.ts';
import { settledCommands } from './shards/settled-commands.ts';
import { hitChart, loadTable, memoryTable, processorChart } from './shards/tables.ts';

const SHARDS: readonly number[] = [1, 3, 6];
/** Half of what the published keys take: so much is evicted as in a cache that has outgrown its memory. */
const TOTAL_MEMORY_BYTES = 160 * 2 ** 20;
/** Of all clients together, a multiple of every number of shards. */
const CONNECTIONS = 60;
/** x1 of the load, far below what one store can do, so that x5 is a rate as well. */
const X1_PER_SECOND = 4000;
const GROWTHS: readonly number[] = [1, 3, 5];
const ROUNDS = 2;
const SECONDS = 2;
/** As fast as possible: what filling and connecting took from the pages is theirs again. */
const SETTLING_SECONDS = 1.5;

interface Side {
  readonly shards: number;
  readonly stores: readonly LabStore[];
  /** Before there was anything in them, of one. */
  readonly emptyBytes: number;
}

interface Variant {
  readonly side: Side;
  /** Absent: as fast as possible. */
  readonly growth?: number;
}

/** The same memory in one shard, three or six, under a load that grows. */
export const shards: Experiment = {
  varies:
    '1, 3 and 6 shards of one total memory, a working set larger than it, rates from x1 to x5 and as fast as possible',
  parts: ['redis'],
  run: async (lab) => {
    const sides: Side[] = [];
    for (const count of SHARDS) sides.push(await startSide(lab, count));
    const atRates = GROWTHS.flatMap((growth) => sides.map((side) => ({ side, growth })));
    // Full speed last: its buffers are paid from maxmemory, and a slow row would take a while to fill what they leave.
    const rows = [
      ...(await inTurn(lab, atRates)),
      ...(await inTurn(
        lab,
        sides.map((side) => ({ side })),
      )),
    ];
    return {
      title: 'More shards of the same memory',
      published: '×3 shards were only a temporary cure: evictions came back with the next growth',
      tables: [loadTable(rows), memoryTable(sides, TOTAL_MEMORY_BYTES)],
      charts: [hitChart(rows), processorChart(rows)],
      lesson: shardsLesson(rows, lab.cores.storeCount),
      notes: [
        `${bytesText(TOTAL_MEMORY_BYTES)} of maxmemory are split evenly (allkeys-lru) and hold about half of the ${countText(PUBLISHED_MIX.keys)} keys of the published mix. They were filled by RESP mass import with keys drawn as the mix draws them, so that what is rarely asked for is gone before anything is measured.`,
        'Each shard has an even part of the keys, drawn by the same normal distribution: what hashing to slots leaves of it on each shard.',
        `x1 is ${countText(X1_PER_SECOND)} commands/s of all clients together, sent when they are due whatever was answered; the driver counts the time from then. A miss is not written back, as memtier does not either; only the writes of the mix are.`,
        'Each row is the calmer of two runs (by its p99) that took turns with the others.',
      ],
    };
  },
};

async function inTurn(lab: Lab, variants: readonly Variant[]): Promise<readonly ShardRow[]> {
  const all = await alternately(
    variants,
    ROUNDS,
    (variant: Variant, before: readonly ShardRow[]) => measured(lab, variant, before.length),
    ({ p99Ms }) => p99Ms,
  );
  return all.map(({ run }) => run);
}

async function startSide(lab: Lab, count: number): Promise<Side> {
  const own = memoryOf(count);
  const stores: LabStore[] = [];
  for (let shard = 0; shard < count; shard += 1) {
    stores.push(await lab.startStore({ config: [`maxmemory ${own}`] }));
  }
  const [first] = stores;
  const emptyBytes = Number((await first?.info('memory'))?.['used_memory']);
  lab.say(`filling ${countText(count)} of ${bytesText(own)}`);
  // All at once: one after the other, small shards had 2 to 4 points fewer hits. The clock by which a store knows what was
  // used last has steps of a second, and a small shard is filled within one.
  await Promise.all(
    stores.map((store, shard) =>
      massImport(settledCommands(mixOf(count), createRandom(shard + 1).next), {
        ...store,
        cores: lab.cores.generator,
        signal: lab.signal,
      }),
    ),
  );
  await driven(lab, stores, { ...loadOf(count), seconds: lab.seconds(SETTLING_SECONDS) });
  return { shards: count, stores, emptyBytes };
}

function loadOf(count: number): Pick<DrivePlan, 'connections' | 'commands'> {
  return { connections: CONNECTIONS, commands: { kind: 'mix', ...mixOf(count) } };
}

function memoryOf(count: number): number {
  return Math.floor(TOTAL_MEMORY_BYTES / count);
}

function mixOf(count: number): Mix {
  return { ...PUBLISHED_MIX, keys: Math.floor(PUBLISHED_MIX.keys / count) };
}

async function measured(lab: Lab, { side, growth }: Variant, round: number): Promise<ShardRow> {
  const { shards: count, stores } = side;
  const load = growth === undefined ? 'as fast as possible' : `x${growth}`;
  lab.say(`${count} ${count === 1 ? 'shard' : 'shards'}, ${load}`);
  const before = await countersOf(stores);
  const ran = await driven(lab, stores, {
    ...loadOf(count),
    seconds: lab.seconds(SECONDS),
    // The same commands again would find what they wrote the last time, and evict nothing.
    seed: 100 * (1 + round) + (growth ?? 0),
    ...(growth !== undefined && { ratePerSecond: growth * X1_PER_SECOND }),
  });
  const after = await countersOf(stores);
  const busy = { storeCores: sum(ran.watchedCores), generatorCores: ran.generatorCores };
  return {
    shards: count,
    ...(growth !== undefined && { growth }),
    perSecond: ran.perSecond,
    p99Ms: ran.latencyMs.p99,
    ...memoryFigures(before, after, ran.seconds),
    ...busy,
    busiestCores: ran.storeCores,
    // One driver, whatever cores there are.
    limit: limitOfStores(lab.cores, count, busy, { clients: 1 }),
    command: shardsCommand({
      shards: count,
      mix: mixOf(count),
      maxBytes: memoryOf(count),
      clients: CONNECTIONS / count,
      ...(growth !== undefined && { perClientPerSecond: (growth * X1_PER_SECOND) / CONNECTIONS }),
    }),
  };
}

import { processFile, statFields } from '../../../stack/processors.ts';
import { type Benchmark, benchmark } from '../../kit/benchmark.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import { commandStats, peakClientBytes } from '../../kit/meters.ts';
import { PUBLISHED_MIX } from '../../kit/mix.ts';

export const BATCHES: readonly number[] = [1, 10, 50, 100, 200, 500];
export const LOADS: readonly number[] = [1, 10, 50];

export const PAGES = PUBLISHED_MIX.keys;
/** redis-benchmark replaces the number: `page:000000000012`. */
export const PAGE = 'page:__rand_int__';

/** They take a few tens of milliseconds. */
const PILOT_REQUESTS = 5000;
const MEMORY_INTERVAL_MS = 60;

export type BatchRow = ReturnType<typeof batchRow>;

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
export async function sweep(lab: Lab, store: LabStore, seconds: number) {
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

export function loadName(clients: number): string {
  return clients === 1 ? 'one connection' : `${clients} connections`;
}

interface Meters {
  /** Kernel time since the store started, in steps of 10 ms: a store that keeps nothing on disk spends it on its sockets. */
  readonly systemMs: number;
  readonly calls: number;
}

async function readMeters(store: LabStore): Promise<Meters> {
  const { calls } = await commandStats(store, 'get');
  return { systemMs: Number(statFields(processFile(store.pid(), 'stat'))(15)) * 10, calls };
}

/** Kernel time of the store per command, over all runs: steps of 10 ms say little about one of them. Undefined: no calls. */
export function networkUsOf(runs: readonly Pick<Run, 'before' | 'after'>[]): number | undefined {
  const grown = (name: keyof Meters): number =>
    runs.reduce((sum, { before, after }) => sum + after[name] - before[name], 0);
  return grown('calls') === 0 ? undefined : (grown('systemMs') * 1000) / grown('calls');
}

import { type Benchmark, benchmark } from '../../kit/benchmark.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import { wholeRounds } from '../../kit/rounds.ts';
import { PAGE, PAGES } from './pages.ts';
import { peakDuring } from './peak-during.ts';
import { addedMeters, type Meters, readMeters, type TimeShare, timeShareOf } from './time-share.ts';

/** Commands of a pipeline, and connections that send such pipelines. */
export const BATCHES: readonly number[] = [1, 10, 50, 100, 200, 500];
export const LOADS: readonly number[] = [1, 10, 50];

export function loadName(clients: number): string {
  return clients === 1 ? 'one connection' : `${clients} connections`;
}

/** One size of batch under one load: the better of its runs. */
export interface BatchRow extends Benchmark {
  readonly clients: number;
  readonly pipeline: number;
  /** From sending a batch to its last reply, on average: what is under way over what is answered. */
  readonly wholeMs: number;
  /** Most that the store held for its clients at one time. */
  readonly clientBytes: number | undefined;
  readonly share: TimeShare | undefined;
}

interface Run {
  readonly ran: Benchmark;
  readonly before: Meters;
  readonly after: Meters;
  readonly peak: number | undefined;
}

/** Some tens of milliseconds: the run after it says the rate, the one on the way back takes that one's word. */
const PILOT = 5000;
const LOOK_EVERY_MS = 60;

/**
 * Every batch at every load, from small to large and back again, each time for half of a row's time: what the machine
 * does meanwhile takes from both ends alike.
 */
export async function sweep(lab: Lab, store: LabStore, seconds: number): Promise<readonly BatchRow[]> {
  const rows: BatchRow[] = [];
  for (const clients of LOADS) {
    const all = BATCHES.map((pipeline) => ({ pipeline, runs: [] as Run[] }));
    for (const { pipeline, runs } of [...all, ...all.toReversed()]) {
      lab.say(`${loadName(clients)}, ${pipeline} commands at once`);
      runs.push(await once(lab, { store, clients, pipeline, seconds: seconds / 2, earlier: runs.at(-1)?.ran }));
    }
    for (const { pipeline, runs } of all) rows.push(batchRow(clients, pipeline, runs));
  }
  return rows;
}

interface OnceOptions {
  readonly store: LabStore;
  readonly clients: number;
  readonly pipeline: number;
  readonly seconds: number;
  /** Its rate says how many requests fill the time. */
  readonly earlier: Benchmark | undefined;
}

async function once(lab: Lab, { store, clients, pipeline, seconds, earlier }: OnceOptions): Promise<Run> {
  const load = { store, clients, pipeline, keySpace: PAGES, command: ['GET', PAGE], seconds };
  const before = await readMeters(store);
  const { perSecond } = earlier ?? (await benchmark(lab, { ...load, requests: Math.max(PILOT, clients * pipeline) }));
  const { result: ran, peak } = await peakDuring(
    () => benchmark(lab, { ...load, requests: wholeRounds({ clients, pipeline, perSecond, seconds }) }),
    async () => Number((await store.info('memory'))['mem_clients_normal']),
    LOOK_EVERY_MS,
  );
  return { ran, before, after: await readMeters(store), peak };
}

/** The run with the higher rate, with what all of them together say of memory and of the store's time. */
export function batchRow(clients: number, pipeline: number, runs: readonly Run[]): BatchRow {
  const [best] = runs.map(({ ran }) => ran).toSorted((one, other) => other.perSecond - one.perSecond);
  if (best === undefined) throw new Error('a row needs a run');
  const peaks = runs.flatMap(({ peak }) => peak ?? []);
  return {
    ...best,
    clients,
    pipeline,
    wholeMs: (clients * pipeline * 1000) / best.perSecond,
    clientBytes: peaks.length === 0 ? undefined : Math.max(...peaks),
    share: timeShareOf(addedMeters(runs)),
  };
}

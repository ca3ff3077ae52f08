import { type Benchmark, benchmark } from '../../kit/benchmark.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import { BENCHMARK_KEYS } from '../many-clients/wide-store.ts';

export interface ThreadsRow extends Benchmark {
  readonly threads: number;
}

/** The published ones are 7–10, and 50. */
export const THREADS = [1, 2, 4, 8, 50];
export const THREAD_CLIENTS = 200;
/** Else a store of one thread is full by the first, and all the rows are the same. */
export const THREAD_PIPELINE = 16;
const SECONDS = 1.5;
/** With --threads it looks four times a second whether it is done: a short pilot would measure that. */
const PILOT_REQUESTS = 200_000;

/** One process with so many threads, all of them sending as fast as they can. */
export async function clientThreads(lab: Lab, store: LabStore): Promise<readonly ThreadsRow[]> {
  const rows: ThreadsRow[] = [];
  for (const threads of THREADS) {
    lab.say(`client threads: ${threads}`);
    const run = await benchmark(lab, {
      store,
      threads,
      clients: THREAD_CLIENTS,
      pipeline: THREAD_PIPELINE,
      command: ['GET', 'small:__rand_int__'],
      keySpace: BENCHMARK_KEYS,
      seconds: lab.seconds(SECONDS),
      pilot: PILOT_REQUESTS,
    });
    rows.push({ ...run, threads });
  }
  return rows;
}

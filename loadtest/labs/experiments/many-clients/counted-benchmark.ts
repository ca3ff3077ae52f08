import { rowOf } from '../../kit/benchmark.ts';
import type { Limit } from '../../kit/finding.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import { type Busy, limitOf, storeCoresDuring } from '../../kit/meters.ts';
import { runProgram } from '../../kit/programs.ts';
import { usOf } from './driven-row.ts';
import { BENCHMARK_KEYS } from './wide-store.ts';

export interface CountedOptions {
  readonly store: LabStore;
  /** One of the addresses of the store. */
  readonly host: string;
  readonly clients: number;
  readonly requests: number;
  /** A new connection for each request. */
  readonly reconnects?: true;
}

export interface Counted {
  readonly clients: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly storeCores: number;
  readonly generatorCores: number;
  readonly storeUs: number;
  readonly limit: Limit;
  readonly command: string;
}

/** It watches no file with a higher number: an event loop of 1024 × 10. */
export const MOST_CLIENTS = 10_000;
const LIMIT_MS = 60_000;
/** While it opens connections it sleeps so long after each so many, to spare listeners: redis-benchmark.c, createMissingClients. */
const [PAUSE_AFTER, PAUSE_SECONDS] = [65, 0.05];

/**
 * One run of redis-benchmark with a number of requests that is known: a pilot with 10,000 clients takes eight seconds.
 * Cores are those of the time in which it did not sleep.
 */
export async function countedBenchmark(lab: Lab, options: CountedOptions): Promise<Counted> {
  const { store, host, clients, requests, reconnects } = options;
  const own = [
    ...['-c', String(clients), '-n', String(requests), '-r', String(BENCHMARK_KEYS)],
    ...(reconnects ? ['-k', '0'] : []),
    ...['-t', 'get'],
  ];
  const { result, storeCores, seconds } = await storeCoresDuring([store], () =>
    runProgram({
      command: 'redis-benchmark',
      args: ['-h', host, '-p', String(store.port), '--csv', ...own],
      cores: lab.cores.generator,
      limitMs: LIMIT_MS,
      signal: lab.signal,
    }),
  );
  const busy = awakeCores({ clients, seconds, storeCores, processorSeconds: result.processorSeconds });
  const { perSecond, latencyMs } = rowOf(result.output);
  return {
    clients,
    perSecond,
    p50Ms: latencyMs.p50,
    p99Ms: latencyMs.p99,
    ...busy,
    storeUs: usOf(busy.storeCores, perSecond),
    limit: limitOf(busy),
    command: `redis-benchmark -p 6379 ${own.join(' ')}`,
  };
}

/** @param seconds of the whole run, over which `storeCores` are; `processorSeconds` are the generator's. */
export function awakeCores(run: {
  readonly clients: number;
  readonly seconds: number;
  readonly storeCores: number;
  readonly processorSeconds: number;
}): Busy {
  const awakeSeconds = run.seconds - pauseSeconds(run.clients);
  return {
    storeCores: (run.storeCores * run.seconds) / awakeSeconds,
    generatorCores: run.processorSeconds / awakeSeconds,
  };
}

export function pauseSeconds(clients: number): number {
  return Math.floor(clients / PAUSE_AFTER) * PAUSE_SECONDS;
}

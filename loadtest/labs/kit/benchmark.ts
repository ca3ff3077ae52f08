import type { Limit } from './finding.ts';
import type { Cores, Lab, LabStore } from './lab.ts';
import { busyOf, limitOf, type Room, storeCoresDuring } from './meters.ts';
import { runProgram } from './programs.ts';

export interface BenchmarkOptions {
  readonly store: LabStore;
  readonly clients: number;
  /** Commands sent at once by each client. */
  readonly pipeline?: number;
  readonly threads?: number;
  /** Bytes of a value of `SET`. It does not size what `GET` returns. */
  readonly dataBytes?: number;
  /** Number of keys, chosen at random. */
  readonly keySpace?: number;
  /** A new connection for each request. */
  readonly reconnects?: true;
  readonly isCluster?: true;
  /** `SET`, `GET`, `INCR`; or a whole command in which `__rand_int__` stands for a random number. */
  readonly test?: string;
  readonly command?: readonly string[];
  /** Duration of the measurement, as nearly as a number of requests can set it. */
  readonly seconds: number;
  /** Requests of the first pilot; a small number where each is large. */
  readonly pilot?: number;
  /** Requests that fill the time, when this is known: there is no pilot. */
  readonly requests?: number;
}

export interface Benchmark {
  readonly perSecond: number;
  readonly latencyMs: {
    readonly mean: number;
    readonly p50: number;
    readonly p95: number;
    readonly p99: number;
    readonly max: number;
  };
  readonly requests: number;
  readonly seconds: number;
  readonly storeCores: number;
  readonly generatorCores: number;
  readonly limit: Limit;
  /** The command that repeats it, on the standard port. */
  readonly command: string;
}

const LEAST_REQUESTS = 50;
const PILOT_SECONDS = 0.15;

/** One measurement by redis-benchmark, or by valkey-benchmark for Valkey: a short pilot says how many requests fill the time. */
export async function benchmark(lab: Lab, options: BenchmarkOptions): Promise<Benchmark> {
  const { store, pilot = 2000 } = options;
  const guess = async (): Promise<number> => {
    const first = await once(lab, options, Math.max(pilot, options.clients));
    // A pilot of a few milliseconds is inaccurate, so a longer one follows.
    const longer = Math.max(pilot, options.clients, Math.round(first.perSecond * PILOT_SECONDS));
    const second = await once(lab, options, longer);
    return requestsFor(second.perSecond, options);
  };
  const requests = options.requests ?? (await guess());
  const { result, storeCores } = await storeCoresDuring([store], () => once(lab, options, requests));
  const busy = busyOf(storeCores, result);
  const limit = limitOf(busy, roomFor(options, lab.cores));
  return { ...result, storeCores, generatorCores: busy.generatorCores, limit };
}

/** Requests that fill the time at a measured rate; at least one for each client. */
export function requestsFor(
  perSecond: number,
  { clients, seconds }: Pick<BenchmarkOptions, 'clients' | 'seconds'>,
): number {
  return Math.max(LEAST_REQUESTS, clients, Math.round(perSecond * seconds));
}

/** Threads beyond the number of cores do not run at once. */
export function roomFor({ threads = 1 }: Pick<BenchmarkOptions, 'threads'>, { generatorCount }: Cores): Room {
  return { storeCores: 1, generatorCores: Math.min(threads, generatorCount) };
}

async function once(lab: Lab, options: BenchmarkOptions, requests: number) {
  const { store } = options;
  const tool = toolOf(store);
  const own = argumentsOf(options, requests);
  const tls = store.caFile === undefined ? [] : ['--tls', '--cacert', store.caFile];
  const ran = await runProgram({
    command: tool,
    args: ['-h', store.host, '-p', String(store.port), ...tls, '--csv', ...own],
    cores: lab.cores.generator,
    limitMs: (options.seconds + 30) * 1000,
    signal: lab.signal,
  });
  return {
    ...rowOf(ran.output),
    requests,
    seconds: ran.seconds,
    processorSeconds: ran.processorSeconds,
    command: commandOf(options, requests),
  };
}

/** The command that repeats it: a store on the standard port, the CA file in the current folder. */
export function commandOf(
  options: Omit<BenchmarkOptions, 'store'> & { readonly store: Asked },
  requests: number,
): string {
  const tls = options.store.caFile === undefined ? '' : ' --tls --cacert ca.crt';
  return `${toolOf(options.store)} -p 6379${tls} ${argumentsOf(options, requests).map(quoted).join(' ')}`;
}

type Asked = Pick<LabStore, 'flavour' | 'caFile'>;

function toolOf({ flavour }: Asked): string {
  return flavour === 'valkey' ? 'valkey-benchmark' : 'redis-benchmark';
}

function argumentsOf(options: Omit<BenchmarkOptions, 'store'>, requests: number): string[] {
  const { clients, pipeline, threads, dataBytes, keySpace, reconnects, isCluster, test, command } = options;
  return [
    ...['-c', String(clients), '-n', String(requests)],
    ...(pipeline === undefined ? [] : ['-P', String(pipeline)]),
    ...(threads === undefined ? [] : ['--threads', String(threads)]),
    ...(dataBytes === undefined ? [] : ['-d', String(dataBytes)]),
    ...(keySpace === undefined ? [] : ['-r', String(keySpace)]),
    ...(reconnects ? ['-k', '0'] : []),
    ...(isCluster ? ['--cluster'] : []),
    ...(test === undefined ? [] : ['-t', test.toLowerCase()]),
    ...(command ?? []),
  ];
}

/** The last line that `--csv` printed. @throws when there is none. */
export function rowOf(csv: string): Pick<Benchmark, 'perSecond' | 'latencyMs'> {
  const lines = csv.split('\n').filter((line) => line.startsWith('"'));
  const [names = '', row = ''] = [lines[0], lines.at(-1)];
  const values = row.split('","').map((text) => text.replaceAll('"', ''));
  const value = (name: string): number => {
    const number = Number(values[names.split('","').findIndex((one) => one.replaceAll('"', '') === name)]);
    if (Number.isFinite(number)) return number;
    throw new Error(`the benchmark printed no ${name}: ${csv.trim().slice(0, 400)}`);
  };
  return {
    perSecond: value('rps'),
    latencyMs: {
      mean: value('avg_latency_ms'),
      p50: value('p50_latency_ms'),
      p95: value('p95_latency_ms'),
      p99: value('p99_latency_ms'),
      max: value('max_latency_ms'),
    },
  };
}

function quoted(word: string): string {
  return /^[\w.:{}/-]+$/.test(word) ? word : `'${word}'`;
}

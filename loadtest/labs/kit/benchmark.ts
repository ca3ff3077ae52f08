import type { Latency } from './driver/plan.ts';
import type { Cores, Lab, LabStore } from './lab.ts';
import { busyOf, limitOf, type Room, storeCoresDuring } from './meters.ts';
import { respCommand } from './mix.ts';
import { runProgram } from './programs.ts';
import { wholeRounds } from './rounds.ts';

export interface BenchmarkOptions {
  readonly store: LabStore;
  readonly clients: number;
  /** Commands that each client sends at once. */
  readonly pipeline?: number;
  readonly threads?: number;
  /** Size of a value of `SET`. The replies of `GET` do not depend on it. */
  readonly dataBytes?: number;
  /** Number of keys to choose from at random. */
  readonly keySpace?: number;
  /** `SET`, `GET` or `INCR`. */
  readonly test?: string;
  /** A command instead of a test. `__rand_int__` is replaced by a random number. */
  readonly command?: readonly string[];
  /** Approximate duration: the tool takes a number of requests. */
  readonly seconds: number;
  /** Requests of the first pilot; fewer where each one is large. Default: 2000. */
  readonly pilot?: number;
  /** Number of requests, if known. Then there is no pilot. */
  readonly requests?: number;
  /** The rate of an earlier run, if known: it tells how many requests fill the time, in place of the pilots. */
  readonly expectedPerSecond?: number | undefined;
}

export type Benchmark = Awaited<ReturnType<typeof benchmark>>;

const MIN_REQUESTS = 50;
const PILOT_SECONDS = 0.15;

/** One measurement by redis-benchmark, or by valkey-benchmark for Valkey. Short pilots find the number of requests that fill the time. */
export async function benchmark(lab: Lab, options: BenchmarkOptions) {
  const { store, pilot = 2000, expectedPerSecond } = options;
  const guess = async (): Promise<number> => {
    if (expectedPerSecond !== undefined) return wholeRounds({ ...options, perSecond: expectedPerSecond });
    const rateOf = async (requests: number) => (await once(lab, options, requests)).perSecond;
    return requestsFor(await pilotRate(rateOf, Math.max(pilot, options.clients)), options);
  };
  const requests = options.requests ?? (await guess());
  const { result, storeCores } = await storeCoresDuring([store], () => once(lab, options, requests));
  const busy = busyOf(storeCores, result);
  const { processorSeconds: _, ...figures } = result;
  return { ...figures, ...busy, limit: limitOf(busy, roomFor(options, lab.cores)) };
}

/** The rate by two pilots: the first one, of a few milliseconds, is inaccurate and tells the length of the second. */
export async function pilotRate(rateOf: (requests: number) => Promise<number>, least: number): Promise<number> {
  return rateOf(Math.max(least, Math.round((await rateOf(least)) * PILOT_SECONDS)));
}

/** The number of requests that fill the time at this rate; at least one for each client. */
export function requestsFor(
  perSecond: number,
  { clients, seconds }: Pick<BenchmarkOptions, 'clients' | 'seconds'>,
): number {
  return Math.max(MIN_REQUESTS, clients, Math.round(perSecond * seconds));
}

/** A generator cannot use more cores than there are, even with more threads. */
export function roomFor({ threads = 1 }: Pick<BenchmarkOptions, 'threads'>, { generatorCount }: Cores): Room {
  return { storeCores: 1, generatorCores: Math.min(threads, generatorCount) };
}

async function once(lab: Lab, options: BenchmarkOptions, requests: number) {
  const { store } = options;
  const tls = store.caFile === undefined ? [] : ['--tls', '--cacert', store.caFile];
  const ran = await runProgram({
    command: store.flavour === 'valkey' ? 'valkey-benchmark' : 'redis-benchmark',
    args: ['-h', store.host, '-p', String(store.port), ...tls, '--csv', ...argumentsOf(options, requests)],
    cores: lab.cores.generator,
    limitMs: (options.seconds + 30) * 1000,
    signal: lab.signal,
  });
  return {
    ...rowOf(ran.output),
    requests,
    seconds: ran.seconds,
    processorSeconds: ran.processorSeconds,
  };
}

function argumentsOf(options: Omit<BenchmarkOptions, 'store'>, requests: number): string[] {
  const { clients, pipeline, threads, dataBytes, keySpace, test, command } = options;
  return [
    '-c',
    String(clients),
    '-n',
    String(requests),
    ...(pipeline === undefined ? [] : ['-P', String(pipeline)]),
    ...(threads === undefined ? [] : ['--threads', String(threads)]),
    ...(dataBytes === undefined ? [] : ['-d', String(dataBytes)]),
    ...(keySpace === undefined ? [] : ['-r', String(keySpace)]),
    ...(test === undefined ? [] : ['-t', test.toLowerCase()]),
    ...(command ?? []),
  ];
}

/** Reads the last line of the output of `--csv`. @throws when there is none. */
export function rowOf(csv: string): { readonly perSecond: number; readonly latencyMs: Latency } {
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

const [PIECE_BYTES, IMPORT_LIMIT_MS] = [256 * 1024, 60_000];

/**
 * Fills a store by RESP mass import: commands are streamed to `redis-cli --pipe`, which sends them without waiting for
 * replies and counts the replies afterwards (https://redis.io/docs/latest/develop/clients/patterns/bulk-loading/).
 * @returns the number of executed commands. @throws with its output when the store refused one.
 */
export async function massImport(
  lab: Pick<Lab, 'cores' | 'signal'>,
  { host, port, caFile }: Pick<LabStore, 'host' | 'port' | 'caFile'>,
  commands: Iterable<readonly (string | Buffer)[]>,
): Promise<number> {
  const tls = caFile === undefined ? [] : ['--tls', '--cacert', caFile];
  const { output } = await runProgram({
    command: 'redis-cli',
    args: ['-h', host, '-p', String(port), ...tls, '--pipe'],
    cores: lab.cores.generator,
    limitMs: IMPORT_LIMIT_MS,
    input: pieces(commands),
    signal: lab.signal,
  });
  return importedOf(output);
}

/** The number of replies in the output of `redis-cli --pipe`. @throws when a command was refused or there is no count. */
export function importedOf(output: string): number {
  const [, errors, replies] = /errors: (\d+), replies: (\d+)/.exec(output) ?? [];
  if (errors !== '0' || replies === undefined)
    throw new Error(`mass import: ${output.trim().split('\n').slice(-3).join(' ')}`);
  return Number(replies);
}

/** Joins small commands, because writing them to the pipe one by one would dominate the time. */
function* pieces(commands: Iterable<readonly (string | Buffer)[]>): Iterable<Buffer> {
  let [piece, bytes]: [Buffer[], number] = [[], 0];
  for (const words of commands) {
    const one = respCommand(words);
    piece.push(one);
    bytes += one.length;
    if (bytes < PIECE_BYTES) continue;
    yield Buffer.concat(piece);
    [piece, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(piece);
}

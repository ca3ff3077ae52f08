import type { Lab, LabStore } from './lab.ts';
import { loadFigures, storeCoresDuring } from './meters.ts';
import { respCommand } from './mix.ts';
import { runProgram } from './programs.ts';

export interface BenchmarkOptions {
  readonly store: LabStore;
  readonly clients: number;
  /** Commands that each client sends at once. */
  readonly pipeline?: number;
  readonly threads?: number;
  /** Size of a value of `SET`. The replies of `GET` do not depend on it. */
  readonly dataBytes?: number;
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
  const { store, pilot = 2000, expectedPerSecond, clients, pipeline = 1, threads = 1, seconds } = options;
  const guess = async (): Promise<number> => {
    if (expectedPerSecond !== undefined) {
      // Two rounds of all requests in flight at least: a single one consists only of its beginning and its end.
      return Math.max(2 * clients * pipeline, Math.round(expectedPerSecond * seconds));
    }
    const rateOf = async (requests: number) => (await runBenchmark(lab, options, requests)).perSecond;
    return requestsFor(await pilotRate(rateOf, Math.max(pilot, clients)), options);
  };
  const requests = options.requests ?? (await guess());
  const { result, storeCores } = await storeCoresDuring([store], () => runBenchmark(lab, options, requests));
  // A generator cannot use more cores than there are, even with more threads.
  const room = { storeCores: 1, generatorCores: Math.min(threads, lab.cores.generatorCount) };
  return { ...result, ...loadFigures(result, storeCores, room) };
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

type BenchmarkTarget = Pick<LabStore, 'host' | 'port'> & Partial<Pick<LabStore, 'flavour' | 'caFile'>>;

/** One run with a number of requests. @param options `isAnywhere`: on any core, not on those of the generator. */
export async function runBenchmark(
  { cores, signal }: Pick<Lab, 'cores' | 'signal'>,
  options: Omit<BenchmarkOptions, 'store'> & { readonly store: BenchmarkTarget; readonly isAnywhere?: boolean },
  requests: number,
) {
  const { store, test, command = [] } = options;
  const flags = {
    c: options.clients,
    n: requests,
    P: options.pipeline,
    '-threads': options.threads,
    d: options.dataBytes,
    r: options.keySpace,
    t: test?.toLowerCase(),
  };
  const given = Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [`-${name}`, `${value}`]));
  const { output, seconds, processorSeconds } = await runProgram({
    command: store.flavour === 'valkey' ? 'valkey-benchmark' : 'redis-benchmark',
    args: [...addressOf(store), '--csv', ...given, ...command],
    cores: options.isAnywhere ? undefined : cores.generator,
    limitMs: (options.seconds + 30) * 1000,
    signal,
  });
  return { ...rowOf(output), seconds, processorSeconds };
}

function addressOf({ host, port, caFile }: BenchmarkTarget): readonly string[] {
  const tls = caFile === undefined ? [] : ['--tls', '--cacert', caFile];
  return ['-h', host, '-p', String(port), ...tls];
}

/** Reads the last line of the output of `--csv`. @throws when there is none. */
export function rowOf(csv: string) {
  const [names = [], ...rows] = csv
    .split('\n')
    .filter((line) => line.startsWith('"'))
    // The name of the test, a script, may have quotes and commas.
    .map((line) => line.slice(1, -1).split('","'));
  const value = (name: string): number => {
    const number = Number(rows.at(-1)?.[names.indexOf(name)]);
    if (Number.isFinite(number)) return number;
    throw new Error(`the benchmark printed no ${name}: ${csv.trim().slice(0, 400)}`);
  };
  return {
    perSecond: value('rps'),
    meanMs: value('avg_latency_ms'),
    p50Ms: value('p50_latency_ms'),
    p99Ms: value('p99_latency_ms'),
    maxMs: value('max_latency_ms'),
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
  store: BenchmarkTarget,
  commands: Iterable<readonly (string | Buffer)[]>,
): Promise<number> {
  const { output } = await runProgram({
    command: 'redis-cli',
    args: [...addressOf(store), '--pipe'],
    cores: lab.cores.generator,
    limitMs: IMPORT_LIMIT_MS,
    input: pieces(commands),
    signal: lab.signal,
  });
  const [, errors, replies] = /errors: (\d+), replies: (\d+)/.exec(output) ?? [];
  if (errors === '0') return Number(replies);
  throw new Error(`mass import: ${output.trim().split('\n').slice(-3).join(' ')}`);
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

import { type BenchmarkOptions, benchmark } from '../../kit/benchmark.ts';
import { driven } from '../../kit/driven.ts';
import type { Limit } from '../../kit/finding.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import { massImport } from '../../kit/mix.ts';
import { wholeRounds } from '../../kit/rounds.ts';
import { clientsOf, type Way } from './sizes.ts';

/** Values of one size, written or read for a while. */
export interface Transfer {
  readonly way: Way;
  readonly bytes: number;
  readonly pipeline: number;
  readonly perSecond: number;
  /** Of values alone. */
  readonly bytesPerSecond: number;
  /** Undefined: the time was too short for even one whole reply. */
  readonly p99Ms: number | undefined;
  readonly storeCores: number;
  readonly generatorCores: number;
  readonly limit: Limit;
  readonly command: string;
}

export interface TransferOptions {
  readonly store: LabStore;
  readonly bytes: number;
  readonly pipeline: number;
  readonly seconds: number;
  /** Commands per second that are the most there can be, where a link says it: nothing has to be tried first. */
  readonly mostPerSecond?: number;
}

/** All values of one size together: more than a processor's cache, less than anybody's memory. */
const STORED_BYTES = 64 * 2 ** 20;
const MOST_KEYS = 10_000;
const PILOT_BYTES = 32 * 2 ** 20;
const [LEAST_PILOT, MOST_PILOT] = [20, 2000];

/** `SET` by redis-benchmark. */
export async function writeValues(lab: Lab, options: TransferOptions): Promise<Transfer> {
  const { store, bytes, pipeline, seconds } = options;
  const load: BenchmarkOptions = {
    store,
    clients: clientsOf(pipeline),
    ...(pipeline > 1 && { pipeline }),
    dataBytes: bytes,
    keySpace: keysOf(bytes),
    test: 'SET',
    seconds,
    pilot: pilotOf(bytes),
  };
  const requests = await requestsOf(lab, load, options);
  const ran = await benchmark(lab, { ...load, ...(requests !== undefined && { requests }) });
  const { perSecond, storeCores, generatorCores, limit, command } = ran;
  const figures = { perSecond, bytesPerSecond: perSecond * bytes, p99Ms: ran.latencyMs.p99 };
  return { way: 'SET', bytes, pipeline, ...figures, storeCores, generatorCores, limit, command };
}

/**
 * `GET` of values that were stored, by the driver: redis-benchmark stops its clock at the first bytes of a reply.
 * @throws when what was received is less than the values that were asked for.
 */
export async function readValues(lab: Lab, options: Omit<TransferOptions, 'mostPerSecond'>): Promise<Transfer> {
  const { store, bytes, pipeline, seconds } = options;
  const keys = keysOf(bytes);
  const ran = await driven(lab, [store], {
    connections: clientsOf(pipeline),
    pipeline,
    seconds,
    commands: { kind: 'fixed', words: ['GET', 'value:__rand_int__'], keys },
  });
  // Whole pipelines were left when the time was over: the store is through with them before anything else is measured.
  await store.command('PING');
  const bytesPerSecond = valueBytesPerSecond({ bytes, ...ran });
  return {
    way: 'GET',
    bytes,
    pipeline,
    perSecond: bytesPerSecond / bytes,
    bytesPerSecond,
    p99Ms: ran.answered === 0 ? undefined : ran.latencyMs.p99,
    storeCores: ran.storeCores,
    generatorCores: ran.generatorCores,
    limit: ran.limit,
    command: readCommand(
      bytes,
      pipeline,
      wholeRounds({ clients: clientsOf(pipeline), pipeline, perSecond: ran.perSecond, seconds }),
    ),
  };
}

/** Stores the values that `readValues` asks for; nothing else is in the store then. */
export async function storeValues(lab: Lab, store: LabStore, bytes: number): Promise<void> {
  const value = Buffer.alloc(bytes, 'x');
  await store.command('FLUSHALL', 'SYNC');
  const commands = Array.from({ length: keysOf(bytes) }, (_, at) => ['SET', `value:${at}`, value]);
  await massImport(commands, { ...store, cores: lab.cores.generator, signal: lab.signal });
}

/**
 * Values a second by the bytes that were received: of values of megabytes a short time holds few whole replies.
 * @throws when fewer bytes came than the replies that were counted must have carried.
 */
export function valueBytesPerSecond(ran: {
  readonly bytes: number;
  readonly answered: number;
  readonly receivedBytes: number;
  readonly seconds: number;
}): number {
  const { bytes, answered, receivedBytes, seconds } = ran;
  if (receivedBytes < answered * bytes)
    throw new Error(`${answered} replies of ${bytes} bytes were counted, but only ${receivedBytes} bytes received`);
  const around = `$${bytes}\r\n\r\n`.length;
  return (receivedBytes / seconds) * (bytes / (bytes + around));
}

function keysOf(bytes: number): number {
  return Math.max(1, Math.min(MOST_KEYS, Math.floor(STORED_BYTES / bytes)));
}

function pilotOf(bytes: number): number {
  return Math.max(LEAST_PILOT, Math.min(MOST_PILOT, Math.floor(PILOT_BYTES / bytes)));
}

/** Undefined: a guess of the benchmark's own serves. */
async function requestsOf(lab: Lab, load: BenchmarkOptions, options: TransferOptions): Promise<number | undefined> {
  const { bytes, pipeline, seconds, mostPerSecond } = options;
  if (mostPerSecond === undefined && pipeline === 1) return undefined;
  const clients = clientsOf(pipeline);
  // redis-benchmark counts whole milliseconds: what is done within one has no rate.
  const pilot = Math.max(clients * pipeline, pilotOf(bytes));
  const perSecond = mostPerSecond ?? (await benchmark(lab, { ...load, requests: pilot })).perSecond;
  return wholeRounds({ clients, pipeline, perSecond, seconds });
}

/** Keys as redis-benchmark names them, stored by itself first. */
function readCommand(bytes: number, pipeline: number, requests: number): string {
  const keys = keysOf(bytes);
  const depth = pipeline === 1 ? '' : ` -P ${pipeline}`;
  return `redis-benchmark -p 6379 -c 1 -n ${10 * keys} -d ${bytes} -r ${keys} -t set && redis-benchmark -p 6379 -c ${clientsOf(pipeline)} -n ${requests}${depth} -r ${keys} GET key:__rand_int__`;
}

import { bytesText, countText } from '../../../../src/report/format.ts';
import { type Benchmark, benchmark, massImport } from '../../kit/benchmark.ts';
import { driven, p99Of } from '../../kit/driven.ts';
import type { Driven } from '../../kit/driver/drive.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import { namespacesProblem, startNamespace } from '../../kit/namespace.ts';

const [KIB, MIB] = [2 ** 10, 2 ** 20];

export const SIZES: readonly number[] = [1, 4, 16, 64, 256, 1024, 4096].map((size) => size * KIB);

/** Both sides have one thread each, which ten connections keep busy. */
export const CLIENTS = 10;
/** Two pipelines keep both sides busy. Ten pipelines of 20 MB would mostly measure how long it takes to fill them. */
export const PIPELINED_CLIENTS = 2;

export const PUBLISHED = {
  /** `SET` of 4 KiB: commands at once, and their rate. */
  pipeline: 5000,
  pipelinedSetPerSecond: 508_000,
} as const;

export const LINK_BYTES_PER_SECOND = 125_000_000;
/** The queue holds all that ten connections have in flight. A shorter one drops packets and would measure TCP's reaction. */
const LINK = ['tbf', 'rate', '1gbit', 'burst', '256kb', 'latency', '500ms'];
/** From this size on the link is the limit, so its rate says how many requests fill the time. */
const LINK_LIMITS_FROM = 64 * KIB;

const SECONDS = 0.7;
const LINK_SECONDS = 0.8;
/** All values of one size together: more than a processor's cache, less than the memory of a small machine. */
const STORED_BYTES = 64 * MIB;
const MOST_KEYS = 10_000;
const PILOT_BYTES = 32 * MIB;
const [LEAST_PILOT, MOST_PILOT] = [20, 2000];

export type Way = 'SET' | 'GET';

export interface Transfer extends Pick<Benchmark, 'perSecond' | 'storeCores' | 'generatorCores' | 'limit'> {
  readonly way: Way;
  readonly bytes: number;
  readonly pipeline: number;
  /** Values alone. */
  readonly bytesPerSecond: number;
  readonly p99Ms: number | undefined;
}

interface TransferOptions {
  readonly store: LabStore;
  readonly bytes: number;
  readonly pipeline: number;
  readonly seconds: number;
  /** The most commands per second that a link allows: no pilot is needed. */
  readonly mostPerSecond?: number;
}

/** @returns writes before reads, single before pipelined, each from small to large. */
export async function overLoopback(lab: Lab, store: LabStore): Promise<readonly Transfer[]> {
  const rows: Transfer[] = [];
  const seconds = lab.seconds(SECONDS);
  for (const bytes of SIZES) {
    await storeValues(lab, store, bytes);
    for (const [way, measure] of [
      ['GET', readValues],
      ['SET', writeValues],
    ] as const) {
      for (const pipeline of [1, depthOf(bytes)]) {
        lab.say(rowName({ way, bytes, pipeline }));
        rows.push(await measure(lab, { store, bytes, pipeline, seconds }));
      }
    }
  }
  const rank = ({ way, pipeline }: Transfer): number => (way === 'SET' ? 0 : 2) + (pipeline === 1 ? 0 : 1);
  return rows.toSorted((one, other) => rank(one) - rank(other));
}

/** Measures over a link of known bandwidth, which can be full while processors idle. @returns a text: why it cannot. */
export async function overLink(lab: Lab): Promise<readonly Transfer[] | string> {
  const problem = await namespacesProblem([LINK]);
  if (problem !== undefined) return problem;
  const wire = await startNamespace(lab);
  const store = await wire.startStore();
  const shape = async (discipline: readonly string[] | undefined): Promise<void> => {
    await wire.shape('requests', discipline);
    await wire.shape('replies', discipline);
  };
  const rows: Transfer[] = [];
  for (const bytes of SIZES) {
    await shape(undefined);
    await storeValues(lab, store, bytes);
    await shape(LINK);
    const load = { store, bytes, pipeline: 1, seconds: lab.seconds(LINK_SECONDS) };
    lab.say(`over a link of 1 Gbit/s: ${rowName({ way: 'SET', bytes, pipeline: 1 })} and GET`);
    rows.push(await readValues(lab, load));
    const isLimit = bytes >= LINK_LIMITS_FROM;
    const mostPerSecond = isLimit ? LINK_BYTES_PER_SECOND / bytes : undefined;
    rows.push(await writeValues(lab, { ...load, mostPerSecond }));
  }
  return rows.toSorted((one, other) => other.way.localeCompare(one.way));
}

/** `SET of 4 KiB, 5,000 at once` */
export function rowName({ way, bytes, pipeline }: Pick<Transfer, 'way' | 'bytes' | 'pipeline'>): string {
  return `${way} of ${bytesText(bytes)}${pipeline === 1 ? '' : `, ${countText(pipeline)} at once`}`;
}

/** Commands of a pipeline: as published for 4 KiB, and no more bytes at once than that for larger values. */
function depthOf(bytes: number): number {
  return Math.min(PUBLISHED.pipeline, Math.max(1, Math.floor((PUBLISHED.pipeline * 4 * KIB) / bytes)));
}

function clientsOf(pipeline: number): number {
  return pipeline === 1 ? CLIENTS : PIPELINED_CLIENTS;
}

function keysOf(bytes: number): number {
  return Math.max(1, Math.min(MOST_KEYS, Math.floor(STORED_BYTES / bytes)));
}

/** Stores the values that `readValues` asks for, and nothing else. */
export async function storeValues(lab: Lab, store: LabStore, bytes: number): Promise<void> {
  const value = Buffer.alloc(bytes, 'x');
  await store.command('FLUSHALL', 'SYNC');
  const commands = Array.from({ length: keysOf(bytes) }, (_, at) => ['SET', `value:${at}`, value]);
  await massImport(lab, store, commands);
}

export async function writeValues(lab: Lab, options: TransferOptions): Promise<Transfer> {
  const { bytes, pipeline, mostPerSecond } = options;
  const pilot = Math.max(LEAST_PILOT, Math.min(MOST_PILOT, Math.floor(PILOT_BYTES / bytes)));
  const clients = clientsOf(pipeline);
  const load = {
    store: options.store,
    clients,
    pipeline: pipeline > 1 ? pipeline : undefined,
    seconds: options.seconds,
    dataBytes: bytes,
    keySpace: keysOf(bytes),
    test: 'SET',
    pilot,
  };
  // redis-benchmark counts whole milliseconds: a pilot that ends within one has no rate.
  const requests = Math.max(clients * pipeline, pilot);
  const known = pipeline > 1 ? await benchmark(lab, { ...load, requests }) : undefined;
  const ran = await benchmark(lab, { ...load, expectedPerSecond: mostPerSecond ?? known?.perSecond });
  return { ...ran, way: 'SET', bytes, pipeline, bytesPerSecond: ran.perSecond * bytes };
}

/**
 * `GET` of stored values by the driver: redis-benchmark stops its clock at the first bytes of a reply.
 * @throws when fewer bytes were received than the values that were asked for.
 */
export async function readValues(lab: Lab, options: TransferOptions): Promise<Transfer> {
  const { store, bytes, pipeline, seconds } = options;
  const [keys, clients] = [keysOf(bytes), clientsOf(pipeline)];
  const ran = await driven(lab, [store], {
    connections: clients,
    pipeline,
    seconds,
    commands: { kind: 'fixed', words: ['GET', 'value:__rand_int__'], keys },
  });
  // Whole pipelines were in flight when the time ended. The store answers this after them.
  await store.command('PING');
  const bytesPerSecond = valueBytesPerSecond(bytes, ran);
  const perSecond = bytesPerSecond / bytes;
  return { ...ran, way: 'GET', bytes, pipeline, perSecond, bytesPerSecond, p99Ms: p99Of(ran) };
}

/**
 * Value bytes a second by the bytes received, because few whole replies of megabytes arrive in a short time.
 * @throws when fewer bytes came than the counted replies must have carried.
 */
export function valueBytesPerSecond(
  bytes: number,
  { answered, receivedBytes, seconds }: Pick<Driven, 'answered' | 'receivedBytes' | 'seconds'>,
): number {
  if (receivedBytes < answered * bytes)
    throw new Error(`${answered} replies of ${bytes} bytes were counted, but only ${receivedBytes} bytes received`);
  const header = `$${bytes}\r\n\r\n`.length;
  return (receivedBytes / seconds) * (bytes / (bytes + header));
}

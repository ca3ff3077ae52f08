import { type Benchmark, benchmark } from '../../kit/benchmark.ts';
import { driven, type LabDriven } from '../../kit/driven.ts';
import type { Limit } from '../../kit/finding.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import { commandStats } from '../../kit/meters.ts';
import { fillCommand, massImport } from '../../kit/mix.ts';
import { alternately, wholeRounds } from '../../kit/rounds.ts';
import { CLIENTS } from './transfer.ts';

export const BIG_FIELDS = 20_000;
export const SMALL_FIELDS = 30;
/** A field's value: a link, a price and a name. */
export const FIELD_BYTES = 100;
/** `redis-benchmark -t hset` writes to this key. */
const HASH_KEY = 'myhash';

export const READERS = 50;
/** Ten whole hashes a second: one small read in ten may meet one, so that a p99 shows it. */
export const FIELDS_PER_SECOND = 10 * BIG_FIELDS;
export const SMALL_PER_SECOND = 500;
const SMALL_CONNECTIONS = 10;
const READ_SECONDS = 0.6;

const ROUNDS = 3;
const WRITE_SECONDS = 0.4;
/** One at a time, as sites write; and ten at once, where the write itself shows and not the cost of its packet. */
const WRITE_PIPELINES = [1, 10] as const;

/** One way to read a hash, with a number of fields in each reply. */
export interface HashRead {
  readonly name: string;
  readonly fields: number;
  readonly publishedMs?: number;
  /** One client and no other load. Undefined: the time was too short for even one reply. */
  readonly alone: AloneRead | undefined;
  /** Time of a whole reply when `READERS` clients read at once. */
  readonly crowdP99Ms: number | undefined;
  readonly crowdCores: number;
  /** Small reads of other clients, while the hash is read at `FIELDS_PER_SECOND`. */
  readonly besideP99Ms: number | undefined;
  readonly limit: Limit;
  readonly command: string;
}

export interface AloneRead {
  /** From sending the command to the whole reply. */
  readonly replyMs: number;
  /** One reply after the other until all fields were read. */
  readonly wholeMs: number;
  readonly replyBytes: number;
  /** By the store's own count: it does nothing else meanwhile. */
  readonly executionUs: number;
}

export interface HashReads {
  /** p99 of the same small reads without reads of the hash. */
  readonly quietP99Ms: number | undefined;
  readonly rows: readonly HashRead[];
}

export interface HashWrite extends Benchmark {
  /** Fields of the hash. */
  readonly fields: number;
  readonly pipeline: number;
  /** Processor time of the store for one write. */
  readonly storeUs: number;
}

interface HashWay {
  readonly words: readonly string[];
  readonly fields: number;
  readonly publishedMs?: number;
  /** The words as a shell makes them. */
  readonly shown: string;
}

export const WAYS: readonly HashWay[] = [
  { words: ['HGETALL', HASH_KEY], fields: BIG_FIELDS, shown: `HGETALL ${HASH_KEY}` },
  hmget(3000, 10_000),
  hmget(300, 100),
  hmget(30, 20),
  { words: ['HSCAN', HASH_KEY, '0', 'COUNT', '300'], fields: 300, shown: `HSCAN ${HASH_KEY} 0 COUNT 300` },
];

function hmget(fields: number, publishedMs: number): HashWay {
  return {
    words: ['HMGET', HASH_KEY, ...Array.from({ length: fields }, (_, at) => fieldName(at))],
    fields,
    publishedMs,
    shown: `HMGET ${HASH_KEY} $(seq -f 'element:%012g' 0 ${fields - 1})`,
  };
}

/** redis-benchmark's names: `element:000000000012`. */
function fieldName(at: number): string {
  return `element:${String(at).padStart(12, '0')}`;
}

export function hashFill(fields: number): string {
  const sizes = { keys: fields, leastBytes: FIELD_BYTES, mostBytes: FIELD_BYTES };
  return `redis-cli -p 6379 DEL ${HASH_KEY} && ${fillCommand(`HSET ${HASH_KEY} element:%012d`, sizes)}`;
}

async function storeHash(lab: Lab, store: LabStore, fields: number): Promise<void> {
  const value = 'x'.repeat(FIELD_BYTES);
  await store.command('FLUSHALL', 'SYNC');
  const commands = Array.from({ length: fields }, (_, at) => ['HSET', HASH_KEY, fieldName(at), value]);
  await massImport(commands, { ...store, cores: lab.cores.generator, signal: lab.signal });
}

/** Reads one big hash whole and in pieces, and measures small reads of other clients meanwhile. */
export async function hashReads(lab: Lab, store: LabStore): Promise<HashReads> {
  await storeHash(lab, store, BIG_FIELDS);
  await store.command('SET', 'small', 'x'.repeat(100));
  lab.say('small reads beside nothing');
  const quietP99Ms = p99Of(await smallReads(lab, store));
  const rows: HashRead[] = [];
  for (const way of WAYS) rows.push(await hashRead(lab, store, way));
  return { quietP99Ms, rows };
}

async function hashRead(lab: Lab, store: LabStore, way: HashWay): Promise<HashRead> {
  const [name = ''] = way.words;
  const { fields, shown, publishedMs } = way;
  lab.say(`${name} of ${fields} fields`);
  const [seconds, commands] = [lab.seconds(READ_SECONDS), { kind: 'fixed', words: way.words } as const];
  const before = await commandStats(store, name.toLowerCase());
  const alone = await driven(lab, [store], { connections: 1, seconds, commands });
  const after = await commandStats(store, name.toLowerCase());
  const [beside] = await Promise.all([
    smallReads(lab, store),
    driven(lab, [store], { connections: 1, seconds, commands, ratePerSecond: FIELDS_PER_SECOND / fields }),
  ]);
  const crowd = await driven(lab, [store], { connections: READERS, seconds, commands });
  // Fifty replies were under way when the time ended; the store answers this after them, before the next row.
  await store.command('PING');
  const requests = Math.max(READERS, Math.round(crowd.perSecond * seconds));
  return {
    name: fields === BIG_FIELDS ? `${name}, all fields` : `${name}, ${fields} fields at a time`,
    fields,
    ...(publishedMs !== undefined && { publishedMs }),
    alone: aloneRead(alone, fields, (after.us - before.us) / Math.max(1, after.calls - before.calls)),
    ...{ crowdP99Ms: p99Of(crowd), crowdCores: crowd.storeCores, besideP99Ms: p99Of(beside), limit: crowd.limit },
    command: `redis-benchmark -p 6379 -c ${READERS} -n ${requests} ${shown}`,
  };
}

/** A busy machine may answer nothing in the time of a row; the other figures of the row are valid all the same. */
export function aloneRead(
  { answered, latencyMs, receivedBytes }: Pick<LabDriven, 'answered' | 'latencyMs' | 'receivedBytes'>,
  fields: number,
  executionUs: number,
): AloneRead | undefined {
  if (answered === 0) return undefined;
  const replyMs = latencyMs.mean;
  return { replyMs, wholeMs: (replyMs * BIG_FIELDS) / fields, replyBytes: receivedBytes / answered, executionUs };
}

function p99Of({ answered, latencyMs }: LabDriven): number | undefined {
  return answered === 0 ? undefined : latencyMs.p99;
}

function smallReads(lab: Lab, store: LabStore): Promise<LabDriven> {
  return driven(lab, [store], {
    connections: SMALL_CONNECTIONS,
    seconds: lab.seconds(READ_SECONDS),
    commands: { kind: 'fixed', words: ['GET', 'small'] },
    ratePerSecond: SMALL_PER_SECOND,
  });
}

/** Writes single fields into a small hash and into a big one, in turn. */
export async function hashWrites(lab: Lab): Promise<readonly HashWrite[]> {
  const hashes: { readonly fields: number; readonly store: LabStore }[] = [];
  for (const fields of [SMALL_FIELDS, BIG_FIELDS]) hashes.push({ fields, store: await lab.startStore() });
  for (const { store, fields } of hashes) await storeHash(lab, store, fields);
  const variants = WRITE_PIPELINES.flatMap((pipeline) => hashes.map((hash) => ({ ...hash, pipeline })));
  const seconds = lab.seconds(WRITE_SECONDS);
  const all = await alternately<(typeof variants)[number], HashWrite>(
    variants,
    ROUNDS,
    async ({ store, fields, pipeline }, before) => {
      lab.say(`HSET into a hash of ${fields} fields, ${pipeline} at once`);
      const load = {
        store,
        clients: CLIENTS,
        pipeline,
        dataBytes: FIELD_BYTES,
        keySpace: fields,
        test: 'HSET',
        seconds,
      };
      const perSecond = before.at(-1)?.perSecond;
      const requests = perSecond === undefined ? {} : { requests: wholeRounds({ ...load, perSecond }) };
      const ran = await benchmark(lab, { ...load, ...requests });
      const command = `${hashFill(fields)} && ${ran.command}`;
      return { ...ran, fields, pipeline, storeUs: (ran.storeCores * 1e6) / ran.perSecond, command };
    },
    ({ storeUs }) => storeUs,
  );
  return all.map(({ run }) => run);
}

import { type Benchmark, benchmark, massImport } from '../../kit/benchmark.ts';
import { driven, type LabDriven, p99Of } from '../../kit/driven.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import { commandStats } from '../../kit/meters.ts';
import { randomDigits } from '../../kit/mix.ts';
import { alternately } from '../../kit/rounds.ts';
import { CLIENTS } from './transfer.ts';

export const BIG_FIELDS = 20_000;
export const SMALL_FIELDS = 30;
/** A field's value: a link, a price and a name. */
export const FIELD_BYTES = 100;
/** `redis-benchmark -t hset` writes to this key. */
const HASH_KEY = 'myhash';

export const READERS = 50;
/** Ten whole hashes a second: about one small read in ten waits for one, so the p99 shows it. */
export const FIELDS_PER_SECOND = 10 * BIG_FIELDS;
export const SMALL_PER_SECOND = 500;
const SMALL_CONNECTIONS = 10;
const READ_SECONDS = 0.6;

const ROUNDS = 3;
const WRITE_SECONDS = 0.4;
/** One at a time, as sites write; and ten at once, where the write itself shows and not the cost of its packet. */
const WRITE_PIPELINES = [1, 10];

export type HashReads = Awaited<ReturnType<typeof hashReads>>;
export type HashRead = Awaited<ReturnType<typeof hashRead>>;
export type AloneRead = NonNullable<HashRead['alone']>;

interface HashWay {
  readonly words: readonly string[];
  readonly fields: number;
  readonly publishedMs?: number | undefined;
}

export const WAYS: readonly HashWay[] = [
  { words: ['HGETALL', HASH_KEY], fields: BIG_FIELDS },
  hmget(3000, 10_000),
  hmget(300, 100),
  hmget(30, 20),
  { words: ['HSCAN', HASH_KEY, '0', 'COUNT', '300'], fields: 300 },
];

function hmget(fields: number, publishedMs: number): HashWay {
  return {
    words: ['HMGET', HASH_KEY, ...Array.from({ length: fields }, (_, at) => fieldName(at))],
    fields,
    publishedMs,
  };
}

/** redis-benchmark's names. */
function fieldName(at: number): string {
  return `element:${randomDigits(at)}`;
}

async function storeHash(lab: Lab, store: LabStore, fields: number): Promise<void> {
  const value = 'x'.repeat(FIELD_BYTES);
  await store.command('FLUSHALL', 'SYNC');
  const commands = Array.from({ length: fields }, (_, at) => ['HSET', HASH_KEY, fieldName(at), value]);
  await massImport(lab, store, commands);
}

export async function hashReads(lab: Lab, store: LabStore) {
  await storeHash(lab, store, BIG_FIELDS);
  await store.command('SET', 'small', 'x'.repeat(100));
  lab.say('small reads beside nothing');
  /** p99 of the same small reads while nobody reads the hash. */
  const quietP99Ms = p99Of(await smallReads(lab, store));
  return { quietP99Ms, rows: await Array.fromAsync(WAYS, (way) => hashRead(lab, store, way)) };
}

async function hashRead(lab: Lab, store: LabStore, way: HashWay) {
  const [name = ''] = way.words;
  const { fields, publishedMs } = way;
  lab.say(`${name} of ${fields} fields`);
  const load = {
    connections: 1,
    seconds: lab.seconds(READ_SECONDS),
    commands: { kind: 'fixed', words: way.words },
  } as const;
  const before = await commandStats(store, name.toLowerCase());
  const alone = await driven(lab, [store], load);
  const after = await commandStats(store, name.toLowerCase());
  const [beside] = await Promise.all([
    smallReads(lab, store),
    driven(lab, [store], { ...load, ratePerSecond: FIELDS_PER_SECOND / fields }),
  ]);
  const crowd = await driven(lab, [store], { ...load, connections: READERS });
  // Fifty replies were in flight when the time ended. The store answers this after them, before the next row.
  await store.command('PING');
  return {
    name: fields === BIG_FIELDS ? `${name}, all fields` : `${name}, ${fields} fields at a time`,
    fields,
    publishedMs,
    /** One client and no other load. Undefined: the time was too short for even one reply. */
    alone: aloneRead(alone, fields, (after.us - before.us) / Math.max(1, after.calls - before.calls)),
    /** Time of a whole reply when `READERS` clients read at once. */
    crowdP99Ms: p99Of(crowd),
    crowdCores: crowd.storeCores,
    /** Small reads of other clients, while the hash is read at `FIELDS_PER_SECOND`. */
    besideP99Ms: p99Of(beside),
    limit: crowd.limit,
  };
}

/** Undefined: a busy machine answered nothing in the time of the row. The other figures of the row are still valid. */
function aloneRead(
  { answered, meanMs, receivedBytes }: Pick<LabDriven, 'answered' | 'meanMs' | 'receivedBytes'>,
  fields: number,
  executionUs: number,
) {
  if (answered === 0) return undefined;
  return {
    /** From sending the command to the whole reply. */
    replyMs: meanMs,
    /** One reply after the other until all fields were read. */
    wholeMs: (meanMs * BIG_FIELDS) / fields,
    replyBytes: receivedBytes / answered,
    /** By the store's own count: it does nothing else meanwhile. */
    executionUs,
  };
}

function smallReads(lab: Lab, store: LabStore): Promise<LabDriven> {
  return driven(lab, [store], {
    connections: SMALL_CONNECTIONS,
    seconds: lab.seconds(READ_SECONDS),
    commands: { kind: 'fixed', words: ['GET', 'small'] },
    ratePerSecond: SMALL_PER_SECOND,
  });
}

export async function hashWrites(lab: Lab) {
  const hashes = await Array.fromAsync([SMALL_FIELDS, BIG_FIELDS], async (fields) => {
    const store = await lab.startStore();
    await storeHash(lab, store, fields);
    return { fields, store };
  });
  const variants = WRITE_PIPELINES.flatMap((pipeline) => hashes.map((hash) => ({ ...hash, pipeline })));
  return alternately(
    variants,
    ROUNDS,
    async ({ store, fields, pipeline }: (typeof variants)[number], before: readonly Benchmark[]) => {
      lab.say(`HSET into a hash of ${fields} fields, ${pipeline} at once`);
      const ran = await benchmark(lab, {
        store,
        clients: CLIENTS,
        pipeline,
        test: 'HSET',
        dataBytes: FIELD_BYTES,
        keySpace: fields,
        seconds: lab.seconds(WRITE_SECONDS),
        expectedPerSecond: before.at(-1)?.perSecond,
      });
      return { ...ran, fields, pipeline };
    },
    ({ storeUs }) => storeUs,
  );
}

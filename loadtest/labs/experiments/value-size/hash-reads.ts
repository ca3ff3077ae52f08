import { driven, type LabDriven } from '../../kit/driven.ts';
import type { Limit } from '../../kit/finding.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import { commandStats } from '../../kit/meters.ts';
import { BIG_FIELDS, fieldName, HASH_KEY, storeHash } from './hash.ts';

/** One way to read a hash, so many fields a reply. */
export interface HashRead {
  readonly name: string;
  readonly fields: number;
  readonly publishedMs?: number;
  /** One client and nobody else. Undefined: the time was too short for even one reply. */
  readonly alone: AloneRead | undefined;
  /** Of a whole reply, when `CROWD` clients ask at once. */
  readonly crowdP99Ms: number | undefined;
  readonly crowdCores: number;
  /** Of small reads by others, while the hash is read at one number of fields a second. */
  readonly besideP99Ms: number | undefined;
  readonly limit: Limit;
  readonly command: string;
}

export interface AloneRead {
  /** From asking to the whole reply. */
  readonly replyMs: number;
  /** One reply after the other until all fields were read. */
  readonly wholeMs: number;
  readonly replyBytes: number;
  /** By the store's own count: for so long it does nothing else. */
  readonly executionUs: number;
}

export interface HashReads {
  /** p99 of the same small reads when nobody reads the hash. */
  readonly quietP99Ms: number | undefined;
  readonly rows: readonly HashRead[];
}

export const CROWD = 50;
/** Ten whole hashes a second: one small read in ten may meet one, so that a p99 sees it. */
export const FIELDS_PER_SECOND = 10 * BIG_FIELDS;
export const SMALL_PER_SECOND = 500;
const SMALL_CONNECTIONS = 10;
const SECONDS = 0.6;

interface Way {
  readonly words: readonly string[];
  readonly fields: number;
  readonly publishedMs?: number;
  /** The words as a shell makes them. */
  readonly shown: string;
}

export const WAYS: readonly Way[] = [
  { words: ['HGETALL', HASH_KEY], fields: BIG_FIELDS, shown: `HGETALL ${HASH_KEY}` },
  hmget(3000, 10_000),
  hmget(300, 100),
  hmget(30, 20),
  {
    words: ['HSCAN', HASH_KEY, '0', 'COUNT', '300'],
    fields: 300,
    shown: `HSCAN ${HASH_KEY} 0 COUNT 300`,
  },
];

/** Reads one big hash whole and in pieces, and looks at what others feel meanwhile. */
export async function hashReads(lab: Lab, store: LabStore): Promise<HashReads> {
  await storeHash(lab, store, BIG_FIELDS);
  await store.command('SET', 'small', 'x'.repeat(100));
  lab.say('small reads beside nothing');
  const quiet = await smallReads(lab, store);
  const rows: HashRead[] = [];
  for (const way of WAYS) rows.push(await measured(lab, store, way));
  return { quietP99Ms: p99Of(quiet), rows };
}

async function measured(lab: Lab, store: LabStore, way: Way): Promise<HashRead> {
  const [name = ''] = way.words;
  const { fields, shown, publishedMs } = way;
  lab.say(`${name} of ${fields} fields`);
  const [seconds, commands] = [lab.seconds(SECONDS), { kind: 'fixed', words: way.words } as const];
  const before = await commandStats(store, name.toLowerCase());
  const alone = await driven(lab, [store], { connections: 1, seconds, commands });
  const after = await commandStats(store, name.toLowerCase());
  const ratePerSecond = FIELDS_PER_SECOND / fields;
  const [beside] = await Promise.all([
    smallReads(lab, store),
    driven(lab, [store], { connections: 1, seconds, commands, ratePerSecond }),
  ]);
  const crowd = await driven(lab, [store], { connections: CROWD, seconds, commands });
  // Fifty were left waiting when the time was over; the store still works for them, and the next row must not wait for that.
  await store.command('PING');
  const requests = Math.max(CROWD, Math.round(crowd.perSecond * seconds));
  return {
    name: fields === BIG_FIELDS ? `${name}, all fields` : `${name}, ${fields} fields at a time`,
    fields,
    ...(publishedMs !== undefined && { publishedMs }),
    alone: aloneRead(alone, fields, (after.us - before.us) / Math.max(1, after.calls - before.calls)),
    crowdP99Ms: p99Of(crowd),
    crowdCores: crowd.storeCores,
    besideP99Ms: p99Of(beside),
    limit: crowd.limit,
    command: `redis-benchmark -p 6379 -c ${CROWD} -n ${requests} ${shown}`,
  };
}

/** Of a machine that others kept busy there may be none; what else was measured stands all the same. */
export function aloneRead(
  { answered, latencyMs, receivedBytes }: Pick<LabDriven, 'answered' | 'latencyMs' | 'receivedBytes'>,
  fields: number,
  executionUs: number,
): AloneRead | undefined {
  if (answered === 0) return undefined;
  const replyMs = latencyMs.mean;
  return { replyMs, wholeMs: (replyMs * BIG_FIELDS) / fields, replyBytes: receivedBytes / answered, executionUs };
}

/** Undefined: the time was too short for even one reply. */
function p99Of(ran: LabDriven): number | undefined {
  return ran.answered === 0 ? undefined : ran.latencyMs.p99;
}

async function smallReads(lab: Lab, store: LabStore): Promise<LabDriven> {
  return driven(lab, [store], {
    connections: SMALL_CONNECTIONS,
    seconds: lab.seconds(SECONDS),
    commands: { kind: 'fixed', words: ['GET', 'small'] },
    ratePerSecond: SMALL_PER_SECOND,
  });
}

function hmget(fields: number, publishedMs: number): Way {
  const names = Array.from({ length: fields }, (_, at) => fieldName(at));
  return {
    words: ['HMGET', HASH_KEY, ...names],
    fields,
    publishedMs,
    shown: `HMGET ${HASH_KEY} $(seq -f 'element:%012g' 0 ${fields - 1})`,
  };
}

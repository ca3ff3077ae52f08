import { readFileSync } from 'node:fs';
import { createRandom } from '../../../../src/catalogue/demo/ad.ts';
import { benchmark } from '../../kit/benchmark.ts';
import { driven } from '../../kit/driven.ts';
import type { Limit } from '../../kit/finding.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import {
  fillCommand,
  fillCommands,
  massImport,
  memtierCommand,
  memtierFill,
  PUBLISHED_MIX,
  valueBytes,
} from '../../kit/mix.ts';
import { limitOfStores } from '../one-and-three.ts';

/** One measurement of one engine. */
export interface Load {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly storeCores: number;
  readonly generatorCores: number;
  /** Busy cores of the store for 100,000 commands a second: what is left to compare when the generator is full. */
  readonly coresPer100k: number;
  readonly limit: Limit;
  readonly command: string;
}

export const CONNECTIONS = 50;
/** Of redis-benchmark's own keys, with values of the sizes of the mix. */
export const READ_KEYS = 2000;
const READABLE = { ...PUBLISHED_MIX, keys: READ_KEYS };
/** With more io-threads than cores a store answers a thousand a second, and guesses would take longer than the row. */
const PILOT_REQUESTS = 200;

/** The published mix by the driver: one write to four reads. */
export async function mixLoad(lab: Lab, store: LabStore, seconds: number): Promise<Load> {
  const isTls = store.caFile !== undefined;
  const ran = await driven(lab, [store], {
    connections: CONNECTIONS,
    seconds,
    commands: { kind: 'mix', ...PUBLISHED_MIX },
    ...(store.caFile !== undefined && { ca: readFileSync(store.caFile, 'utf8') }),
  });
  return {
    perSecond: ran.perSecond,
    p50Ms: ran.latencyMs.p50,
    p99Ms: ran.latencyMs.p99,
    storeCores: ran.storeCores,
    generatorCores: ran.generatorCores,
    coresPer100k: per100k(ran.storeCores, ran.perSecond),
    limit: ran.limit,
    // Each engine is another store, so each row fills its own.
    command: `${memtierFill(PUBLISHED_MIX, { isTls })} && ${memtierCommand(PUBLISHED_MIX, {
      clients: CONNECTIONS,
      ...(isTls && { more: '--tls --cacert=ca.crt' }),
    })}`,
  };
}

/** Reads of stored values by redis-benchmark, of Valkey too: it must not be the tool that differs. */
export async function readLoad(lab: Lab, store: LabStore, seconds: number, ioThreads: number): Promise<Load> {
  const ran = await benchmark(lab, {
    store: { ...store, flavour: 'redis' },
    clients: CONNECTIONS,
    keySpace: READ_KEYS,
    command: ['GET', 'key:__rand_int__'],
    seconds,
    pilot: PILOT_REQUESTS,
  });
  return {
    perSecond: ran.perSecond,
    p50Ms: ran.latencyMs.p50,
    p99Ms: ran.latencyMs.p99,
    storeCores: ran.storeCores,
    generatorCores: ran.generatorCores,
    coresPer100k: per100k(ran.storeCores, ran.perSecond),
    limit: limitOfStores(lab.cores, ioThreads, ran, { clients: 1 }),
    command: `${fillCommand('SET key:%012d', READABLE, { isTls: store.caFile !== undefined })} && ${ran.command}`,
  };
}

export async function fillMix(lab: Lab, store: LabStore): Promise<void> {
  const options = { ...store, cores: lab.cores.generator, signal: lab.signal };
  await massImport(fillCommands(PUBLISHED_MIX, createRandom(1).next), options);
}

export async function fillReads(lab: Lab, store: LabStore): Promise<void> {
  const options = { ...store, cores: lab.cores.generator, signal: lab.signal };
  await massImport(readable(createRandom(1).next), options);
}

function* readable(random: () => number): Iterable<readonly (string | Buffer)[]> {
  const bytes = Buffer.from(Array.from({ length: PUBLISHED_MIX.mostBytes }, () => 97 + Math.floor(random() * 26)));
  for (let key = 0; key < READ_KEYS; key += 1) {
    yield ['SET', `key:${String(key).padStart(12, '0')}`, bytes.subarray(0, valueBytes(PUBLISHED_MIX, random))];
  }
}

/** Busy cores for 100,000 commands a second. */
export function per100k(cores: number, perSecond: number): number {
  return (cores / perSecond) * 1e5;
}

import { basename } from 'node:path';
import { createRandom } from '../../../random.ts';
import type { Flavour } from '../../../stack/redis-node.ts';
import { type Benchmark, benchmark } from '../../kit/benchmark.ts';
import { driven } from '../../kit/driven.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import { fillCommands, MIX_COMMANDS, PUBLISHED_MIX, randomDigits } from '../../kit/mix.ts';
import { limitOfStores } from '../three-clients.ts';

/** Always measured; others are given by their paths. */
export const BUILT_IN: readonly Flavour[] = ['redis', 'valkey'];

export interface Engine {
  readonly flavour: Flavour;
  /** `Redis 7.0.15`; the file's name when the version is unknown. */
  readonly name: string;
  /** Takes Redis's lines of configuration: TLS and io-threads can be varied. */
  readonly isConfigurable: boolean;
  /** Why it does not serve, the end of a sentence; its row has no figures then. */
  readonly problem?: string;
}

export interface EngineSetting {
  readonly isTls: boolean;
  readonly ioThreads: number;
}

export type Load = Pick<
  Benchmark,
  'perSecond' | 'p50Ms' | 'p99Ms' | 'storeCores' | 'generatorCores' | 'storeUs' | 'limit'
>;

export const CONNECTIONS = 50;
/** Keys under redis-benchmark's names, with values of the sizes of the mix. */
export const READ_KEYS = 2000;
/** With more io-threads than cores a store answers a thousand a second, and pilots would take longer than the row. */
const PILOT_REQUESTS = 200;

/** @throws when Redis or Valkey does not start; a server given by its path gets a `problem` instead. */
export async function knownEngines(lab: Lab): Promise<readonly Engine[]> {
  const engines: Engine[] = [];
  for (const flavour of BUILT_IN) engines.push(await identified(lab, flavour));
  for (const flavour of lab.servers) {
    try {
      engines.push(await identified(lab, flavour));
    } catch (error) {
      lab.signal.throwIfAborted();
      // The server's last output follows a colon, and some servers print nothing.
      const problem = `${(error instanceof Error ? error.message : String(error)).replace(/[\s:.]+$/, '')}.`;
      engines.push({ flavour, isConfigurable: false, name: basename(flavour), problem });
    }
  }
  return engines;
}

async function identified(lab: Lab, flavour: Flavour): Promise<Engine> {
  const store = await lab.startStore({ flavour });
  const name = nameOf(flavour, await store.info('server'));
  await store.stop();
  return { flavour, isConfigurable: /^(redis|valkey)/.test(basename(flavour)), name };
}

/** The server's own name and version; Valkey gives a Redis version beside its own, for clients that look for one. */
export function nameOf(flavour: Flavour, server: Readonly<Record<string, string>>): string {
  const { valkey_version: valkey, redis_version: redis, dragonfly_version: dragonfly } = server;
  if (valkey !== undefined) return `Valkey ${valkey}`;
  if (dragonfly !== undefined) return `Dragonfly ${dragonfly}`;
  const file = basename(flavour);
  if (redis === undefined) return file;
  return /^redis/.test(file) ? `Redis ${redis}` : `${file} ${redis}`;
}

export function startEngine(lab: Lab, { flavour }: Engine, { isTls, ioThreads }: EngineSetting): Promise<LabStore> {
  // Valkey 8 always reads with its threads and no longer has the second line.
  const config = [`io-threads ${ioThreads}`, ...(flavour === 'redis' ? ['io-threads-do-reads yes'] : [])];
  return lab.startStore({ flavour, tls: isTls ? true : undefined, config: ioThreads > 1 ? config : undefined });
}

export function mixLoad(lab: Lab, store: LabStore, seconds: number): Promise<Load> {
  return driven(lab, [store], { connections: CONNECTIONS, seconds, commands: MIX_COMMANDS });
}

/** Reads of stored values by redis-benchmark, also for Valkey, so that the tool makes no difference. */
export async function readLoad(lab: Lab, store: LabStore, seconds: number, ioThreads: number): Promise<Load> {
  const ran = await benchmark(lab, {
    store: { ...store, flavour: 'redis' },
    clients: CONNECTIONS,
    keySpace: READ_KEYS,
    command: ['GET', 'key:__rand_int__'],
    seconds,
    pilot: PILOT_REQUESTS,
  });
  return { ...ran, limit: limitOfStores(lab.cores, ioThreads, ran, { clients: 1 }) };
}

export function mixFill() {
  return fillCommands(PUBLISHED_MIX, createRandom(1).next);
}

export function readFill() {
  return fillCommands({ ...PUBLISHED_MIX, keys: READ_KEYS }, createRandom(1).next, (at) => `key:${randomDigits(at)}`);
}

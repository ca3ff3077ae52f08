import { basename } from 'node:path';
import type { Flavour } from '../../../stack/redis-node.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';

/** A Redis-protocol server, by name or by path. */
export interface Engine {
  readonly flavour: Flavour;
  /** `Redis 7.0.15`; of an unknown one the file's name. */
  readonly name: string;
  /** Takes the lines of configuration that Redis takes: TLS and io-threads can be varied. */
  readonly isConfigurable: boolean;
  /** Why it does not serve, a sentence without its beginning; it has a row without figures then. */
  readonly problem?: string;
}

export interface EngineSetting {
  readonly isTls: boolean;
  readonly ioThreads: number;
}

/** @throws when Redis or Valkey will not start; a server given by its path has its problem told instead. */
export async function knownEngines(lab: Lab): Promise<readonly Engine[]> {
  const engines: Engine[] = [];
  for (const flavour of ['redis', 'valkey']) engines.push(await met(lab, flavour));
  for (const flavour of lab.servers) {
    try {
      engines.push(await met(lab, flavour));
    } catch (error) {
      lab.signal.throwIfAborted();
      // What it said last follows a colon, and some say nothing.
      const problem = `${(error instanceof Error ? error.message : String(error)).replace(/[\s:.]+$/, '')}.`;
      engines.push({ flavour, isConfigurable: false, name: basename(flavour), problem });
    }
  }
  return engines;
}

async function met(lab: Lab, flavour: Flavour): Promise<Engine> {
  const store = await lab.startStore({ flavour });
  const isConfigurable = /^(redis|valkey)/.test(basename(flavour));
  const name = nameOf(flavour, await store.info('server'));
  await store.stop();
  return { flavour, isConfigurable, name };
}

/** What a server calls itself; Valkey says a Redis version beside its own, for clients that look for one. */
export function nameOf(flavour: Flavour, server: Readonly<Record<string, string>>): string {
  const { valkey_version: valkey, redis_version: redis, dragonfly_version: dragonfly } = server;
  if (valkey !== undefined) return `Valkey ${valkey}`;
  if (dragonfly !== undefined) return `Dragonfly ${dragonfly}`;
  const file = basename(flavour);
  if (redis === undefined) return file;
  return /^redis/.test(file) ? `Redis ${redis}` : `${file} ${redis}`;
}

/** Of the engine as it is, or with TLS and io-threads where it takes them. */
export function startEngine(lab: Lab, engine: Engine, { isTls, ioThreads }: EngineSetting): Promise<LabStore> {
  const threads = [
    `io-threads ${ioThreads}`,
    // Valkey 8 always reads with them and no longer has the word.
    ...(engine.flavour === 'redis' ? ['io-threads-do-reads yes'] : []),
  ];
  return lab.startStore({
    flavour: engine.flavour,
    ...(isTls && { tls: true }),
    ...(ioThreads > 1 && { config: threads }),
  });
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { EngineError } from '../../../src/search/engine.ts';
import { accepts, startProcess } from '../../stack/process.ts';
import { systemPath } from '../kit/programs.ts';

/** Something that serves the same pages from a cache, set up with care, as those who use it would. */
export interface Peer {
  /** As it is shown: `nginx proxy_cache`. */
  readonly name: string;
  /** What one who knows it should know of this set-up, in one sentence. */
  readonly setUp: string;
  /** Parts of loadtest/stack/install.ts that it needs. */
  readonly parts: readonly string[];
  /** Where pages lie: in this replica alone, or in a store that all replicas share. */
  readonly keeps: 'own' | 'shared';
  /** Cores one replica can use, where there are so many: 1 unless said. */
  readonly mostCores?: number;
  /** One replica. @throws with the end of its log when it will not start. */
  readonly start: (scene: PeerScene) => Promise<RunningPeer>;
}

export interface PeerScene {
  /** For its files; its own, removed later. */
  readonly folder: string;
  readonly port: number;
  /** `http://127.0.0.1:1234`: where a miss gets its page, at the same path. What answers there counts engine queries. */
  readonly origin: string;
  /** The same engine for who speaks SphinxQL itself, through the same counter. */
  readonly engine: { readonly host: string; readonly port: number; readonly index: string };
  /** Empty at first, shared by the replicas of one peer. */
  readonly store: { readonly host: string; readonly port: number };
  /** Processors it may use, as taskset takes them. */
  readonly cores: string;
  /** How long a page is fresh. */
  readonly ttlSeconds: number;
  /** How long after that it may be served while the engine is away, where the peer can do so. */
  readonly staleSeconds: number;
}

export interface RunningPeer {
  /** `http://127.0.0.1:1234`; `/search?q=…` is served below it. */
  readonly url: string;
  /** All its processes, for processor time and memory. */
  readonly pids: () => readonly number[];
  /** Forgets every page of this replica, and of the shared store: what its users do after an index was rebuilt. */
  readonly purge: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** What stands behind all peers: one engine, and what counts, slows and ends it. loadtest/labs/peers/engine-room.ts is one. */
export interface Room {
  readonly origin: string;
  readonly engine: PeerScene['engine'];
  /** Searches that reached the engine since it was started, whoever asked. */
  readonly searches: () => number;
  /** Each search stays that much longer at the engine, until said otherwise. */
  readonly delay: (ms: number) => unknown;
  /** Whoever asks is refused, and what is under way is lost. */
  readonly die: () => Promise<unknown> | unknown;
  readonly revive: () => Promise<unknown> | unknown;
  /** So many different searches that find something. */
  readonly texts: (count: number) => readonly string[];
}

export interface PeerProcessOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Absent: the scene's folder. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Asked once its port answers; absent: that is enough. */
  readonly ready?: (url: string) => Promise<boolean>;
  readonly purge: (running: { readonly url: string; readonly pid: number }) => Promise<void>;
}

const masters = new Set<number>();
// Before the listener of process.ts, which ends the masters alone.
process.prependListener('exit', () => kill([...masters].flatMap(processTree)));

/**
 * One replica on the scene's processors, ready when its port answers. Its workers end with it, also where this process
 * ends before it: a master that is killed leaves them behind.
 */
export async function startPeerProcess(scene: PeerScene, options: PeerProcessOptions): Promise<RunningPeer> {
  const url = `http://127.0.0.1:${scene.port}`;
  const ready = async (): Promise<boolean> => (await accepts(scene.port)) && ((await options.ready?.(url)) ?? true);
  const started = await startProcess({
    name: options.name,
    command: 'taskset',
    args: ['-c', scene.cores, options.command, ...options.args],
    cwd: options.cwd ?? scene.folder,
    // Debian keeps nginx and varnishd where only root's PATH leads.
    env: { ...systemPath(), ...options.env },
    logFile: join(scene.folder, 'peer.log'),
    ready,
  });
  const { pid } = started;
  masters.add(pid);
  return {
    url,
    pids: () => processTree(pid),
    purge: () => options.purge({ url, pid }),
    stop: async () => {
      const workers = processTree(pid).slice(1);
      await started.stop();
      masters.delete(pid);
      await gone(workers);
    },
  };
}

const WORKER_GRACE_MS = 2000;

async function gone(pids: readonly number[]): Promise<void> {
  const untilMs = performance.now() + WORKER_GRACE_MS;
  const alive = (): readonly number[] => pids.flatMap((pid) => processTree(pid).slice(0, 1));
  while (alive().length > 0 && performance.now() < untilMs) await sleep(10);
  kill(alive());
}

function kill(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}

/** A process and everything it started that still runs, parents first. Empty when it has ended. Only where there is /proc. */
export function processTree(pid: number): readonly number[] {
  const text = childrenOf(pid);
  if (text === undefined) return [];
  const children = text.split(' ').map(Number).filter(Boolean);
  return [pid, ...children.flatMap((child) => processTree(child))];
}

/** Of the main thread: what is measured here forks from no other. */
function childrenOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  } catch {
    return undefined;
  }
}

export interface Turns {
  /** Does the work when it is its turn. @throws EngineError `engine-overloaded` when too many wait already. */
  readonly run: <T>(work: () => Promise<T>) => Promise<T>;
}

/** A queue as plain as backends have: so many at once, the others first in first out, however long it takes. */
export function createTurns(options: { readonly atOnce: number; readonly mostWaiting: number }): Turns {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    run: async (work) => {
      if (running < options.atOnce) running += 1;
      else if (waiting.length < options.mostWaiting) await new Promise<void>((resolve) => waiting.push(resolve));
      else throw new EngineError('engine-overloaded', `${options.mostWaiting} searches wait already`);
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        // Whoever is next takes the place over: nobody may slip in between.
        if (next === undefined) running -= 1;
        else next();
      }
    },
  };
}

/** The servers in `servers/` forget their pages at `POST /purge`. @throws when one does not. */
export async function purgeByRequest({ url }: { readonly url: string }): Promise<void> {
  const { status } = await fetch(`${url}/purge`, { method: 'POST' });
  if (status !== 204) throw new Error(`POST ${url}/purge: ${status}`);
}

/** Empties a store that holds nothing but pages, as one does by hand. */
export async function flushStore({ host, port }: PeerScene['store']): Promise<void> {
  const redis = new Redis({ host, port, lazyConnect: true, maxRetriesPerRequest: 1 });
  try {
    await redis.connect();
    await redis.flushdb();
  } finally {
    redis.disconnect();
  }
}

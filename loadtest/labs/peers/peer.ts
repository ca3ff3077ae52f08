import { join } from 'node:path';
import { Redis } from 'ioredis';
import { accepts, startProcess, waitUntil } from '../../stack/process.ts';
import { processFile } from '../../stack/processors.ts';
import { systemPath } from '../kit/programs.ts';

/** A server of the same pages from a cache, configured as its experienced users would. */
export interface Peer {
  /** Name in the tables: `nginx proxy_cache`. */
  readonly name: string;
  /** The configuration in one sentence, for a reader who knows the server. */
  readonly setUp: string;
  /** Parts of loadtest/stack/install.ts that it needs. */
  readonly parts: readonly string[];
  /** Where pages are kept: in this replica only, or in a store that all replicas share. */
  readonly keeps: 'own' | 'shared';
  /** Maximum of cores that one replica can use. Default: 1. */
  readonly mostCores?: number;
  /** One replica. @throws with the end of its log when it will not start. */
  readonly start: (setup: ReplicaSetup) => Promise<RunningPeer>;
}

export interface ReplicaSetup {
  /** A folder for its files, removed at the end. */
  readonly folder: string;
  readonly port: number;
  /** `http://127.0.0.1:1234`: origin of a missing page, at the same path. It counts engine queries. */
  readonly origin: string;
  /** The same engine for a peer that speaks SphinxQL, through the same counting proxy. */
  readonly engine: { readonly host: string; readonly port: number; readonly index: string };
  /** Empty at first, shared by the replicas of one peer. */
  readonly store: { readonly host: string; readonly port: number };
  /** Processors it may use, as taskset takes them. */
  readonly cores: string;
  readonly ttlSeconds: number;
  /** How long after that it may be served stale while the engine is away, if the peer can. */
  readonly staleSeconds: number;
  /** Sent with every page by a server that keeps bodies alone. nginx expands variables in the values. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type RunningPeer = Awaited<ReturnType<typeof startPeerProcess>>;

export interface PeerProcessOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Absent: the setup's folder. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Called once its port answers. Absent: an open port is ready. */
  readonly ready?: (url: string) => Promise<boolean>;
  readonly purge: (running: { readonly url: string; readonly pid: number }) => Promise<unknown>;
}

const masters = new Set<number>();
// Before the listener of process.ts, which ends the masters alone.
process.prependListener('exit', () => kill([...masters].flatMap(processTree)));

/**
 * One replica on the setup's processors, ready when its port answers. Its workers end with it, also where this process
 * ends before it: a master that is killed leaves them behind.
 */
export async function startPeerProcess(setup: ReplicaSetup, options: PeerProcessOptions) {
  const url = `http://127.0.0.1:${setup.port}`;
  const ready = async (): Promise<boolean> => (await accepts(setup.port)) && ((await options.ready?.(url)) ?? true);
  const started = await startProcess({
    name: options.name,
    command: 'taskset',
    args: ['-c', setup.cores, options.command, ...options.args],
    cwd: options.cwd ?? setup.folder,
    // Debian installs nginx and varnishd in folders that are only in root's PATH.
    env: { ...systemPath(), ...options.env },
    logFile: join(setup.folder, 'peer.log'),
    ready,
  });
  const { pid } = started;
  masters.add(pid);
  return {
    /** `/search?q=…` is served below it. */
    url,
    /** All its processes, for processor time and memory. */
    pids: () => processTree(pid),
    /** Removes every page of this replica and of the shared store, as users do after an index rebuild. */
    purge: (): Promise<unknown> => options.purge({ url, pid }),
    stop: async (): Promise<void> => {
      const workers = processTree(pid).slice(1);
      await started.stop();
      masters.delete(pid);
      const alive = (): readonly number[] => workers.flatMap((worker) => processTree(worker).slice(0, 1));
      await waitUntil(() => alive().length === 0, WORKER_GRACE_MS, 10);
      kill(alive());
    },
  };
}

const WORKER_GRACE_MS = 2000;

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
  // Children of the main thread; the measured servers fork from no other.
  const file = `task/${pid}/children`;
  if (processFile(pid, 'stat') === '') return [];
  const children = processFile(pid, file).trim().split(' ').map(Number).filter(Boolean);
  return [pid, ...children.flatMap((child) => processTree(child))];
}

/** Purges a server of `servers/` by `POST /purge`. @throws on another status than 204. */
export async function purgeByRequest({ url }: { readonly url: string }): Promise<void> {
  const { status } = await fetch(`${url}/purge`, { method: 'POST' });
  if (status !== 204) throw new Error(`POST ${url}/purge: ${status}`);
}

/** Empties a store that holds only pages. */
export async function flushStore({ host, port }: ReplicaSetup['store']): Promise<void> {
  const redis = new Redis({ host, port, maxRetriesPerRequest: 1 });
  try {
    await redis.flushdb();
  } finally {
    redis.disconnect();
  }
}

/** Undefined when the work failed: the row of the peer says so, and the others go on. */
export type Try = <T>(peer: Peer, what: string, work: () => Promise<T>) => Promise<T | undefined>;

/** Sizes of the tasks. Times are the lab's. */
export type Sizes = Readonly<typeof SIZES>;

export const SIZES = {
  /** Number of rounds in which all peers take turns. */
  rounds: 2,
  /** Pages requested in turn: many more than the smallest L1 holds. */
  pages: 1200,
  /** Requests per second at which times are measured: a third of the slowest peer's maximum on one core. */
  perSecond: 1000,
  memoryPages: 4000,
  replicas: 3,
  engineDelayMs: 200,
  /** A peer without coalescing sends all of them to the engine, eight at a time: more would take a minute. */
  hotRequests: 150,
  manyKeys: 30,
  requestsEach: 15,
  /** Pages that are cached when the engine dies, and pages that are not. */
  knownPages: 100,
  unseenPages: 20,
  deadPerSecond: 200,
};

/** Lifetimes for all tasks except the dead engine, and for the dead engine. */
export const LONG = { ttlSeconds: 3600, staleSeconds: 60 } as const;
export const SHORT = { ttlSeconds: 3, staleSeconds: 60 } as const;

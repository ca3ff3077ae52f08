import { linkSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../../random.ts';
import { waitUntil } from '../../../stack/process.ts';
import { massImport } from '../../kit/benchmark.ts';
import { driven } from '../../kit/driven.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import { MIX_COMMANDS, mixKey, PUBLISHED_MIX, respCommand } from '../../kit/mix.ts';
import { settledCommands } from '../shards.ts';

const BARE = { hasSnapshots: false, hasLog: false, replicas: 0 };

export const SETUPS = [
  { name: 'neither', ...BARE },
  { name: 'save', ...BARE, hasSnapshots: true },
  { name: 'aof everysec', ...BARE, hasLog: true },
  { name: '1 replica', ...BARE, replicas: 1 },
  { name: '2 replicas', ...BARE, replicas: 2 },
  { name: 'save + 2 replicas', ...BARE, hasSnapshots: true, replicas: 2 },
];

export type Setup = (typeof SETUPS)[number];

/** The published shard, too large to be saved and sent in time; here is one 64th of it. */
const [SHARD_BYTES, SCALE] = [8 * 2 ** 30, 64];
export const MEMORY_BYTES = SHARD_BYTES / SCALE;
/** Redis's own default. It is not scaled: the rate of writes overruns it, which is not scaled either. */
export const BACKLOG_BYTES = 2 ** 20;
/** `replica <bytes> <bytes> <seconds>` as in deploy/redis, scaled: it holds what is written while all memory is sent. */
const REPLICA_LIMIT = `replica ${(256 * 2 ** 20) / SCALE} ${(64 * 2 ** 20) / SCALE} 60`;
/** Redis's own `save 60 10000`, scaled as well: a snapshot of a 64th takes a 64th of the time. */
const SNAPSHOT_RULE = `1 ${Math.round(10_000 / SCALE)}`;

const CONNECTIONS = 50;
/** Shares of the row's time, and a maximum. */
const BREAK = { from: 0.2, share: 0.2, mostSeconds: 1 };
const SNAPSHOT = 'dump.rdb';
const SETTLING_SECONDS = 1.5;
/** With a row's own seed the first writes would be in the store already, and evict nothing. */
const SETTLING_SEED = 9;
const FIRST_SYNC_MS = 10_000;
const LOWEST_PRIORITY = 19;

export type PersistenceRow = Awaited<ReturnType<typeof measureRow>>;

export function breakSeconds(rowSeconds: number): number {
  return Math.min(BREAK.mostSeconds, rowSeconds * BREAK.share);
}

/**
 * Lines after deploy/redis/redis-cache.conf, which has neither. The log is switched on later: with it, Redis would start
 * from the missing log and not from the snapshot. @param elsewhere processors for Redis's child processes.
 */
function masterConfig({ hasSnapshots, hasLog }: Setup, elsewhere: string): readonly string[] {
  return [
    `maxmemory ${MEMORY_BYTES}`,
    `repl-backlog-size ${BACKLOG_BYTES}`,
    `client-output-buffer-limit ${REPLICA_LIMIT}`,
    ...(hasSnapshots ? [`save ${SNAPSHOT_RULE}`] : []),
    ...(hasLog ? ['appendfsync everysec'] : []),
    // In production the child has another core. On the master's only core the child would cause the stall.
    ...['bgsave_cpulist', 'aof_rewrite_cpulist', 'bio_cpulist'].map((name) => `${name} ${elsewhere}`),
    // `LATENCY LATEST` then has every event of a millisecond or more.
    'latency-monitor-threshold 1',
  ];
}

export function replicaConfig(masterPort: number): readonly string[] {
  return [`maxmemory ${MEMORY_BYTES}`, `replicaof 127.0.0.1 ${masterPort}`];
}

/**
 * The state in which every row begins: a store that is full and holds the most requested keys. Without it the first rows
 * evict the rest of the filling, and later rows find what the rows before them wrote.
 * @returns the path of its snapshot, ages of the keys included.
 */
export async function settledSnapshot(lab: Lab): Promise<string> {
  const store = await lab.startStore({ config: [`maxmemory ${MEMORY_BYTES}`] });
  await massImport(lab, store, settledCommands(PUBLISHED_MIX, createRandom(SETTLING_SEED).next));
  await driven(lab, [store], {
    connections: CONNECTIONS,
    seconds: lab.seconds(SETTLING_SECONDS),
    commands: MIX_COMMANDS,
    seed: SETTLING_SEED,
  });
  await store.command('SAVE');
  await lab.clear();
  return join(store.directory, SNAPSHOT);
}

/** A master that starts from the snapshot, and replicas that have received it. */
async function startShard(lab: Lab, setup: Setup, snapshot: string) {
  const elsewhere = lab.cores.generator;
  const master = await lab.startStore({ config: masterConfig(setup, elsewhere) });
  // An orderly stop would save its empty memory.
  await master.kill();
  rmSync(join(master.directory, SNAPSHOT), { force: true });
  // A link is safe: Redis writes its own snapshot as a new file under that name.
  linkSync(snapshot, join(master.directory, SNAPSHOT));
  await master.restart();
  if (setup.hasLog) await master.command('CONFIG', 'SET', 'appendonly', 'yes');
  const replicas = await Array.fromAsync({ length: setup.replicas }, async () => {
    const replica = await lab.startStore({ cores: elsewhere, config: replicaConfig(master.port) });
    setPriority(replica.pid(), LOWEST_PRIORITY);
    return replica;
  });
  await settled(master, setup.replicas, FIRST_SYNC_MS, lab.signal);
  return { master, replicas };
}

/** One row: the mix at a rate, and one break of all links to replicas meanwhile. */
export async function measureRow(
  lab: Lab,
  setup: Setup,
  snapshot: string,
  asked: { readonly times: number; readonly askedPerSecond: number; readonly seconds: number },
) {
  const { master, replicas } = await startShard(lab, setup, snapshot);
  const { seconds, askedPerSecond } = asked;
  const attachedBefore = attachedOf(await master.info('replication'));
  await master.command('LATENCY', 'RESET');
  const before = await masterFigures(master);
  const load = { connections: CONNECTIONS, seconds, commands: MIX_COMMANDS, ratePerSecond: askedPerSecond };
  const loading = driven(lab, [master], load);
  const breaking = (async () => {
    if (replicas.length === 0) return;
    await sleep(seconds * BREAK.from * 1000, undefined, { signal: lab.signal });
    await breakLinks(master, replicas, breakSeconds(seconds), lab.signal);
  })();
  const [ran] = await Promise.all([loading, breaking]);
  const after = await masterFigures(master);
  const row = {
    setup,
    ...asked,
    answeredPerSecond: ran.perSecond,
    seconds: ran.seconds,
    /** Replicas that followed before the row: only they can fall out. */
    attachedBefore,
    p99Ms: ran.p99Ms,
    maxMs: ran.maxMs,
    storeCores: ran.storeCores,
    limit: ran.limit,
    attached: attachedOf(await master.info('replication')),
    fullSyncs: after.fullSyncs - before.fullSyncs,
    evicted: after.evicted - before.evicted,
    longestMs: longestOf(await master.command('LATENCY', 'LATEST')),
  };
  // No resync or snapshot of this row may run into the next one. Without `save` the master takes none when it stops.
  await master.command('CONFIG', 'SET', 'save', '').catch(() => undefined);
  await lab.clear();
  for (const { directory } of [master, ...replicas]) await rm(directory, { recursive: true, force: true });
  return row;
}

/**
 * A network break between a master and its replicas: they are paused, so that none reconnects, and their connections are
 * cut. A pause alone is no break on loopback, where the kernel holds megabytes for a paused process.
 */
export async function breakLinks(
  master: LabStore,
  replicas: readonly LabStore[],
  seconds: number,
  signal: AbortSignal,
): Promise<void> {
  try {
    await Promise.all(replicas.map((replica) => replica.pause()));
    await master.command('CLIENT', 'KILL', 'TYPE', 'replica');
    await sleep(seconds * 1000, undefined, { signal });
  } finally {
    for (const replica of replicas) replica.resume();
  }
}

/** Waits until all replicas are attached and no child process of the master runs. @returns false: the time was over. */
export function settled(master: LabStore, replicas: number, limitMs: number, signal: AbortSignal): Promise<boolean> {
  const isSettled = async (): Promise<boolean> => {
    signal.throwIfAborted();
    const info = await master.info('default');
    const isBusy = info['rdb_bgsave_in_progress'] !== '0' || info['aof_rewrite_in_progress'] !== '0';
    return attachedOf(info) >= replicas && !isBusy;
  };
  return waitUntil(isSettled, limitMs);
}

/** Replicas that have the data and follow. */
function attachedOf(info: Readonly<Record<string, string>>): number {
  const isOnline = ([name, value]: [string, string]) => /^slave\d+$/.test(name) && /\bstate=online\b/.test(value);
  return Object.entries(info).filter(isOnline).length;
}

/** Counters of a master: a row is the difference of two readings. */
export async function masterFigures(master: LabStore) {
  const info = await master.info('default');
  return {
    /** Syncs of replicas: with all of the memory, and with the rest from the backlog. */
    fullSyncs: Number(info['sync_full'] ?? 0),
    partialSyncs: Number(info['sync_partial_ok'] ?? 0),
    evicted: Number(info['evicted_keys'] ?? 0),
  };
}

/** A deletion in the stream, with `lazyfree-lazy-eviction yes`, of a key in the middle. */
const EVICTION_BYTES = respCommand(['UNLINK', mixKey(PUBLISHED_MIX.keys / 2)]).length;

export function evictionBytes({ evicted }: Pick<PersistenceRow, 'evicted'>): number {
  return evicted * EVICTION_BYTES;
}

/** The longest event since `LATENCY RESET`, in whole milliseconds. @param latest reply of `LATENCY LATEST` */
function longestOf(latest: unknown): number {
  const events = Array.isArray(latest) ? latest.filter((event) => Array.isArray(event)) : [];
  return Math.max(0, ...events.map((event) => Number(event[3]) || 0));
}

/** How a master is kept safe, or not. */
export interface Setup {
  readonly name: string;
  readonly hasSnapshots: boolean;
  readonly hasLog: boolean;
  readonly replicas: number;
}

const BARE = { hasSnapshots: false, hasLog: false, replicas: 0 };

export const SETUPS: readonly Setup[] = [
  { name: 'neither', ...BARE },
  { name: 'save', ...BARE, hasSnapshots: true },
  { name: 'aof everysec', ...BARE, hasLog: true },
  { name: '1 replica', ...BARE, replicas: 1 },
  { name: '2 replicas', ...BARE, replicas: 2 },
  { name: 'save + 2 replicas', ...BARE, hasSnapshots: true, replicas: 2 },
];

/** What the others are compared with, and what the site had before. */
export const [BARE_NAME, SITE_NAME] = ['neither', 'save + 2 replicas'];

/** A shard that was too large to be snapshot and sent in time; here is one 64th of it. */
const [SHARD_BYTES, SCALE] = [8 * 2 ** 30, 64];
export const MEMORY_BYTES = SHARD_BYTES / SCALE;
/** Redis's own default. It is not scaled: what overruns it is the rate of writes, which is not scaled either. */
export const BACKLOG_BYTES = 2 ** 20;
/** As in deploy/redis, scaled like the memory: it has to hold what is written while the whole memory is sent. */
export const REPLICA_BUFFER_BYTES = (256 * 2 ** 20) / SCALE;
const SOFT_BUFFER_BYTES = (64 * 2 ** 20) / SCALE;
/** Redis's own `save 60 10000`, scaled as well: a snapshot of a 64th takes a 64th of the time. */
const SNAPSHOT = { seconds: 1, writes: Math.round(10_000 / SCALE) };

/** `save <seconds> <writes>`; '' is none. */
export function snapshotRule({ hasSnapshots }: Pick<Setup, 'hasSnapshots'>): string {
  return hasSnapshots ? `${SNAPSHOT.seconds} ${SNAPSHOT.writes}` : '';
}

/** `replica <bytes> <bytes> <seconds>` */
export const REPLICA_LIMIT = `replica ${REPLICA_BUFFER_BYTES} ${SOFT_BUFFER_BYTES} 60`;

/**
 * Lines after deploy/redis/redis-cache.conf, which has neither. A log is switched on later: with it, Redis would begin with
 * the log that is not there and not with the snapshot that is. @param elsewhere processors for what Redis forks.
 */
export function masterConfig({ hasSnapshots, hasLog }: Setup, elsewhere: string): readonly string[] {
  return [
    `maxmemory ${MEMORY_BYTES}`,
    `repl-backlog-size ${BACKLOG_BYTES}`,
    `client-output-buffer-limit ${REPLICA_LIMIT}`,
    ...(hasSnapshots ? [`save ${snapshotRule({ hasSnapshots })}`] : []),
    ...(hasLog ? ['appendfsync everysec'] : []),
    // A machine of its own would have a core for the child: on the master's only one it would be the stall itself.
    ...['bgsave_cpulist', 'aof_rewrite_cpulist', 'bio_cpulist'].map((name) => `${name} ${elsewhere}`),
    // Everything it does in a millisecond or more: the longest is what `LATENCY LATEST` says.
    'latency-monitor-threshold 1',
  ];
}

export function replicaConfig(masterPort: number): readonly string[] {
  return [`maxmemory ${MEMORY_BYTES}`, `replicaof 127.0.0.1 ${masterPort}`];
}

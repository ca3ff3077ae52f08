import type { ClusterOptions, Redis, RedisOptions } from 'ioredis';
import type { StoreEvent } from '../../cache/store.ts';
import type { StoreSettings } from '../../config/settings.ts';
import { guardFraming } from './framing.ts';

export type RedisSettings = Exclude<StoreSettings, { readonly kind: 'none' }>;
export type SentinelSettings = Extract<RedisSettings, { readonly kind: 'sentinel' }>;
export type ClusterSettings = Extract<RedisSettings, { readonly kind: 'cluster' }>;

/** Waits before reconnecting: 50–100 ms at first, 0.5–1 s at last; spread, so that a fleet does not come back at once. */
export const reconnectDelayMs = (attempt: number, random: () => number): number =>
  Math.min(100 * attempt, 1000) * (0.5 + random() / 2);

/** Settings → ioredis options of one connection. What is not named here has a default that suits us. */
export function nodeOptions(settings: RedisSettings, name: string, random: () => number) {
  return {
    ...(settings.username !== undefined && { username: settings.username }),
    ...(settings.password !== undefined && { password: settings.password }),
    ...(settings.tls && { tls: tlsOptions(settings) }),
    ...('database' in settings && { db: settings.database }),
    // GET, SET and PING look the same in both protocols; 2 saves a negotiation, and some proxies only know it.
    protocol: 2,
    // CLIENT LIST on the server tells whose connection it is.
    connectionName: `serpcache-${name.replace(/[^\w-]/g, '_')}`,
    // Two commands of a handshake that nobody reads, and that an ACL user would need rights for.
    disableClientInfo: true,

    connectTimeout: settings.connectTimeoutMs,
    // Reaps a black hole. Long: the application's deadline is ours, and it closes no connection.
    socketTimeout: settings.socketTimeoutMs,
    // `commandTimeout` stays unset: it rejects the promise, the command stays queued, so it bounds nothing.
    // From a polite end of the connection to its destruction.
    disconnectTimeout: 200,
    keepAlive: 30_000,
    noDelay: true,

    // The default queues for ever while there is no connection; a read has a deadline and an engine behind it.
    enableOfflineQueue: false,
    // What was in flight when a connection broke fails at once: it is a miss, and misses are not repeated.
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    // Unbounded batches, deadlines that do not hold, and with a killed cluster node an outage that never ends
    // (redis/ioredis#2075). Batches are made where there is a batch: batch.ts.
    enableAutoPipelining: false,
    // Ready means that the server has loaded its data; while it loads it is asked again after this long.
    enableReadyCheck: true,
    maxLoadingRetryTime: 500,
    retryStrategy: (attempt: number) => reconnectDelayMs(attempt, random),
  } satisfies RedisOptions;
}

export function sentinelOptions(settings: SentinelSettings, name: string, random: () => number) {
  return {
    ...nodeOptions(settings, name, random),
    sentinels: settings.sentinels.map(({ host, port }) => ({ host, port })),
    name: settings.master,
    role: 'master',
    ...(settings.sentinelUsername !== undefined && { sentinelUsername: settings.sentinelUsername }),
    ...(settings.sentinelPassword !== undefined && { sentinelPassword: settings.sentinelPassword }),
    // Both or neither speak TLS: without this ioredis talks plain text to a master found through sentinels.
    ...(settings.tls && { sentinelTLS: tlsOptions(settings), enableTLSForSentinelMode: true }),
    // A sentinel that accepts and never answers would hold the search for the master for ever.
    sentinelCommandTimeout: settings.connectTimeoutMs,
    sentinelRetryStrategy: (attempt: number) => reconnectDelayMs(attempt, random),
    // A master that was demoted under a living connection refuses writes: ask the sentinels again.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
    // Not needed: sentinels kill a demoted master's connections, and socketTimeout reaps the others.
    failoverDetector: false,
  } satisfies RedisOptions;
}

export function clusterOptions(settings: ClusterSettings, name: string, random: () => number) {
  // The pool sets the node's retryStrategy and offline queue itself, and refuses them here.
  const { retryStrategy, enableOfflineQueue, ...redisOptions } = nodeOptions(settings, name, random);
  return {
    redisOptions,
    enableOfflineQueue,
    // Null, the default, drops a restarted node until a MOVED happens to name it.
    clusterNodeRetryStrategy: retryStrategy,
    clusterRetryStrategy: (attempt: number) => reconnectDelayMs(attempt, random),
    // Commands go to their node directly, so the cluster's own redirections and waits serve only its housekeeping.
    maxRedirections: 3,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    // Off: topology is refreshed by us, jittered, and sooner when a node misbehaves (refresh.ts).
    slotsRefreshInterval: 0,
    slotsRefreshTimeout: settings.connectTimeoutMs,
    // A replica may be behind; a page that was just dropped must not come back from it.
    scaleReads: 'master',
    // It asks one node at random for the cluster's state and starts over when that one node is away: a store that
    // starts beside a dead shard would serve none of the others. Each node is still checked for itself.
    enableReadyCheck: false,
    shardedSubscribers: false,
    enableAutoPipelining: false,
    // Host names reach the socket as they are: certificates name hosts, each connection resolves anew, and one name
    // that does not resolve does not fail all the startup nodes (ioredis looks them all up together).
    dnsLookup: (host, done) => done(null, host),
  } satisfies ClusterOptions;
}

function tlsOptions({ tls }: RedisSettings) {
  return {
    ...(tls?.ca !== undefined && { ca: tls.ca }),
    ...(tls?.cert !== undefined && { cert: tls.cert }),
    ...(tls?.key !== undefined && { key: tls.key }),
    ...(tls?.serverName !== undefined && { servername: tls.serverName }),
    rejectUnauthorized: tls?.rejectUnauthorized ?? true,
  };
}

export interface ConnectionWatch {
  readonly address: () => string;
  readonly observe: (event: StoreEvent) => void;
  readonly onReady: () => void;
  /** It ends because what came is no RESP. */
  readonly onGarbage: () => void;
}

/**
 * Turns the events of one ioredis connection into ours, and ends it when what comes is no RESP. It always listens to
 * `error`: ioredis writes one nobody listens to on the console. Errors and closes come for every attempt; a closed
 * connection is said once.
 */
export function watchConnection(redis: Redis, { address, observe, onReady, onGarbage }: ConnectionWatch): void {
  guardFraming(redis, onGarbage);
  let open = false;
  redis.on('ready', () => {
    open = true;
    onReady(); // first: behind sentinels it learns which node this is
    observe({ kind: 'connection', node: address(), state: 'open' });
  });
  redis.on('error', (error: Error) => {
    observe({ kind: 'connection', node: address(), state: 'failed', detail: error.message });
  });
  redis.on('close', () => {
    if (open) observe({ kind: 'connection', node: address(), state: 'closed' });
    open = false;
  });
}

/** Ends a connection now: `disconnect` alone waits for a peer that may be stopped. */
export function cut(redis: Redis): void {
  redis.disconnect();
  redis.stream?.destroy();
}

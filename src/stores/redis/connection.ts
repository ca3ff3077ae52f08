import type { ClusterOptions, Redis, RedisOptions } from 'ioredis';
import type { StoreEvent, StoreReason } from '../../cache/store.ts';
import type { StoreSettings } from '../../config/settings.ts';
import type { Clock } from '../../runtime.ts';
import { createEndpoints } from './endpoints.ts';
import { detailOf, storeReasonOf } from './errors.ts';
import { PROTOCOL_ERROR } from './guard.ts';
import { acceptServersWithoutInfo, createHandshake, createReadOnly, reportClosedDoors } from './ready.ts';

export type RedisSettings = Exclude<StoreSettings, { readonly kind: 'none' }>;
type SentinelSettings = Extract<RedisSettings, { readonly kind: 'sentinel' }>;
export type ClusterSettings = Extract<RedisSettings, { readonly kind: 'cluster' }>;

/** 50–100 ms at first, at most 0.5–1 s before the next attempt; spread, so that a fleet does not reconnect at once. */
export const reconnectDelayMs = (attempt: number, random: () => number): number =>
  Math.min(100 * attempt, 1000) * (0.5 + random() / 2);

/** Settings → ioredis options of one connection. All other options keep their defaults. */
export function nodeOptions(settings: RedisSettings, name: string, random: () => number) {
  return {
    username: settings.username,
    password: settings.password,
    tls: tlsOptions(settings),
    db: settings.kind === 'cluster' ? 0 : settings.database,
    // GET, SET and PING are the same in both protocols; RESP2 saves a negotiation, and some proxies know only RESP2.
    protocol: 2,
    // Shown by CLIENT LIST on the server.
    connectionName: `serpcache-${name.replace(/[^\w-]/g, '_')}`,
    // Two commands of the handshake without a use here, for which an ACL user would need rights.
    disableClientInfo: true,

    connectTimeout: settings.connectTimeoutMs,
    // Closes the connection to a peer that is silent. It is long, because it does not bound a command: each command has
    // its own deadline, which closes no connection.
    socketTimeout: settings.socketTimeoutMs,
    // `commandTimeout` is not set: it rejects the promise but leaves the command in the queue, so it bounds nothing.
    // The time from an orderly end of the connection to its destruction.
    disconnectTimeout: 200,

    // The default queues without end while there is no connection; a read has a deadline, and then the engine answers.
    enableOfflineQueue: false,
    // Commands in flight when a connection breaks fail at once: a failed read is a miss, and a miss is not repeated.
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    // Auto-pipelining has unbounded batches, deadlines that do not hold, and with a killed cluster node an outage that
    // never ends (redis/ioredis#2075). Our own pipelines: pipeline.ts.
    enableAutoPipelining: false,
    // Ready means that the server has loaded its data; while it loads, it is asked again after at most this time.
    enableReadyCheck: true,
    maxLoadingRetryTime: 500,
    retryStrategy: (attempt: number) => reconnectDelayMs(attempt, random),
  } satisfies RedisOptions;
}

export function sentinelOptions(settings: SentinelSettings, name: string, random: () => number) {
  const { reachable } = createEndpoints(settings.natMap);
  return {
    ...nodeOptions(settings, name, random),
    sentinels: settings.sentinels.map(({ host, port }) => ({ host, port })),
    name: settings.master,
    // Sentinels name a master, and each other, as they reach them themselves.
    natMap: (announced: string) => {
      const colon = announced.lastIndexOf(':');
      // A copy, because ioredis adds the certificates to it.
      return { ...reachable({ host: announced.slice(0, colon), port: Number(announced.slice(colon + 1)) }) };
    },
    sentinelUsername: settings.sentinelUsername,
    sentinelPassword: settings.sentinelPassword,
    // Both use TLS or neither: without this ioredis sends plain text to a master found through sentinels.
    sentinelTLS: tlsOptions(settings),
    enableTLSForSentinelMode: settings.tls !== undefined,
    // ioredis would look through all known sentinels for each one that a sentinel names, and never forget one.
    updateSentinels: false,
    // Without this timeout a sentinel that accepts and never answers would block the search for the master for ever.
    sentinelCommandTimeout: settings.connectTimeoutMs,
    sentinelRetryStrategy: (attempt: number) => reconnectDelayMs(attempt, random),
    // Not needed: sentinels kill a demoted master's connections, socketTimeout closes the others, and a refused write
    // leads back to the sentinels (`createReadOnly`).
    failoverDetector: false,
  } satisfies RedisOptions;
}

export function clusterOptions(settings: ClusterSettings, name: string, random: () => number) {
  // The pool sets the node's retryStrategy and offline queue itself, and refuses them here.
  const { retryStrategy, enableOfflineQueue, ...redisOptions } = nodeOptions(settings, name, random);
  return {
    redisOptions,
    enableOfflineQueue,
    // Null, the default, drops a restarted node until a MOVED names it.
    clusterNodeRetryStrategy: retryStrategy,
    clusterRetryStrategy: (attempt: number) => reconnectDelayMs(attempt, random),
    // We send commands to their node directly, so these redirections and delays apply only to ioredis' own commands.
    maxRedirections: 3,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    // Off: we refresh the slot map ourselves, with jitter, and sooner when a node fails (`createRefresher`).
    slotsRefreshInterval: 0,
    slotsRefreshTimeout: settings.connectTimeoutMs,
    // A replica may lag behind; a page that was just deleted must not come back from it.
    scaleReads: 'master',
    // The check asks one random node for the cluster's state and starts over when that node is away: a store that
    // starts beside a dead shard would serve none of the others. Each node has its own ready check.
    enableReadyCheck: false,
    // Passes host names to the socket unresolved: certificates name hosts, each connection resolves again, and one name
    // that does not resolve does not fail all the startup nodes (ioredis looks them all up together).
    dnsLookup: (host, done) => done(null, host),
  } satisfies ClusterOptions;
}

function tlsOptions({ tls }: RedisSettings) {
  if (tls === undefined) return undefined;
  const { ca, cert, key, serverName: servername, rejectUnauthorized } = tls;
  return { ca, cert, key, servername, rejectUnauthorized };
}

/** Maximum time of a handshake since its last sign of loading, in sums of the two timeouts. */
const HANDSHAKE_TIMEOUTS = 2;

/** The parts of a topology beside its settings. */
export interface TopologyParts {
  /** The domain's name: part of its names in the store, and shown by CLIENT LIST of the servers. */
  readonly name: string;
  readonly clock: Clock;
  /** [0, 1): spreads waits, so that a fleet does not act at once. */
  readonly random: () => number;
  readonly observe: (event: StoreEvent) => void;
}

interface ConnectionWatch extends Omit<TopologyParts, 'name'> {
  readonly address: () => string;
  readonly onReady: () => void;
  /** Called before the connection ends because its replies cannot be trusted. */
  readonly onProtocolError: () => void;
  /** Whether the address came from the servers and not from the configuration: then `natMap` may be missing. */
  readonly announced?: (detail: string) => boolean;
}

/**
 * Turns the events of one ioredis connection into ours. It always listens to `error`, because ioredis writes an error
 * without a listener to the console. ioredis emits `close` for every attempt; we report only the end of an open
 * connection, and of a handshake that ended without a reason.
 */
export function watchConnection(redis: Redis, watch: ConnectionWatch) {
  const { address, clock, random, observe, onReady, onProtocolError, announced } = watch;
  redis.on(PROTOCOL_ERROR, onProtocolError);
  const handshake = createHandshake(redis);
  const readOnly = createReadOnly({ clock, random, look: () => leaveReplica(redis) });
  /** `explained`: a handshake whose end has its reason. */
  let state: 'none' | 'handshake' | 'explained' | 'open' = 'none';
  let trouble: StoreReason | undefined;

  const failed = (detail: string): void => {
    const reason = storeReasonOf(detail);
    // The reason stays until the connection is ready; that it is read-only is known to `readOnly`.
    if (reason !== 'read-only') trouble = reason;
    const words = announced?.(detail) ? `${detail} (an address that the servers announce: see natMap)` : detail;
    observe({ kind: 'connection', node: address(), state: 'failed', reason, detail: words });
  };
  const failedInHandshake = (detail: string): void => {
    if (state === 'handshake') state = 'explained';
    failed(detail);
  };
  reportClosedDoors(redis, failedInHandshake);
  acceptServersWithoutInfo(redis, (role, isLoading) => {
    readOnly.told(isClusterReplica(redis) ? 'master' : role);
    if (!isLoading) return;
    limit?.refresh();
    failed('LOADING, as its INFO says');
  });
  // `socketTimeout` is no bound here: each byte of an endless reply puts it off.
  const handshakeMs = HANDSHAKE_TIMEOUTS * ((redis.options.connectTimeout ?? 0) + (redis.options.socketTimeout ?? 0));
  let limit: NodeJS.Timeout | undefined;
  redis.on('connect', () => {
    state = 'handshake';
    const { stream } = redis;
    limit = setTimeout(() => stream.destroy(new Error('the handshake timed out')), handshakeMs).unref();
  });
  redis.on('ready', () => {
    clearTimeout(limit);
    state = 'open';
    trouble = undefined;
    onReady(); // first, because behind sentinels it determines which node this is
    observe({ kind: 'connection', node: address(), state: 'open' });
  });
  redis.on('error', (error: Error) => {
    const detail = detailOf(error);
    // A reset explains no more than the end that follows, or than an error before it.
    if ((state === 'handshake' || state === 'explained') && storeReasonOf(detail) === 'closed') return;
    failedInHandshake(detail);
  });
  redis.on('close', () => {
    clearTimeout(limit);
    readOnly.stop();
    const ended = state;
    state = 'none';
    if (ended === 'open') {
      trouble = 'closed';
      handshake.restore();
      observe({ kind: 'connection', node: address(), state: 'closed' });
    } else if (ended === 'handshake' && redis.status !== 'end') {
      handshake.alternate();
      failed('the server closed the connection in its handshake');
    }
  });
  return {
    /** Why it is not ready, or takes no writes. */
    trouble: (): StoreReason | undefined =>
      readOnly.holds() && !isClusterReplica(redis) ? (trouble ?? 'read-only') : trouble,
    /** Called for each write that the server refused as a replica. Leads to another connection, with bounds. */
    writeRefused: (detail: string): void => {
      if (readOnly.refused()) failed(detail);
    },
  };
}

export type ConnectionState = ReturnType<typeof watchConnection>;

/** A replica of a cluster is one on purpose: nothing is written to it. Its role in the map may change while it is connected. */
const isClusterReplica = (redis: Redis): boolean => redis.options.readOnly === true;

/** Maximum time of a look at the server to which a new connection leads. */
const LOOK_MS = 3000;

/**
 * Resolves the name, or asks the sentinels, again. The connection ends when that leads to a server that is no replica, or
 * that refuses INFO; otherwise it stays, because a replica can be read.
 */
async function leaveReplica(redis: Redis): Promise<void> {
  if (isClusterReplica(redis)) return;
  const copy = redis.duplicate({ lazyConnect: true, retryStrategy: null, enableReadyCheck: false });
  copy.on('error', () => {}); // `connect` rejects with it
  const giveUp = (): void => cut(copy);
  const timer = setTimeout(giveUp, LOOK_MS).unref();
  redis.once('end', giveUp);
  try {
    await copy.connect();
    const isReplica = /^role:slave/m.test(String(await copy.info('replication')));
    if (!isReplica && redis.status === 'ready') redis.disconnect(true);
  } catch (error) {
    if (error instanceof Error && error.name === 'ReplyError' && redis.status === 'ready') redis.disconnect(true);
  } finally {
    clearTimeout(timer);
    redis.off('end', giveUp);
    giveUp();
  }
}

/** Ends a connection at once: `disconnect` alone waits for a peer that may be stopped. */
export function cut(redis: Redis): void {
  redis.disconnect();
  redis.stream?.destroy();
}

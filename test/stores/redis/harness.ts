import { after, afterEach, before, beforeEach, type TestContext } from 'node:test';
import { type RedisStack, startCluster, startStandalone } from '../../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import type { Store, StoreEvent } from '../../../src/cache/store.ts';
import type { StoreProbe } from '../../../src/operations/doctor/doctor.ts';
import { systemClock } from '../../../src/runtime.ts';
import type { HostPort } from '../../../src/schema/units.ts';
import type { ClusterSettings, RedisSettings } from '../../../src/stores/redis/connection.ts';
import { createRedisProbe } from '../../../src/stores/redis/probe.ts';
import { createRedisStore, type RedisStore, type RedisStoreOptions } from '../../../src/stores/redis/store.ts';
import { until } from '../../until.ts';

/** A deadline or a timeout that is never reached: something else ends the wait. */
export const LONG_MS = 600_000;

/** The part of a store's settings that every kind has. */
type StoreConnection = Omit<ClusterSettings, 'kind' | 'nodes' | 'natMap'>;

/** The defaults of the configuration, but no connection ends because its server is silent: on a slow machine it may be. */
export const CONNECTION: StoreConnection = {
  deadlineMs: 50,
  connectTimeoutMs: 2000,
  socketTimeoutMs: LONG_MS,
  maxOutstanding: 1024,
  batchSize: 128,
  refreshMs: 15_000,
  dedicated: false,
  shared: false,
};

/** The socket timeout of the configuration, for stores that leave a silent server. */
export const SILENCE_MS = 3000;

export interface OpenStore {
  readonly store: RedisStore;
  /** All events until now. */
  readonly events: readonly StoreEvent[];
}

export function openStore(settings: RedisSettings, over: Partial<RedisStoreOptions> = {}): OpenStore {
  const events: StoreEvent[] = [];
  const observe = (event: StoreEvent): void => {
    events.push(event);
  };
  const given = { settings, name: 'goods', clock: systemClock, random: Math.random, observe };
  const store = createRedisStore({ ...given, ...over });
  return { store, events };
}

/** Closed at the end of the test. */
export function openedFor(t: TestContext, ...given: Parameters<typeof openStore>): OpenStore {
  const opened = openStore(...given);
  t.after(opened.store.close);
  return opened;
}

/** Connected to `count` nodes, and closed at the end of the test. */
export async function connectedFor(t: TestContext, settings: RedisSettings, count = 1): Promise<OpenStore> {
  const opened = openedFor(t, settings);
  await connected(opened.store, count);
  return opened;
}

/** Stopped at the end of the test. */
export async function startedFor<T extends { stop(): Promise<void> }>(
  t: TestContext,
  starting: Promise<T>,
): Promise<T> {
  const started = await starting;
  t.after(started.stop);
  return started;
}

type Servers = readonly HostPort[];

const at = (servers: Servers): HostPort[] => servers.map(({ host, port }) => ({ host, port }));

export const standaloneOf = (
  { nodes: [node] }: { readonly nodes: Servers },
  over: Partial<StoreConnection> & { readonly database?: number } = {},
): RedisSettings => {
  if (node === undefined) throw new Error('a stack without nodes');
  return { kind: 'standalone', nodes: [{ host: node.host, port: node.port }], database: 0, ...CONNECTION, ...over };
};

export const clusterOf = (
  { nodes }: { readonly nodes: Servers },
  over: Partial<StoreConnection> = {},
): ClusterSettings => ({ kind: 'cluster', nodes: at(nodes), ...CONNECTION, ...over });

export const sentinelOf = (
  { sentinels, master = 'm' }: { readonly sentinels: Servers; readonly master?: string },
  over: Partial<StoreConnection> = {},
): RedisSettings => ({ kind: 'sentinel', sentinels: at(sentinels), master, database: 0, ...CONNECTION, ...over });

/** Closed at the end of the test. */
export function probeOf(settings: RedisSettings, t?: TestContext): StoreProbe {
  const { deadlineMs, connectTimeoutMs, socketTimeoutMs, maxOutstanding, batchSize, dedicated } = settings;
  const limits = { deadlineMs, connectTimeoutMs, socketTimeoutMs, maxOutstanding, batchSize, dedicated };
  const facts = {
    domains: ['goods'],
    kind: settings.kind,
    isCache: true,
    settings: { ...limits, tls: false, names: [] },
  };
  const probe = createRedisProbe({
    settings,
    facts: { ...facts, name: 'store of goods' },
    clock: systemClock,
    random: Math.random,
  });
  t?.after(() => probe.close());
  return probe;
}

/** At least `count`: replicas may join when the next refresh finds them. */
export const connected = (store: Store, count: number): Promise<void> =>
  until(`${count} connected nodes`, async () => store.nodes().filter((node) => node.connected).length >= count);

export interface OnServers extends OpenStore {
  readonly stack: RedisStack;
  /** The first server. */
  readonly server: RedisNode;
}

type Begin = (given: OnServers) => Promise<void> | void;

/** Real servers for all tests of the surrounding `describe`, with a new store for each. */
function onServers(
  start: () => Promise<RedisStack>,
  open: (stack: RedisStack) => Promise<OpenStore>,
  begin: Begin,
): void {
  let stack: RedisStack | undefined;
  let opened: OpenStore | undefined;
  before(async () => {
    stack = await start();
  });
  after(() => stack?.stop());
  beforeEach(async () => {
    const [server] = stack?.nodes ?? [];
    if (stack === undefined || server === undefined) throw new Error('there is no server');
    opened = await open(stack);
    await connected(opened.store, stack.nodes.length);
    await begin({ stack, server, ...opened });
  });
  afterEach(() => opened?.store.close());
}

/** One server, which is emptied before each test. @param begin called at the beginning of each test */
export const onOneServer = (connection: Partial<StoreConnection>, begin: Begin): void =>
  onServers(
    () => startStandalone({ flavour: 'redis' }),
    async (stack) => {
      await stack.nodes[0]?.command('FLUSHALL');
      return openStore(standaloneOf(stack, connection));
    },
    begin,
  );

/** A cluster of three. @param begin called at the beginning of each test */
export const onOneCluster = (flavour: 'redis' | 'valkey', connection: Partial<StoreConnection>, begin: Begin): void =>
  onServers(
    () => startCluster({ flavour, masters: 3 }),
    async (stack) => openStore(clusterOf(stack, connection)),
    begin,
  );

type Command = readonly string[];

async function during<T>(server: RedisNode, begin: Command, end: Command, run: () => Promise<T>): Promise<T> {
  await server.command(...begin);
  try {
    return await run();
  } finally {
    await server.command(...end);
  }
}

/** Runs while the server refuses every write that needs memory. */
export const whileFull = <T>(server: RedisNode, run: () => Promise<T>): Promise<T> =>
  during(
    server,
    ['CONFIG', 'SET', 'maxmemory-policy', 'noeviction', 'maxmemory', '1'],
    ['CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru', 'maxmemory', '0'],
    run,
  );

/** Runs while the server is a replica of a server that is not there. */
export const whileReplica = <T>(server: RedisNode, run: () => Promise<T>): Promise<T> =>
  during(server, ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE'], run);

/** Runs while the user has no right to the command. */
export const whileDenied = <T>(server: RedisNode, command: string, run: () => Promise<T>): Promise<T> =>
  during(server, ['ACL', 'SETUSER', 'default', `-${command}`], ['ACL', 'SETUSER', 'default', `+${command}`], run);

/** Runs while the server is stopped. */
export async function whilePaused<T>(server: RedisNode, run: () => Promise<T>): Promise<T> {
  await server.pause();
  try {
    return await run();
  } finally {
    server.resume();
  }
}

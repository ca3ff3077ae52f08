import slotOf from 'cluster-key-slot';
import { Cluster, type Redis } from 'ioredis';
import type { StoreReason } from '../../cache/store.ts';
import type { Clock } from '../../runtime.ts';
import { type ClusterSettings, clusterOptions, cut, type TopologyParts, watchConnection } from './connection.ts';
import { createEndpoints, translateSlots } from './endpoints.ts';
import { detailOf, isOfNetwork, storeReasonOf } from './errors.ts';
import { createRedisNode, type RedisNode } from './node.ts';
import type { Topology } from './send.ts';

/**
 * Redis Cluster: ioredis keeps the slot map and the connections, and we send each command to its node directly. We start
 * the refreshes of the map: ioredis' own timer is off by default, and none of its own triggers fires for a silent node.
 */
export function connectCluster(settings: ClusterSettings, parts: TopologyParts): Topology {
  const { name, clock, random, observe } = parts;
  const endpoints = createEndpoints(settings.natMap);
  const configured = new Set(settings.nodes.map(({ host, port }) => `${host}:${port}`));
  const nodes = new Map<string, RedisNode>();
  let closed = false;
  let trouble: StoreReason | undefined;

  const nodeFor = (address: string, redis: Redis): RedisNode => {
    const node = createRedisNode(settings, {
      ...parts,
      address,
      redis,
      nodeAt: (other) => nodes.get(endpoints.ofRedirect(other, redis.options.host ?? '')),
      refreshSlots,
      connection: () => connection,
    });
    const connection = watchConnection(redis, {
      ...parts,
      address: () => address,
      onReady: node.probeNow,
      onProtocolError: node.trip,
      announced: (detail) => !configured.has(address) && isOfNetwork(storeReasonOf(detail)),
    });
    redis.on('close', refreshSlots);
    return node;
  };

  /** Makes our nodes equal to ioredis' pool, which sends no event for one that it drops while that one is away. */
  const reconcile = (): void => {
    if (closed) return;
    const found = new Set<string>();
    for (const redis of client.nodes('all')) {
      const address = `${redis.options.host}:${redis.options.port}`;
      found.add(address);
      const known = nodes.get(address);
      if (known?.redis === redis) continue;
      known?.retire();
      nodes.set(address, nodeFor(address, redis));
    }
    for (const [address, node] of [...nodes]) {
      if (found.has(address)) continue;
      nodes.delete(address);
      node.retire();
    }
  };

  /**
   * ioredis connects to a node at its first command and refuses further commands until it is connected: so this
   * connects earlier. It does so only when the cluster is ready: until then the pool holds startup nodes under their
   * configured names.
   */
  const warmUp = (): void => {
    if (client.status !== 'ready') return;
    for (const redis of client.nodes('all')) {
      if (redis.status !== 'wait') continue;
      redis.connect().then(
        () => redis.ping().catch(() => {}),
        () => {}, // ioredis tries again, and `error` has reported why
      );
    }
  };

  const onNodes = (): void => {
    reconcile();
    warmUp();
  };
  let isChanging = false;
  /** ioredis tells one node after the other of a new map, of at most a thousand. */
  const onNode = (): void => {
    if (isChanging) return;
    isChanging = true;
    queueMicrotask(() => {
      isChanging = false;
      onNodes();
    });
  };

  let layout = '';
  const onRefresh = (): void => {
    trouble = undefined;
    onNodes();
    const next = [...nodes.keys()].sort().join(' ');
    if (next === layout) return;
    layout = next;
    observe({ kind: 'topology', detail: `nodes: ${next}` });
  };

  const build = (): Cluster => {
    const cluster = new Cluster(
      settings.nodes.map(({ host, port }) => ({ host, port })),
      clusterOptions(settings, name, random),
    );
    const whileCurrent = (listener: () => void) => () => {
      if (cluster === client) listener();
    };
    cluster.on('error', (error: Error & { readonly lastNodeError?: Error }) => {
      // "Failed to refresh slots cache" alone does not show a wrong password.
      const detail = error.lastNodeError ? `${error.message} ${detailOf(error.lastNodeError)}` : error.message;
      trouble = storeReasonOf(detail);
      observe({ kind: 'connection', node: unknownNode, state: 'failed', reason: trouble, detail });
    });
    // ioredis may ask a new node for the slot map in this turn.
    cluster.on('+node', (redis: Redis) => translateSlots(redis, endpoints));
    cluster.on('+node', whileCurrent(onNode));
    cluster.on('-node', whileCurrent(onNode));
    cluster.on('refresh', whileCurrent(onRefresh));
    cluster.on('ready', whileCurrent(warmUp));
    return cluster;
  };

  const end = (cluster: Cluster): void => {
    const connections = cluster.nodes('all');
    cluster.disconnect();
    for (const redis of connections) cut(redis);
  };

  const unknownNode = settings.nodes.map(({ host, port }) => `${host}:${port}`).join(',');
  const refresher = createRefresher({
    clock,
    random,
    intervalMs: settings.refreshMs,
    refresh(why) {
      if (client.status === 'ready') client.refreshSlotsCache();
      if (why === 'trouble' || [...nodes.values()].some(({ redis }) => redis.status === 'ready')) return;
      // ioredis asks only nodes that it knows: when all of them have new addresses, only the configured names lead to
      // them.
      observe({ kind: 'topology', detail: 'no node answers: starting over from the configured ones' });
      const old = client;
      client = build();
      end(old);
    },
  });
  function refreshSlots(): void {
    refresher.soon();
  }
  let client = build();

  return {
    ownerOf(name) {
      if (closed) return undefined;
      const node = nodes.get(client.slots[slotOf(name)]?.[0] ?? '');
      if (node === undefined) refreshSlots();
      return node;
    },
    locate(name) {
      const slot = slotOf(name);
      return { slot, node: client.slots[slot]?.[0] };
    },
    nodes: () => [...nodes.values()],
    owners() {
      if (closed) return [];
      const addresses = new Set(client.slots.map((slot) => slot?.[0]));
      return [...nodes.values()].filter(({ address }) => addresses.has(address));
    },
    trouble: () => trouble,
    close() {
      closed = true;
      refresher.close();
      end(client);
    },
  };
}

interface RefresherOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly intervalMs: number;
  readonly refresh: (why: 'interval' | 'trouble') => void;
}

/** Each refresh opens a connection: in trouble every process makes about one per second, not one per failed read. */
const TROUBLE_INTERVAL_MS = 1000;

/** Refreshes the slot map every `intervalMs`, ±25 % so that a fleet does not ask at once, and sooner in trouble. */
export function createRefresher({ clock, random, intervalMs, refresh }: RefresherOptions) {
  const jittered = (ms: number): number => ms * (0.75 + random() / 2);
  let lastMs = clock.monotonicMs();
  let regular: NodeJS.Timeout | undefined;
  let urgent: NodeJS.Timeout | undefined;
  let closed = false;

  const runRegularly = (): void => {
    regular = setTimeout(() => {
      lastMs = clock.monotonicMs();
      refresh('interval');
      runRegularly();
    }, jittered(intervalMs)).unref();
  };
  runRegularly();

  return {
    /** Refreshes at once, or `TROUBLE_INTERVAL_MS` after the last refresh. No request is lost. */
    soon(): void {
      if (urgent !== undefined || closed) return;
      const waitMs = Math.max(0, lastMs + jittered(TROUBLE_INTERVAL_MS) - clock.monotonicMs());
      urgent = setTimeout(() => {
        urgent = undefined;
        lastMs = clock.monotonicMs();
        refresh('trouble');
      }, waitMs).unref();
    },
    close(): void {
      closed = true;
      clearTimeout(regular);
      clearTimeout(urgent);
    },
  };
}

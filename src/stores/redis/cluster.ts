import { Cluster, type Redis } from 'ioredis';
import type { Clock } from '../../runtime.ts';
import { createRedisNode, type RedisNode, type Topology, type TopologyParts } from './node.ts';
import { type ClusterSettings, clusterOptions, cut, watchConnection } from './options.ts';

/**
 * Redis Cluster: ioredis keeps the map of slots and the connections, commands go to their node directly. A refresh is
 * asked for by us: ioredis' own timer is off by default, and none of its own triggers fires for a silent node.
 */
export function connectCluster(settings: ClusterSettings, parts: TopologyParts): Topology {
  const { name, clock, random, observe } = parts;
  const nodes = new Map<string, RedisNode>();
  let closed = false;

  const nodeFor = (address: string, redis: Redis): RedisNode => {
    const node = createRedisNode({
      address,
      redis,
      clock,
      random,
      maxOutstanding: settings.maxOutstanding,
      stuckMs: settings.socketTimeoutMs,
      observe,
      peer: (other) => nodes.get(other),
      remap,
    });
    const { revive, garbled } = node;
    watchConnection(redis, { address: () => address, observe, onReady: revive, onGarbage: garbled });
    redis.on('close', () => remap());
    return node;
  };

  /** Makes our nodes those of ioredis' pool. By comparing, because its events miss nodes it drops while they are away. */
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
   * ioredis connects to a node at its first command and refuses the next ones meanwhile: connect before they come.
   * Not before the cluster is ready, though: until then the pool holds startup nodes under their configured names.
   */
  const warmUp = (): void => {
    if (client.status !== 'ready') return;
    for (const redis of client.nodes('all')) {
      if (redis.status !== 'wait') continue;
      redis.connect().then(
        () => redis.ping().catch(() => {}),
        () => {}, // it tries again by itself, and `error` has told why
      );
    }
  };

  const onNode = (): void => {
    reconcile();
    warmUp();
  };

  let layout = '';
  const onRefresh = (): void => {
    reconcile();
    warmUp();
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
    const unlessReplaced = (then: () => void) => () => {
      if (cluster === client) then();
    };
    cluster.on('error', (error: Error & { readonly lastNodeError?: Error }) => {
      // "Failed to refresh slots cache" alone does not say that the password is wrong.
      const detail = error.lastNodeError ? `${error.message} ${error.lastNodeError.message}` : error.message;
      observe({ kind: 'connection', node: unplaced, state: 'failed', detail });
    });
    cluster.on('+node', unlessReplaced(onNode));
    cluster.on('-node', unlessReplaced(onNode));
    cluster.on('refresh', unlessReplaced(onRefresh));
    cluster.on('ready', unlessReplaced(warmUp));
    return cluster;
  };

  const end = (cluster: Cluster): void => {
    const connections = cluster.nodes('all');
    cluster.disconnect();
    for (const redis of connections) cut(redis);
  };

  const unplaced = settings.nodes.map(({ host, port }) => `${host}:${port}`).join(',');
  const refresher = createRefresher({
    clock,
    random,
    intervalMs: settings.refreshMs,
    refresh(why) {
      if (client.status === 'ready') client.refreshSlotsCache();
      if (why === 'trouble' || [...nodes.values()].some(({ redis }) => redis.status === 'ready')) return;
      // ioredis only asks nodes it knows: when all of them have new addresses, only the configured names lead back.
      observe({ kind: 'topology', detail: 'no node answers: starting over from the configured ones' });
      const old = client;
      client = build();
      end(old);
    },
  });
  function remap(): void {
    refresher.soon();
  }
  let client = build();

  const ownerAddress = (slot: number): string | undefined => client.slots[slot]?.[0];
  const ownerOf = (key: string): RedisNode | undefined => nodes.get(ownerAddress(slotOf(key)) ?? '');

  return {
    ownerOf,
    locate(key) {
      const slot = slotOf(key);
      const node = ownerAddress(slot);
      return node === undefined ? { slot } : { slot, node };
    },
    nodes: () => [...nodes.values()],
    owners() {
      const addresses = new Set(client.slots.map((slot) => slot?.[0]));
      return [...nodes.values()].filter(({ address }) => addresses.has(address));
    },
    unplaced,
    remap,
    close() {
      closed = true;
      refresher.close();
      end(client);
    },
  };
}

const SLOTS = 16_384;

/** CRC16 as Redis Cluster uses it (XMODEM: polynomial 0x1021, initial 0), one entry per byte. */
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc & 0xffff;
});

/**
 * The Redis Cluster hash slot of a name, 0–16383: of what stands between the first `{` and the next `}`, unless that
 * is empty. Our own, because the package ioredis uses takes a later tag where the first one is empty (`{}a{b}`), and
 * a slot that differs from `CLUSTER KEYSLOT` books a node's errors to another.
 */
export function slotOf(name: string): number {
  const open = name.indexOf('{');
  const close = open < 0 ? -1 : name.indexOf('}', open + 1);
  const tag = close > open + 1 ? name.slice(open + 1, close) : name;
  let crc = 0;
  for (let index = 0; index < tag.length; index += 1) {
    const unit = tag.charCodeAt(index);
    // Names of ours are ASCII: bytes are made only for names that are not.
    if (unit > 0x7f) return slotOfBytes(Buffer.from(tag));
    crc = ((crc << 8) & 0xffff) ^ (TABLE[(crc >> 8) ^ unit] ?? 0);
  }
  return crc % SLOTS;
}

function slotOfBytes(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) crc = ((crc << 8) & 0xffff) ^ (TABLE[(crc >> 8) ^ byte] ?? 0);
  return crc % SLOTS;
}

export interface Refresher {
  /** Refresh soon: at once when the last one is long enough ago, else as soon as it is. Never lost, never a storm. */
  readonly soon: () => void;
  readonly close: () => void;
}

export interface RefresherOptions {
  readonly clock: Clock;
  readonly random: () => number;
  /** Between refreshes while all is well. */
  readonly intervalMs: number;
  readonly refresh: (why: 'interval' | 'trouble') => void;
}

/** Each refresh opens a connection: in trouble every process makes about one a second, not one per failed read. */
const TROUBLE_GAP_MS = 1000;

/** When to look at the topology again: every `intervalMs`, ±25 % so that a fleet does not ask at once. */
export function createRefresher({ clock, random, intervalMs, refresh }: RefresherOptions): Refresher {
  const jittered = (ms: number): number => ms * (0.75 + random() / 2);
  let lastMs = clock.monotonicMs();
  let urgent: NodeJS.Timeout | undefined;
  let closed = false;

  const run = (why: 'interval' | 'trouble'): void => {
    lastMs = clock.monotonicMs();
    refresh(why);
  };
  const next = (): NodeJS.Timeout =>
    setTimeout(() => {
      run('interval');
      regular = next();
    }, jittered(intervalMs)).unref();
  let regular = next();

  return {
    soon() {
      if (urgent !== undefined || closed) return;
      const waitMs = Math.max(0, lastMs + jittered(TROUBLE_GAP_MS) - clock.monotonicMs());
      urgent = setTimeout(() => {
        urgent = undefined;
        run('trouble');
      }, waitMs).unref();
    },
    close() {
      closed = true;
      clearTimeout(regular);
      clearTimeout(urgent);
    },
  };
}

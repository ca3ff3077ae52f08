import { Redis } from 'ioredis';
import { formatAddress } from '../../schema/units.ts';
import {
  cut,
  nodeOptions,
  type RedisSettings,
  reconnectDelayMs,
  sentinelOptions,
  type TopologyParts,
  watchConnection,
} from './connection.ts';
import { isOfNetwork, storeReasonOf } from './errors.ts';
import { createRedisNode, type RedisNode } from './node.ts';
import type { Topology } from './send.ts';

type SingleSettings = Exclude<RedisSettings, { readonly kind: 'cluster' }>;

/** One server, or the current master that sentinels name: one connection in both cases. */
export function connectSingle(settings: SingleSettings, parts: TopologyParts): Topology {
  const { name, random, observe } = parts;
  const redis =
    settings.kind === 'sentinel'
      ? new Redis(sentinelOptions(settings, name, random))
      : new Redis({ ...nodeOptions(settings, name, random), ...settings.nodes[0] });
  let closed = false;
  let reconnect: NodeJS.Timeout | undefined;
  // When SELECT is refused ioredis continues in database 0, perhaps among another domain's entries. So we send SELECT
  // again, and the connection stays unused until the server accepts it.
  let selected = settings.database === 0;

  const nodeAt = (address: string): RedisNode =>
    createRedisNode(settings, {
      ...parts,
      address,
      redis,
      nodeAt: () => undefined,
      refreshSlots: () => {},
      unusable: () => (selected ? undefined : 'database'),
      connection: () => connection,
    });
  // The sentinels name the server; until then there is no node.
  let node = settings.kind === 'standalone' ? nodeAt(formatAddress(settings.nodes[0])) : undefined;
  const unknownNode = settings.kind === 'sentinel' ? settings.master : (node?.address ?? name);

  const select = (): void => {
    selected = false;
    redis.select(settings.database).then(
      () => {
        selected = true;
      },
      (error: Error) => {
        const detail = `database ${settings.database}: ${error.message}`;
        const event = { kind: 'connection', state: 'failed', reason: 'database', detail } as const;
        observe({ ...event, node: node?.address ?? unknownNode });
      },
    );
  };

  const onReady = (): void => {
    if (settings.database !== 0) select();
    if (settings.kind === 'sentinel') {
      const address = `${redis.stream.remoteAddress}:${redis.stream.remotePort}`;
      if (node?.address !== address) {
        // After a failover it is another server: the failures of the old one do not count for it.
        node?.retire();
        node = nodeAt(address);
        observe({ kind: 'topology', detail: `${settings.master} is ${address}` });
      }
    }
    node?.probeNow();
  };
  const connection = watchConnection(redis, {
    ...parts,
    address: () => node?.address ?? unknownNode,
    onReady,
    onProtocolError: () => node?.trip(),
    announced: (detail) =>
      settings.kind === 'sentinel' && !detail.includes('sentinels') && isOfNetwork(storeReasonOf(detail)),
  });
  // ioredis gives up for ever when a connection cannot be started; a store must recover without a restart.
  redis.on('end', () => {
    if (closed) return;
    reconnect = setTimeout(() => redis.connect().catch(() => {}), reconnectDelayMs(10, random));
  });

  return {
    ownerOf: () => (closed ? undefined : node),
    locate: () => ({ node: node?.address }),
    nodes: () => (node ? [node] : []),
    owners: () => (node && !closed ? [node] : []),
    trouble: () => (node === undefined ? connection.trouble() : undefined),
    close() {
      closed = true;
      clearTimeout(reconnect);
      cut(redis);
    },
  };
}

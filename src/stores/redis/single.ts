import { Redis } from 'ioredis';
import { createRedisNode, type RedisNode, type Topology, type TopologyParts } from './node.ts';
import { cut, nodeOptions, type RedisSettings, reconnectDelayMs, sentinelOptions, watchConnection } from './options.ts';

type SingleSettings = Exclude<RedisSettings, { readonly kind: 'cluster' }>;

/** One server, or the master that sentinels name at present: one connection either way. */
export function connectSingle(settings: SingleSettings, { name, clock, random, observe }: TopologyParts): Topology {
  const redis =
    settings.kind === 'sentinel'
      ? new Redis(sentinelOptions(settings, name, random))
      : new Redis({ ...nodeOptions(settings, name, random), ...settings.nodes[0] });
  let closed = false;
  let again: NodeJS.Timeout | undefined;
  // ioredis goes on in database 0 when SELECT is refused, among another domain's entries perhaps: so it is asked again,
  // and the connection stays unused until the server has said yes.
  let selected = settings.database === 0;

  const nodeAt = (address: string): RedisNode =>
    createRedisNode({
      address,
      redis,
      clock,
      random,
      maxOutstanding: settings.maxOutstanding,
      stuckMs: settings.socketTimeoutMs,
      observe,
      peer: () => undefined,
      remap: () => {},
      usable: () => selected,
    });
  // Which server it is comes from the sentinels; until then there is no node.
  let node = settings.kind === 'standalone' ? nodeAt(`${settings.nodes[0].host}:${settings.nodes[0].port}`) : undefined;
  const unplaced = settings.kind === 'sentinel' ? settings.master : (node?.address ?? name);

  const select = (): void => {
    selected = false;
    redis.select(settings.database).then(
      () => {
        selected = true;
      },
      (error: Error) => {
        const detail = `database ${settings.database}: ${error.message}`;
        observe({ kind: 'connection', node: node?.address ?? unplaced, state: 'failed', detail });
      },
    );
  };

  const onReady = (): void => {
    if (settings.database !== 0) select();
    if (settings.kind === 'sentinel') {
      const address = `${redis.stream.remoteAddress}:${redis.stream.remotePort}`;
      if (node?.address !== address) {
        // After a failover it is another server: what its predecessor did is not held against it.
        node?.retire();
        node = nodeAt(address);
        observe({ kind: 'topology', detail: `${settings.master} is ${address}` });
      }
    }
    node?.revive();
  };
  const onGarbage = (): void => node?.garbled();
  watchConnection(redis, { address: () => node?.address ?? unplaced, observe, onReady, onGarbage });
  // ioredis gives up for good when a connection cannot even be begun; a store heals by itself.
  redis.on('end', () => {
    if (closed) return;
    again = setTimeout(() => redis.connect().catch(() => {}), reconnectDelayMs(10, random));
  });

  return {
    ownerOf: () => node,
    locate: () => (node ? { node: node.address } : {}),
    nodes: () => (node ? [node] : []),
    owners: () => (node ? [node] : []),
    unplaced,
    remap: () => {},
    close() {
      closed = true;
      clearTimeout(again);
      cut(redis);
    },
  };
}

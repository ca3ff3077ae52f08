import { freePorts } from '../stack/process.ts';
import { startCluster } from '../stack/redis.ts';
import type { Flavour, RedisNode } from '../stack/redis-node.ts';
import type { FaultProxy, ProxyOptions } from './relay.ts';

export type ProxiedCluster<P extends FaultProxy> = Awaited<ReturnType<typeof startProxiedCluster<P>>>;

export type ProxiedNode<P extends FaultProxy> = ProxiedCluster<P>['shards'][number];

interface ProxiedClusterOptions<P extends FaultProxy> {
  readonly flavour: Flavour;
  /** `startTcpProxy`, `startRespProxy`, … */
  readonly startProxy: (options: ProxyOptions) => Promise<P>;
}

const MASTERS = 3;

/**
 * Clients reach each node through its proxy, redirects and CLUSTER SLOTS included, because the nodes announce the
 * proxies' ports; their bus talks directly.
 */
export async function startProxiedCluster<P extends FaultProxy>({ flavour, startProxy }: ProxiedClusterOptions<P>) {
  await using starting = new AsyncDisposableStack();
  const freed = await freePorts(2 * MASTERS);
  const [ports, announcedPorts] = [freed.slice(0, MASTERS), freed.slice(MASTERS)];
  const proxies: P[] = [];
  for (const [index, port] of ports.entries()) {
    const proxy = await startProxy({ target: { host: '127.0.0.1', port }, port: announcedPorts[index] ?? 0 });
    starting.defer(proxy.stop);
    proxies.push(proxy);
  }
  const stack = await startCluster({ flavour, masters: MASTERS, ports, announcedPorts });
  starting.defer(stack.stop);
  const started = starting.move();
  const shards: readonly { readonly node: RedisNode; readonly proxy: P }[] = proxies.flatMap((proxy, index) =>
    stack.nodes.slice(index, index + 1).map((node) => ({ node: refusing(node, proxy), proxy })),
  );
  return {
    shards,
    /** For a configuration: the proxies' addresses. */
    nodes: proxies.map(({ host, port }) => ({ host, port })),
    stop: () => started.disposeAsync(),
  };
}

/**
 * The server itself. Its `address` is the proxy's, as CLUSTER SLOTS names it; its `port` and `command` are its own, so that
 * commands of a test pass no proxy. A proxy accepts before it knows that its server is dead, so its port is closed and opened
 * with the server's.
 */
function refusing(node: RedisNode, proxy: FaultProxy): RedisNode {
  return {
    ...node,
    kill: async () => {
      await proxy.refuse(true);
      await node.kill();
    },
    stop: async () => {
      await proxy.refuse(true);
      await node.stop();
    },
    restart: async () => {
      await proxy.refuse(true);
      await node.restart();
      await proxy.refuse(false);
    },
  };
}

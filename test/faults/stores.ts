import { type ProxiedCluster, startProxiedCluster } from '../../loadtest/fault-proxy/cluster.ts';
import type { DnsNames } from '../../loadtest/fault-proxy/dns-names.ts';
import type { FaultProxy } from '../../loadtest/fault-proxy/relay.ts';
import { type RespProxy, startRespProxy } from '../../loadtest/fault-proxy/resp-proxy.ts';
import { startTcpProxy, type TcpProxy } from '../../loadtest/fault-proxy/tcp-proxy.ts';
import { startToxiproxy, type ToxicProxy } from '../../loadtest/fault-proxy/toxiproxy.ts';
import { type RedisStack, startCluster, startStandalone } from '../../loadtest/stack/redis.ts';
import type { Flavour, RedisNode } from '../../loadtest/stack/redis-node.ts';
import type { HostPort } from '../../src/schema/units.ts';
import { until } from '../until.ts';

/**
 * `cluster`: three masters. `replicated`: three masters with one replica each. `single`: one server without cluster mode.
 * `named`: one server behind a proxy, addressed by a host name. `behind-resp`, `behind-tcp`, `behind-toxics`: three
 * masters, each behind a proxy that works on commands, on connections, or is a toxiproxy. `shadowed`: three masters, a
 * candidate of three Valkey masters behind proxies that work on connections, and a control store. `controlled`: one server without
 * cluster mode, and a control store that keeps its data.
 */
export type StoreKind =
  | 'cluster'
  | 'replicated'
  | 'single'
  | 'named'
  | 'behind-resp'
  | 'behind-tcp'
  | 'behind-toxics'
  | 'shadowed'
  | 'controlled';

/** The subject's store, direct or behind proxies. */
export interface SubjectStore {
  readonly kind: 'cluster' | 'standalone';
  /** The addresses for the configuration. */
  readonly addresses: readonly HostPort[];
  readonly nodes: readonly RedisNode[];
  /** One proxy per node for the kind that has them; otherwise empty. */
  readonly resp: readonly RespProxy[];
  readonly tcp: readonly TcpProxy[];
  readonly toxics: readonly ToxicProxy[];
  /** For the kind `shadowed`. */
  readonly shadowed?: { readonly candidate: SubjectStore; readonly control: HostPort };
  /** For the kind `controlled`. */
  readonly control?: RedisNode;
  /** Connections accepted so far by all nodes; undefined without a proxy that counts them. */
  readonly opened: () => number | undefined;
  /** Removes every fault, empties the store and checks that the cluster is complete. @throws when it is not. */
  readonly clean: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export async function startStore(kind: StoreKind, names: DnsNames): Promise<SubjectStore> {
  switch (kind) {
    case 'cluster':
      return direct(await startCluster({ flavour: 'redis', masters: 3 }), 'cluster');
    case 'replicated':
      return direct(await startCluster({ flavour: 'redis', masters: 3, replicasPerMaster: 1 }), 'cluster');
    case 'single':
      return direct(await startStandalone({ flavour: 'redis' }), 'standalone');
    case 'named':
      return named(names);
    case 'behind-resp': {
      const cluster = await startProxiedCluster({ flavour: 'redis', startProxy: startRespProxy });
      const resp = cluster.shards.map(({ proxy }) => proxy);
      return behind(cluster, { resp }, async () => {
        for (const proxy of resp) {
          proxy.answer();
          proxy.delay(0);
        }
      });
    }
    case 'behind-tcp':
      return behindTcp('redis');
    case 'behind-toxics':
      return behindToxics();
    case 'shadowed':
      return shadowed();
    case 'controlled':
      return controlled();
  }
}

async function behindTcp(flavour: Flavour): Promise<SubjectStore> {
  const cluster = await startProxiedCluster({ flavour, startProxy: startTcpProxy });
  const tcp = cluster.shards.map(({ proxy }) => proxy);
  return behind(cluster, { tcp }, async () => {
    for (const proxy of tcp) {
      proxy.reset(0);
      proxy.resume();
      await proxy.refuse(false);
    }
  });
}

async function shadowed(): Promise<SubjectStore> {
  const starting = [
    startCluster({ flavour: 'redis', masters: 3 }).then((stack) => direct(stack, 'cluster')),
    behindTcp('valkey'),
    startStandalone({ flavour: 'redis' }).then((stack) => direct(stack, 'standalone')),
  ];
  const begun = await Promise.allSettled(starting);
  const parts = begun.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const stop = async (): Promise<void> => {
    for (const part of parts) await part.stop();
  };
  const [store, candidate, controlStore] = parts;
  const [control] = controlStore?.addresses ?? [];
  if (store === undefined || candidate === undefined || control === undefined) {
    await stop();
    throw begun.find((one) => one.status === 'rejected')?.reason;
  }
  return {
    ...store,
    shadowed: { candidate, control },
    clean: async () => {
      for (const part of parts) await part.clean();
    },
    stop,
  };
}

async function controlled(): Promise<SubjectStore> {
  const store = direct(await startStandalone({ flavour: 'redis' }), 'standalone');
  try {
    const controlStack = await startStandalone({ flavour: 'redis', config: ['maxmemory 256mb', 'appendonly yes'] });
    const [control] = controlStack.nodes;
    return {
      ...store,
      control,
      clean: async () => {
        await cleanNodes([control], 'standalone');
        await store.clean();
      },
      stop: () => store.stop().finally(controlStack.stop),
    };
  } catch (error) {
    await store.stop();
    throw error;
  }
}

/** Host name of the store of kind `named`. */
export const STORE_NAME = 'store.test';

async function named(names: DnsNames): Promise<SubjectStore> {
  const store = direct(await startStandalone({ flavour: 'redis' }), 'standalone');
  const [node] = store.nodes;
  if (node === undefined) throw new Error('a store without a node');
  const proxy = await startTcpProxy({ target: { host: node.host, port: node.port } });
  names.set(STORE_NAME, [node.host]);
  return {
    ...store,
    addresses: [{ host: STORE_NAME, port: proxy.port }],
    tcp: [proxy],
    opened: proxy.opened,
    clean: async () => {
      names.set(STORE_NAME, [node.host]);
      await store.clean();
    },
    stop: async () => {
      await proxy.stop();
      await store.stop();
    },
  };
}

async function behindToxics(): Promise<SubjectStore> {
  const toxiproxy = await startToxiproxy();
  const toxics: ToxicProxy[] = [];
  try {
    const cluster = await startProxiedCluster({
      flavour: 'redis',
      // A TCP proxy in front counts connections and refuses them when the node is down.
      startProxy: async (options) => {
        const toxic = await toxiproxy.proxy(options);
        toxics.push(toxic);
        return startTcpProxy({ ...options, target: { host: toxic.host, port: toxic.port } });
      },
    });
    const store = behind(cluster, { toxics }, async () => {
      for (const toxic of toxics) await toxic.heal();
    });
    return { ...store, stop: () => store.stop().finally(toxiproxy.stop) };
  } catch (error) {
    await toxiproxy.stop();
    throw error;
  }
}

function direct(stack: RedisStack, kind: SubjectStore['kind']): SubjectStore {
  return {
    kind,
    addresses: stack.nodes.map(({ host, port }) => ({ host, port })),
    nodes: stack.nodes,
    resp: [],
    tcp: [],
    toxics: [],
    opened: () => undefined,
    clean: () => cleanNodes(stack.nodes, kind),
    stop: stack.stop,
  };
}

function behind<P extends FaultProxy>(
  cluster: ProxiedCluster<P>,
  proxies: Partial<Pick<SubjectStore, 'resp' | 'tcp' | 'toxics'>>,
  heal: () => Promise<void>,
): SubjectStore {
  const nodes = cluster.shards.map(({ node }) => node);
  return {
    kind: 'cluster',
    addresses: cluster.nodes,
    nodes,
    resp: [],
    tcp: [],
    toxics: [],
    ...proxies,
    opened: () => cluster.shards.reduce((sum, { proxy }) => sum + proxy.opened(), 0),
    clean: async () => {
      await heal();
      await cleanNodes(nodes, 'cluster');
    },
    stop: cluster.stop,
  };
}

async function cleanNodes(nodes: readonly RedisNode[], kind: SubjectStore['kind']): Promise<void> {
  const every = async (what: string, holds: (node: RedisNode) => Promise<boolean>): Promise<void> =>
    until(what, async () => (await Promise.all(nodes.map(holds))).every(Boolean));
  if (kind === 'cluster') {
    await every('a complete cluster', async (node) =>
      String(await node.command('CLUSTER', 'INFO')).includes('cluster_state:ok'),
    );
  }
  for (const node of nodes) {
    if (String(await node.command('ROLE')).startsWith('master')) await node.command('FLUSHALL');
  }
  await every('an empty store', async (node) => (await node.command('DBSIZE')) === 0);
}

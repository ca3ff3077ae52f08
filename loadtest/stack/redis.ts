import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts, waitUntil } from './process.ts';
import { type AclUser, type Flavour, makeCertificates, type RedisNode, startRedisNode } from './redis-node.ts';

/** Servers on loopback, configured by deploy/redis/*-cache.conf. `stop` ends all of them and removes their files. */
export interface RedisStack {
  readonly nodes: readonly [RedisNode, ...RedisNode[]];
  /** PEM of the CA when the servers speak TLS. */
  readonly ca?: string;
  readonly stop: () => Promise<void>;
}

export type SentinelStack = Awaited<ReturnType<typeof startSentinel>>;

interface StackOptions {
  readonly flavour: Flavour;
  readonly tls?: boolean;
  readonly acl?: AclUser;
  /** Further lines of every data node: they win over those of the stack. */
  readonly config?: readonly string[];
  /** The user of `command`, where an `aclfile` of `config` names the users. */
  readonly operator?: Omit<AclUser, 'rules'>;
  /** Fixed ports instead of free ones, one per server. */
  readonly ports?: readonly number[];
  /** Ports that a cluster sends its clients to, in the same order: of proxies before the servers. */
  readonly announcedPorts?: readonly number[];
  /** Where the servers keep their files; absent: a temporary directory, removed by `stop`. */
  readonly directory?: string;
  readonly detached?: boolean;
}

export async function startStandalone(options: StackOptions): Promise<RedisStack> {
  return together(options, 1, async (add) => {
    await add([]);
  });
}

const CLUSTER_FILE = fileURLToPath(new URL('../../deploy/redis/cluster.conf', import.meta.url));

/** Resolves when every node says `cluster_state:ok`, knows every other, and every replica has its first copy. */
export async function startCluster(
  options: StackOptions & { readonly masters: number; readonly replicasPerMaster?: number },
): Promise<RedisStack> {
  const { masters } = options;
  const replicas = masters * (options.replicasPerMaster ?? 0);
  return together(options, masters + replicas, async (add, nodes) => {
    const config = [`include ${CLUSTER_FILE}`, 'cluster-node-timeout 2000'];
    await everyOne(Array.from({ length: masters + replicas }, () => add(config)));
    for (const [index, node] of nodes.entries()) {
      // Distinct epochs before they meet prevent conflicts about slots.
      await node.command('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
      if (index >= masters) continue;
      const first = Math.floor((16_384 * index) / masters);
      await node.command('CLUSTER', 'ADDSLOTSRANGE', first, Math.floor((16_384 * (index + 1)) / masters) - 1);
    }
    // Each node meets each other: gossip alone takes a second or two.
    const pairs = nodes.flatMap((one, index) => nodes.slice(index + 1).map((other) => [one, other] as const));
    await Promise.all(pairs.map(([one, other]) => one.command('CLUSTER', 'MEET', other.host, other.port)));
    await until('the cluster to know all its nodes', async () => all(nodes, clusterKnows(nodes.length)));
    for (const [index, replica] of nodes.slice(masters).entries()) {
      const id = await nodes[index % masters]?.command('CLUSTER', 'MYID');
      await replica.command('CLUSTER', 'REPLICATE', String(id));
    }
    await until('cluster_state:ok on all nodes', async () => all(nodes, clusterOk));
    await until('replicas to be in step', async () => all(nodes.slice(masters), linkUp));
  });
}

const SENTINELS = 3;

interface SentinelOptions extends StackOptions {
  /** The whole configuration of a sentinel that watches `serpcache` at `host` and `port`. */
  readonly sentinelConfig?: (host: string, port: number) => readonly string[];
}

/** A master, its replica and three sentinels. Resolves when the replica is in step and every sentinel sees all the others. */
export async function startSentinel(options: SentinelOptions) {
  const master = 'serpcache';
  const stack = await together(options, 2 + SENTINELS, async (add, nodes) => {
    const first = await add([]);
    const replica = await add([`replicaof ${first.host} ${first.port}`]);
    await until('the replica to be in step', () => linkUp(replica));
    const lines = options.sentinelConfig?.(first.host, first.port) ?? [
      `sentinel monitor ${master} ${first.host} ${first.port} 2`,
      `sentinel down-after-milliseconds ${master} 1500`,
      `sentinel failover-timeout ${master} 6000`,
    ];
    await everyOne(Array.from({ length: SENTINELS }, () => add(lines, true)));
    const seen = `status=ok,address=${first.address},slaves=1,sentinels=${SENTINELS}`;
    await until('sentinels to see each other', async () =>
      all(nodes.slice(2), async (node) => String(await node.command('INFO', 'sentinel')).includes(seen)),
    );
  });
  const [first, ...others] = stack.nodes;
  return { ...stack, nodes: [first, ...others.slice(0, 1)] as const, sentinels: others.slice(1), master };
}

/** Waits for all, also when one fails: `stop` must know every node that did start. */
async function everyOne(starting: readonly Promise<unknown>[]): Promise<void> {
  for (const one of await Promise.allSettled(starting)) if (one.status === 'rejected') throw one.reason;
}

/** Takes the next port at once, so that several may be started at the same time. */
type Add = (config: readonly string[], sentinel?: boolean) => Promise<RedisNode>;

async function together(
  options: StackOptions,
  count: number,
  start: (add: Add, nodes: readonly RedisNode[]) => Promise<void>,
): Promise<RedisStack> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'serpcache-redis-'));
  // In the order of the ports, with gaps where one has not started.
  const nodes: RedisNode[] = [];
  let begun = 0;
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()));
    if (options.directory === undefined) rmSync(directory, { recursive: true, force: true });
  };
  try {
    const ports = options.ports ?? (await freePorts(count));
    const tls = options.tls ? await makeCertificates(directory) : undefined;
    const add: Add = async (config, sentinel = false) => {
      const at = begun;
      begun += 1;
      const port = ports[at];
      if (port === undefined) throw new Error(`${count} servers need ${count} ports`);
      const node = await startRedisNode({
        flavour: options.flavour,
        port,
        announcedPort: options.announcedPorts?.[at],
        directory: join(directory, String(port)),
        config: [...config, ...(sentinel ? [] : ['maxmemory 256mb', ...(options.config ?? [])])],
        sentinel,
        detached: options.detached,
        tls,
        acl: options.acl,
        operator: options.operator,
      });
      nodes[at] = node;
      return node;
    };
    await start(add, nodes);
    return { nodes: nodes as unknown as RedisStack['nodes'], stop, ca: tls?.ca };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Check = (node: RedisNode) => Promise<boolean>;

export const all = async (nodes: readonly RedisNode[], check: Check): Promise<boolean> =>
  (await Promise.all(nodes.map(check))).every(Boolean);
/** With `cluster-require-full-coverage no` a node is ok before it knows the slots of the others. */
export const clusterOk: Check = async (node) => {
  const info = String(await node.command('CLUSTER', 'INFO'));
  return info.includes('cluster_state:ok') && info.includes('cluster_slots_ok:16384');
};
const clusterKnows =
  (count: number): Check =>
  async (node) => {
    // A listed node is not enough: a handshake that fails forgets the node.
    const lines = String(await node.command('CLUSTER', 'NODES'))
      .trim()
      .split('\n');
    return lines.length === count && !lines.some((line) => /handshake|noaddr/.test(line));
  };
/** Whether a replica is in step with its master. */
export const linkUp: Check = async (node) =>
  String(await node.command('INFO', 'replication')).includes('master_link_status:up');

/** Polls until true. @throws after `timeoutMs`, with `what` in the message */
export async function until(what: string, check: () => Promise<boolean>, timeoutMs = 120_000): Promise<void> {
  if (await waitUntil(() => check().catch(() => false), timeoutMs)) return;
  throw new Error(`waited ${timeoutMs} ms in vain for ${what}`);
}

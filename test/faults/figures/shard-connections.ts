import { Redis } from 'ioredis';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import { CLOSE_WAIT, ESTABLISHED, type KernelSocket, socketsAt } from '../kernel-sockets.ts';

/** Connections to the nodes of a store as the nodes and the kernel count them, without the counter's own. */
export interface Connections {
  /** Accepted since the node's start, and how often it was asked for the map of slots: each time by a new connection. */
  readonly counts: () => Promise<readonly NodeConnections[]>;
  /**
   * The most at once, by node, since the last call: a stopped node has them, too. `established` at both ends, `held` by
   * the node alone as well: what its client has closed stays with a node that does not look.
   */
  readonly most: () => readonly MostConnections[];
  /** How long until the first of the connections that stand now has ended, ms; Infinity while they stand, NaN without any. */
  readonly follow: () => Promise<() => number>;
  readonly stop: () => void;
}

export interface NodeConnections {
  readonly opened: number;
  readonly refreshes: number;
}

export interface MostConnections {
  readonly established: number;
  readonly held: number;
}

const SAMPLE_MS = 25;
/** The counter's. */
const OWN = 1;
const OWN_NAME = 'counter';

export async function watchConnections(nodes: readonly RedisNode[]): Promise<Connections> {
  const clients = nodes.map(
    ({ host, port }) => new Redis({ host, port, protocol: 2, disableClientInfo: true, connectionName: OWN_NAME }),
  );
  for (const client of clients) client.on('error', () => undefined);
  await Promise.all(clients.map((client) => client.ping()));
  const none = (): MostConnections[] => nodes.map(() => ({ established: 0, held: 0 }));
  let most = none();
  let followed: readonly string[] = [];
  let followedSinceMs = 0;
  let firstGoneMs = Number.POSITIVE_INFINITY;
  const ports = new Set(nodes.map(({ port }) => port));
  const sample = (): void => {
    // The kernel establishes connections that a stopped process never accepts.
    const sockets = socketsAt(ports);
    most = most.map((before, at) => {
      const own = sockets.filter(({ localPort }) => localPort === nodes[at]?.port);
      const established = own.filter(({ state }) => state === ESTABLISHED).length - OWN;
      const closed = own.filter(({ state }) => state === CLOSE_WAIT).length;
      return {
        established: Math.max(before.established, established),
        held: Math.max(before.held, established + closed),
      };
    });
    const standing = new Set(sockets.filter(({ state }) => state === ESTABLISHED).map(nameOf));
    if (firstGoneMs === Number.POSITIVE_INFINITY && !followed.every((name) => standing.has(name))) {
      firstGoneMs = performance.now() - followedSinceMs;
    }
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return {
    counts: () =>
      Promise.all(
        clients.map(async (client) => {
          const stats = `${await client.info('stats')}\n${await client.info('commandstats')}`;
          return {
            opened: Number(/total_connections_received:(\d+)/.exec(stats)?.[1] ?? Number.NaN),
            refreshes: Number(/cmdstat_cluster\|slots:calls=(\d+)/.exec(stats)?.[1] ?? 0),
          };
        }),
      ),
    most: () => {
      const since = most;
      most = none();
      return since;
    },
    follow: async () => {
      const lists = await Promise.all(clients.map(async (client) => String(await client.client('LIST'))));
      const lines = lists.flatMap((list) => list.trim().split('\n'));
      const theirs = lines.filter((line) => !line.includes(`name=${OWN_NAME} `) && !line.includes('refresher'));
      followed = theirs.map((line) => {
        const [, from, to] = /addr=\S+:(\d+) laddr=\S+:(\d+)/.exec(line) ?? [];
        return `${to} ${from}`;
      });
      followedSinceMs = performance.now();
      firstGoneMs = followed.length === 0 ? Number.NaN : Number.POSITIVE_INFINITY;
      return () => firstGoneMs;
    },
    stop: () => {
      clearInterval(timer);
      for (const client of clients) client.disconnect();
    },
  };
}

const nameOf = ({ localPort, remotePort }: KernelSocket): string => `${localPort} ${remotePort}`;

import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';

/** Connections to the nodes of a store as the nodes and the kernel count them, without the counter's own. */
export interface Connections {
  /** Accepted since the node's start, and how often it was asked for the map of slots: each time by a new connection. */
  readonly counts: () => Promise<readonly NodeConnections[]>;
  /** The most that were established at once, by node, since the last call: a stopped node has them, too. */
  readonly most: () => readonly number[];
  readonly stop: () => void;
}

export interface NodeConnections {
  readonly opened: number;
  readonly refreshes: number;
}

const SAMPLE_MS = 25;
const ESTABLISHED = '01';

export async function watchConnections(nodes: readonly RedisNode[]): Promise<Connections> {
  const clients = nodes.map(({ host, port }) => new Redis({ host, port, protocol: 2, disableClientInfo: true }));
  for (const client of clients) client.on('error', () => undefined);
  await Promise.all(clients.map((client) => client.ping()));
  const none = (): number[] => nodes.map(() => 0);
  let most = none();
  const sample = (): void => {
    const ports = establishedPorts();
    for (const [at, { port }] of nodes.entries()) {
      const own = 1;
      most[at] = Math.max(most[at] ?? 0, (ports.get(port) ?? 0) - own);
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
    stop: () => {
      clearInterval(timer);
      for (const client of clients) client.disconnect();
    },
  };
}

/** How many established connections each local port has. The kernel establishes those a stopped process never accepts. */
function establishedPorts(): ReadonlyMap<number, number> {
  const ports = new Map<number, number>();
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1)) {
    const [, local = '', , state] = line.trim().split(/\s+/);
    if (state !== ESTABLISHED) continue;
    const port = Number.parseInt(local.slice(local.indexOf(':') + 1), 16);
    ports.set(port, (ports.get(port) ?? 0) + 1);
  }
  return ports;
}

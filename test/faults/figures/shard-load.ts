import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import type { HostPort } from '../../../src/config/fields.ts';
import { CLOSE_WAIT, ESTABLISHED, type KernelSocket, socketsAt } from '../probes.ts';

/** Processes that read from a cluster, all the time. */
export interface ShardReaders {
  readonly begin: () => Promise<void>;
  /** What became of the reads since `begin`, of all processes together, by shard. */
  readonly end: () => Promise<readonly ShardReads[]>;
  readonly stop: () => Promise<void>;
}

export async function startShardReaders(task: Omit<ReaderTask, 'seed'>, processes: number): Promise<ShardReaders> {
  const children = Array.from({ length: processes }, () => fork(join(import.meta.dirname, 'shard-reader.ts')));
  const ask = async (child: ChildProcess, message: object | string): Promise<unknown> => {
    const answer = once(child, 'message', { signal: AbortSignal.timeout(ANSWER_MS) });
    child.send(message);
    const [said] = await answer;
    return said;
  };
  const askAll = (message: string): Promise<unknown[]> => Promise.all(children.map((child) => ask(child, message)));
  await Promise.all(children.map((child, seed) => ask(child, { ...task, seed })));
  return {
    begin: async () => {
      await askAll('begin');
    },
    end: async () => {
      const noted = (await askAll('end')) as ShardReads[][];
      return task.nodes.map((_, shard) => together(noted.flatMap((shards) => shards[shard] ?? [])));
    },
    stop: async () => {
      const ended = children.map((child) => once(child, 'exit'));
      for (const child of children) child.disconnect();
      await Promise.all(ended);
    },
  };
}

const ANSWER_MS = 20_000;

function together(parts: readonly ShardReads[]): ShardReads {
  const sum = (what: 'values' | 'slow' | 'refused' | 'overdue'): number =>
    parts.reduce((total, part) => total + part[what], 0);
  return {
    durationsMs: parts.flatMap(({ durationsMs }) => durationsMs),
    values: sum('values'),
    slow: sum('slow'),
    refused: sum('refused'),
    overdue: sum('overdue'),
  };
}

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

/** The first message to the process; then `begin` and `end` in turn. Each is answered, `end` by what was noted. */
export interface ReaderTask {
  readonly client: 'store' | 'closing';
  /** Whose store. */
  readonly checkout: string;
  readonly nodes: readonly HostPort[];
  /** By shard, in the order of `nodes`. */
  readonly names: readonly (readonly string[])[];
  readonly ratePerSecond: number;
  readonly seed: number;
}

export interface ShardReads {
  /** From asking to the value, or to giving up. */
  readonly durationsMs: number[];
  values: number;
  slow: number;
  refused: number;
  /** Settled later than the deadline and what a timer may be late. */
  overdue: number;
}

export const DEADLINE_MS = 50;

export const SOCKET_TIMEOUT_MS = 3000;

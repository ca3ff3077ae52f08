import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import type { HostPort } from '../../../src/schema/units.ts';
import { CLOSE_WAIT, ESTABLISHED, type KernelSocket, socketsAt } from '../probes.ts';

/** Processes that read from a cluster without a pause. */
export interface ShardReaders {
  readonly begin: () => Promise<void>;
  /** Results of the reads since `begin`, summed over all processes, by shard. */
  readonly end: () => Promise<readonly ShardReads[]>;
  readonly stop: () => Promise<void>;
}

export async function startShardReaders(task: Omit<ReaderTask, 'seed'>, processes: number): Promise<ShardReaders> {
  const children = Array.from({ length: processes }, () => fork(join(import.meta.dirname, 'shard-reader-process.ts')));
  const ask = async (child: ChildProcess, message: object | string): Promise<unknown> => {
    const answer = once(child, 'message', { signal: AbortSignal.timeout(ANSWER_MS) });
    child.send(message);
    const [reply] = await answer;
    return reply;
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

/** Connections to the nodes of a store, counted by the nodes and the kernel, without those of this counter. */
export interface Connections {
  /** Connections accepted since the node's start, and reads of the slot map, each of which uses a new connection. */
  readonly counts: () => Promise<readonly NodeConnections[]>;
  /**
   * Maximum number of concurrent connections since the last call, by node; a stopped node is counted too. `established`
   * counts those open at both ends, `held` also those that the client has closed and the stopped node has not.
   */
  readonly maximum: () => readonly MostConnections[];
  /**
   * Follows the present connections. @returns a function for the ms until the first of them was closed: Infinity while
   * all are open, NaN without any.
   */
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
/** Connections of this counter to each node. */
const OWN = 1;
const OWN_NAME = 'counter';

export async function watchConnections(nodes: readonly RedisNode[]): Promise<Connections> {
  const clients = nodes.map(
    ({ host, port }) => new Redis({ host, port, protocol: 2, disableClientInfo: true, connectionName: OWN_NAME }),
  );
  for (const client of clients) client.on('error', () => undefined);
  await Promise.all(clients.map((client) => client.ping()));
  const none = (): MostConnections[] => nodes.map(() => ({ established: 0, held: 0 }));
  let maximum = none();
  let followed: readonly string[] = [];
  let followedSinceMs = 0;
  let firstGoneMs = Number.POSITIVE_INFINITY;
  const ports = new Set(nodes.map(({ port }) => port));
  const sample = (): void => {
    // The kernel also establishes connections that a stopped process does not accept.
    const sockets = socketsAt(ports);
    maximum = maximum.map((before, at) => {
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
    maximum: () => {
      const since = maximum;
      maximum = none();
      return since;
    },
    follow: async () => {
      const lists = await Promise.all(clients.map(async (client) => String(await client.client('LIST'))));
      const lines = lists.flatMap((list) => list.trim().split('\n'));
      const others = lines.filter((line) => !line.includes(`name=${OWN_NAME} `) && !line.includes('refresher'));
      followed = others.map((line) => {
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

/** The first message to a reader process. `begin` and `end` follow in turn. Each gets a reply; `end` gets the counts. */
export interface ReaderTask {
  readonly client: 'store' | 'closing';
  /** The checkout whose store adapter reads. */
  readonly checkout: string;
  readonly nodes: readonly HostPort[];
  /** Names by shard, in the order of `nodes`. */
  readonly names: readonly (readonly string[])[];
  readonly ratePerSecond: number;
  readonly seed: number;
}

export interface ShardReads {
  /** Time from the request to the value or to its failure. */
  readonly durationsMs: number[];
  values: number;
  slow: number;
  refused: number;
  /** Reads that settled after the deadline and the allowed lateness of a timer. */
  overdue: number;
}

export const DEADLINE_MS = 50;

export const SOCKET_TIMEOUT_MS = 3000;

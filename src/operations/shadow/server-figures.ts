import { type StoreContent, StoreUnreachable } from '../flush/content.ts';
import type { Servers } from './figures.ts';

/** Sums over the nodes of one store at one moment, from INFO. Counters are since the start of each server. */
export interface ServerReading {
  readonly nodes: number;
  readonly missing: number;
  readonly connections: number;
  readonly memoryBytes: number;
  readonly maxMemoryBytes: number;
  /** By node, because a server that was restarted counts from zero. */
  readonly counters: ReadonlyMap<string, ServerCounters>;
}

type ServerCounters = Readonly<Record<(typeof COUNTERS)[number], number>>;

const COUNTERS = ['evicted', 'expired', 'bytesIn', 'bytesOut', 'cpuSeconds'] as const;

/** One interval: the levels at its end, and how the counters have grown. */
export interface ServerInterval extends Omit<ServerReading, 'counters'> {
  readonly seconds: number;
  /** Absent in the first interval. */
  readonly grown?: ServerCounters;
}

/** The fields of INFO. */
export function infoFields(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from(text.matchAll(/^(.+?):(.*?)\r?$/gm), ([, name, value]) => [name, value]));
}

/** The fields of INFO as numbers; a field that is missing or not a number is 0. */
export function parseInfo(text: string): (name: string) => number {
  const fields = infoFields(text);
  return (name) => {
    const value = Number(fields[name]);
    return Number.isFinite(value) ? value : 0;
  };
}

/** Asks every node of the store at once. A node that does not answer is counted as missing. */
export async function readServers(content: Pick<StoreContent, 'nodes' | 'info'>): Promise<ServerReading> {
  const nodes = content.nodes();
  const infos = await Promise.all(
    nodes.map(async (node) => {
      try {
        return { node, field: parseInfo(await content.info(node)) };
      } catch (error) {
        if (error instanceof StoreUnreachable) return undefined;
        throw error;
      }
    }),
  );
  const answered = infos.filter((info) => info !== undefined);
  const sum = (name: string): number => answered.reduce((total, { field }) => total + field(name), 0);
  return {
    nodes: answered.length,
    missing: nodes.length - answered.length,
    connections: sum('connected_clients'),
    memoryBytes: sum('used_memory'),
    maxMemoryBytes: sum('maxmemory'),
    counters: new Map(
      answered.map(({ node, field }) => [
        node,
        {
          evicted: field('evicted_keys'),
          expired: field('expired_keys'),
          bytesIn: field('total_net_input_bytes'),
          bytesOut: field('total_net_output_bytes'),
          cpuSeconds: field('used_cpu_user') + field('used_cpu_sys'),
        },
      ]),
    ),
  };
}

export function serversBetween(
  before: ServerReading | undefined,
  after: ServerReading,
  seconds: number,
): ServerInterval {
  const { counters, ...levels } = after;
  if (before === undefined) return { ...levels, seconds };
  const grown = Object.fromEntries(COUNTERS.map((name) => [name, 0])) as Record<(typeof COUNTERS)[number], number>;
  for (const [node, now] of counters) {
    const then = before.counters.get(node);
    for (const name of COUNTERS) grown[name] += then === undefined ? 0 : Math.max(0, now[name] - then[name]);
  }
  return { ...levels, seconds, grown };
}

export function addCounters(left: ServerCounters, right: ServerCounters): ServerCounters {
  return Object.fromEntries(COUNTERS.map((name) => [name, left[name] + right[name]])) as ServerCounters;
}

/** The levels of the last interval, and the rates over all of them. Undefined without intervals. */
export function serverFigures(intervals: readonly ServerInterval[]): Servers | undefined {
  const last = intervals.at(-1);
  if (last === undefined) return undefined;
  const { nodes, missing, connections, memoryBytes, maxMemoryBytes } = last;
  const measured = intervals.filter((one) => one.grown !== undefined);
  const seconds = measured.reduce((sum, one) => sum + one.seconds, 0);
  const rate = (name: (typeof COUNTERS)[number]): number | undefined =>
    seconds > 0 ? measured.reduce((sum, one) => sum + (one.grown?.[name] ?? 0), 0) / seconds : undefined;
  return {
    nodes,
    missing,
    connections,
    memoryBytes,
    maxMemoryBytes,
    evictedPerSecond: rate('evicted'),
    expiredPerSecond: rate('expired'),
    bytesInPerSecond: rate('bytesIn'),
    bytesOutPerSecond: rate('bytesOut'),
    cpu: rate('cpuSeconds'),
  };
}

import { type StoreContent, StoreUnreachable } from '../flush/content.ts';
import type { Servers } from './figures.ts';

/** Sums over the nodes of one store at one moment, from INFO. Counters are since the start of each server. */
export type ServerReading = Awaited<ReturnType<typeof readServers>>;

/** The fields of INFO whose sum is a counter, by the name of its rate. */
const COUNTERS = {
  evictedPerSecond: ['evicted_keys'],
  expiredPerSecond: ['expired_keys'],
  bytesInPerSecond: ['total_net_input_bytes'],
  bytesOutPerSecond: ['total_net_output_bytes'],
  cpu: ['used_cpu_user', 'used_cpu_sys'],
} as const;
type ServerCounters = Readonly<Record<keyof typeof COUNTERS, number>>;

function eachCounter(value: (name: keyof typeof COUNTERS) => number): ServerCounters {
  const names = Object.keys(COUNTERS) as (keyof typeof COUNTERS)[];
  return Object.fromEntries(names.map((name) => [name, value(name)])) as ServerCounters;
}

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
export async function readServers(content: Pick<StoreContent, 'nodes' | 'info'>) {
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
    /** By node, because a server that was restarted counts from zero. */
    counters: new Map(
      answered.map(({ node, field }) => [
        node,
        eachCounter((name) => COUNTERS[name].reduce((total, part) => total + field(part), 0)),
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
  const grown = [...counters].map(([node, now]) => {
    const then = before.counters.get(node) ?? now;
    return eachCounter((name) => Math.max(0, now[name] - then[name]));
  });
  return { ...levels, seconds, grown: grown.reduce(addCounters, NONE) };
}

const NONE = eachCounter(() => 0);

export function addCounters(left: ServerCounters, right: ServerCounters): ServerCounters {
  return eachCounter((name) => left[name] + right[name]);
}

/** The levels of the last interval, and the rates over all of them. Undefined without intervals. */
export function serverFigures(intervals: readonly ServerInterval[]): Servers | undefined {
  const last = intervals.at(-1);
  if (last === undefined) return undefined;
  const { seconds: _, grown: __, ...levels } = last;
  const measured = intervals.filter((one) => one.grown !== undefined);
  const seconds = measured.reduce((sum, one) => sum + one.seconds, 0);
  if (seconds === 0) return levels;
  const grown = measured.reduce((sum, one) => addCounters(sum, one.grown ?? NONE), NONE);
  return { ...levels, ...eachCounter((name) => grown[name] / seconds) };
}

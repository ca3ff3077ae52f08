import { readFileSync } from 'node:fs';
import type { RedisNode } from '../../loadtest/stack/redis-node.ts';
import type { Bed } from './bed.ts';
import { ESTABLISHED, socketsAt } from './kernel-sockets.ts';

/**
 * How a row proves that its fault happened: a reading of the injector or of the server it hits, before the fault and at
 * its end. Harm to users is no evidence: a row must not be valid because something else hurt them.
 */
export interface Felt {
  /** Reads now. @returns reads again, while the fault still lasts. Neither rejects. */
  readonly watch: (bed: Bed) => Promise<() => Promise<Trace>>;
}

export interface Trace {
  readonly felt: boolean;
  /** Both readings, in words. */
  readonly evidence: string;
}

const MOST_SHOWN = 120;

/**
 * @param proves must be false for two readings without a fault between them.
 * @param tell both readings in words, when they are too long to be shown.
 */
export function felt<T>(
  what: string,
  read: (bed: Bed) => Promise<T> | T,
  proves: (before: T, during: T) => boolean,
  tell: (before: T, during: T) => string = (before, during) => `${shown(before)} → ${shown(during)}`,
): Felt {
  return {
    watch: async (bed) => {
      const before = await attempt(() => read(bed));
      return async () => {
        const during = await attempt(() => read(bed));
        if ('failure' in before || 'failure' in during) {
          const failure = 'failure' in before ? before.failure : 'failure' in during ? during.failure : '';
          return { felt: false, evidence: `${what}: could not be read: ${failure}` };
        }
        const evidence = `${what}: ${tell(before.value, during.value)}`;
        return { felt: proves(before.value, during.value), evidence };
      };
    },
  };
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, MOST_SHOWN);

/** Every one of them. */
export function all(...each: readonly Felt[]): Felt {
  return {
    watch: async (bed) => {
      const watches = await Promise.all(each.map(({ watch }) => watch(bed)));
      return async () => {
        const traces = await Promise.all(watches.map((end) => end()));
        return {
          felt: traces.length > 0 && traces.every((trace) => trace.felt),
          evidence: traces.map(({ evidence }) => evidence).join('; '),
        };
      };
    },
  };
}

async function attempt<T>(read: () => Promise<T> | T): Promise<{ readonly value: T } | { readonly failure: string }> {
  try {
    return { value: await read() };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

/** Every number of the second reading is larger. */
export function grew(what: string, read: (bed: Bed) => Promise<readonly number[]> | readonly number[]): Felt {
  return felt(
    what,
    read,
    (before, during) => during.length > 0 && during.every((value, at) => value > (before[at] ?? 0)),
  );
}

export type ProcessState = 'runs' | 'stopped' | 'gone';

/** As the kernel has it: `stopped` by SIGSTOP, `gone` when it has ended. */
export function stateOf(pid: number): ProcessState {
  try {
    // The state follows the program's name, which may hold spaces but ends in the last bracket.
    const state = /^.*\) (\w)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
    return state === 'T' ? 'stopped' : state === 'Z' || state === 'X' ? 'gone' : 'runs';
  } catch {
    return 'gone';
  }
}

/** Every process ran before, and is in that state at the end of the fault. */
export function processesAre(state: Exclude<ProcessState, 'runs'>, pids: (bed: Bed) => readonly number[]): Felt {
  return felt(
    'state of the process',
    (bed) => pids(bed).map(stateOf),
    (before, during) =>
      during.length > 0 && before.every((each) => each === 'runs') && during.every((each) => each === state),
  );
}

type Nodes = (bed: Bed) => readonly RedisNode[];

export const allNodes: Nodes = (bed) => bed.store().nodes;
export const firstNode: Nodes = (bed) => bed.store().nodes.slice(0, 1);

/** A counter of INFO on every node; a counter that INFO does not list yet is 0. */
export function infoGrew(field: string, nodes: Nodes): Felt {
  return grew(field, (bed) =>
    Promise.all(
      nodes(bed).map(async (node) => {
        const line = new RegExp(`^${field}:(?:calls=|count=)?(\\d+)`, 'm');
        return Number(line.exec(String(await node.command('INFO', 'everything')))?.[1] ?? 0);
      }),
    ),
  );
}

/** The servers that answer at these ports are others than before, by their run_id. */
export function restarted(nodes: Nodes): Felt {
  return felt(
    'run_id',
    (bed) =>
      Promise.all(
        nodes(bed).map(async (node) => /^run_id:(\w{8})/m.exec(String(await node.command('INFO', 'server')))?.[1]),
      ),
    (before, during) =>
      during.length > 0 && during.every((id, at) => id !== undefined && before[at] !== undefined && id !== before[at]),
  );
}

/** FLUSHALL ran on every one of these nodes, and there was something to lose. */
export function flushed(nodes: Nodes): Felt {
  const held = felt(
    'keys on the node',
    (bed) => Promise.all(nodes(bed).map((node) => node.command('DBSIZE'))),
    (before) => before.length > 0 && before.every((size) => Number(size) > 0),
  );
  return all(held, infoGrew('cmdstat_flushall', nodes));
}

/** Ids of the subject's connections, node by node. Those that only ask for the map of slots have another name. */
async function connectionsOf(bed: Bed): Promise<readonly (readonly string[])[]> {
  return Promise.all(
    bed.store().nodes.map(async (node) =>
      String(await node.command('CLIENT', 'LIST'))
        .split('\n')
        .filter((line) => line.includes(' name=serpcache-'))
        .map((line) => /^id=(\d+)/.exec(line)?.[1] ?? ''),
    ),
  );
}

/** The nodes say that `some` or `all` of the connections that stood before have ended. */
export function connectionsEnded(how: 'some' | 'all'): Felt {
  return felt('connections the nodes hold', connectionsOf, (before, during) => {
    const now = new Set(during.flatMap((ids, at) => ids.map((id) => `${at} ${id}`)));
    const gone = before.flatMap((ids, at) => ids.map((id) => !now.has(`${at} ${id}`)));
    return gone.length > 0 && (how === 'all' ? gone.every(Boolean) : gone.some(Boolean));
  });
}

/** No node has a client any more. */
export const nodesAreLeft: Felt = felt(
  'connections the nodes hold',
  connectionsOf,
  (before, during) => before.every((ids) => ids.length > 0) && during.flat().length === 0,
);

/** The proxies before the nodes have answered commands in their place, every one of them. */
export const answeredByProxies: Felt = grew('commands answered by the proxies', (bed) =>
  bed.store().resp.map((proxy) => proxy.answered()),
);

/** Searches refused by the engine's proxy in the engine's place. */
export const refusedByEngineProxy: Felt = grew('searches refused by the proxy', (bed) => [
  bed.engineProxy.counts().refused,
]);

/** Connections established to the subject, as the kernel has them. */
export function connectionsToSubject(bed: Bed): number {
  return socketsAt(new Set([portOf(bed)])).filter(({ state }) => state === ESTABLISHED).length;
}

/** Those of them on which the subject has sent what the client does not read. */
export function unreadConnections(bed: Bed): number {
  return socketsAt(new Set([portOf(bed)])).filter(({ unsentBytes }) => unsentBytes > 0).length;
}

const portOf = (bed: Bed): number => Number(new URL(bed.subject.url).port);

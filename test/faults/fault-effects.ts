import { readFileSync } from 'node:fs';
import type { RedisNode } from '../../loadtest/stack/redis-node.ts';
import { ESTABLISHED, socketsAt } from './probes.ts';
import type { FaultEffect, Harness } from './row.ts';

/** Maximum length of a reading in the evidence, characters. */
const MAX_SHOWN = 120;

/**
 * @param label names the reading in the evidence.
 * @param proves must be false for two readings without a fault between them.
 * @param describe turns both readings into text, when they are too long for the evidence.
 */
export function faultEffect<T>(
  label: string,
  read: (harness: Harness) => Promise<T> | T,
  proves: (before: T, during: T) => boolean,
  describe: (before: T, during: T) => string = (before, during) => `${shown(before)} → ${shown(during)}`,
): FaultEffect {
  return {
    watch: async (harness) => {
      const before = await attempt(() => read(harness));
      return async () => {
        const during = await attempt(() => read(harness));
        if ('failure' in before || 'failure' in during) {
          const failure = 'failure' in before ? before.failure : 'failure' in during ? during.failure : '';
          return { found: false, evidence: `${label}: could not be read: ${failure}` };
        }
        const evidence = `${label}: ${describe(before.value, during.value)}`;
        return { found: proves(before.value, during.value), evidence };
      };
    },
  };
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, MAX_SHOWN);

/** All of these effects must be found. */
export function allEffects(...each: readonly FaultEffect[]): FaultEffect {
  return {
    watch: async (harness) => {
      const watches = await Promise.all(each.map(({ watch }) => watch(harness)));
      return async () => {
        const traces = await Promise.all(watches.map((end) => end()));
        return {
          found: traces.length > 0 && traces.every((trace) => trace.found),
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

/** Every number of the second reading is larger than in the first. */
export function grew(
  label: string,
  read: (harness: Harness) => Promise<readonly number[]> | readonly number[],
): FaultEffect {
  return faultEffect(
    label,
    read,
    (before, during) => during.length > 0 && during.every((value, at) => value > (before[at] ?? 0)),
  );
}

type ProcessState = 'runs' | 'stopped' | 'gone';

/** The state according to the kernel: `stopped` by SIGSTOP, `gone` after its end. */
export function stateOf(pid: number): ProcessState {
  try {
    // The state follows the program's name, which may contain spaces and ends at the last bracket.
    const state = /^.*\) (\w)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
    return state === 'T' ? 'stopped' : state === 'Z' || state === 'X' ? 'gone' : 'runs';
  } catch {
    return 'gone';
  }
}

/** Every process ran before the fault and is in this state at its end. */
export function processesAre(
  state: Exclude<ProcessState, 'runs'>,
  pids: (harness: Harness) => readonly number[],
): FaultEffect {
  return faultEffect(
    'state of the process',
    (harness) => pids(harness).map(stateOf),
    (before, during) =>
      during.length > 0 && before.every((each) => each === 'runs') && during.every((each) => each === state),
  );
}

type Nodes = (harness: Harness) => readonly RedisNode[];

export const allNodes: Nodes = (harness) => harness.store().nodes;
export const firstNode: Nodes = (harness) => harness.store().nodes.slice(0, 1);

/** A counter of INFO grew on every node. A counter that INFO does not list yet is 0. */
export function infoGrew(field: string, nodes: Nodes): FaultEffect {
  return grew(field, (harness) =>
    Promise.all(
      nodes(harness).map(async (node) => {
        const line = new RegExp(`^${field}:(?:calls=|count=)?(\\d+)`, 'm');
        return Number(line.exec(String(await node.command('INFO', 'everything')))?.[1] ?? 0);
      }),
    ),
  );
}

/** Other servers answer at these ports than before, by their run_id. */
export function restarted(nodes: Nodes): FaultEffect {
  return faultEffect(
    'run_id',
    (harness) =>
      Promise.all(
        nodes(harness).map(async (node) => /^run_id:(\w{8})/m.exec(String(await node.command('INFO', 'server')))?.[1]),
      ),
    (before, during) =>
      during.length > 0 && during.every((id, at) => id !== undefined && before[at] !== undefined && id !== before[at]),
  );
}

/** FLUSHALL ran on each of these nodes, and each held keys before. */
export function flushed(nodes: Nodes): FaultEffect {
  const hadKeys = faultEffect(
    'keys on the node',
    (harness) => Promise.all(nodes(harness).map((node) => node.command('DBSIZE'))),
    (before) => before.length > 0 && before.every((size) => Number(size) > 0),
  );
  return allEffects(hadKeys, infoGrew('cmdstat_flushall', nodes));
}

/** Ids of the subject's connections, by node. Connections that only read the slot map have another name. */
async function connectionsOf(harness: Harness): Promise<readonly (readonly string[])[]> {
  return Promise.all(
    harness.store().nodes.map(async (node) =>
      String(await node.command('CLIENT', 'LIST'))
        .split('\n')
        .filter((line) => line.includes(' name=serpcache-'))
        .map((line) => /^id=(\d+)/.exec(line)?.[1] ?? ''),
    ),
  );
}

/** `some` or `all` of the connections that a node had before have ended. */
export function connectionsEnded(how: 'some' | 'all'): FaultEffect {
  return faultEffect('connections the nodes hold', connectionsOf, (before, during) => {
    const now = new Set(during.flatMap((ids, at) => ids.map((id) => `${at} ${id}`)));
    const gone = before.flatMap((ids, at) => ids.map((id) => !now.has(`${at} ${id}`)));
    return gone.length > 0 && (how === 'all' ? gone.every(Boolean) : gone.some(Boolean));
  });
}

/** Each node had connections of the subject before, and none has any now. */
export const nodesHaveNoClients: FaultEffect = faultEffect(
  'connections the nodes hold',
  connectionsOf,
  (before, during) => before.every((ids) => ids.length > 0) && during.flat().length === 0,
);

/** Each proxy has answered commands itself instead of its node. */
export const answeredByProxies: FaultEffect = grew('commands answered by the proxies', (harness) =>
  harness.store().resp.map((proxy) => proxy.answered()),
);

/** The engine proxy has refused searches itself. */
export const refusedByEngineProxy: FaultEffect = grew('searches refused by the proxy', (harness) => [
  harness.engineProxy.counts().refused,
]);

/** Number of established connections to the subject, according to the kernel. */
export function connectionsToSubject(harness: Harness): number {
  return socketsAt(new Set([subjectPort(harness)])).filter(({ state }) => state === ESTABLISHED).length;
}

/** Number of connections with bytes from the subject that the client does not read. */
export function unreadConnections(harness: Harness): number {
  return socketsAt(new Set([subjectPort(harness)])).filter(({ unsentBytes }) => unsentBytes > 0).length;
}

export const subjectPort = ({ subject }: Harness): number => Number(new URL(subject.url).port);

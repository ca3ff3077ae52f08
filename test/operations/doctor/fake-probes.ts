import type { EngineProbe, ProbedNode, ProbeReply, StoreProbe } from '../../../src/operations/doctor/doctor.ts';
import type { EngineFacts, Figure, Snapshot } from '../../../src/operations/doctor/facts.ts';
import { engineWith, HEALTHY_INFO, storeWith } from './harness.ts';

export interface FakeStoreProbe extends StoreProbe {
  /** The commands of `change`, in their order: `10.0.0.1:6379: SLOWLOG RESET`. */
  readonly changes: readonly string[];
  readonly isClosed: () => boolean;
}

/** A store of healthy nodes that know INFO, PING and TIME, and refuse every other command. */
export function createFakeStoreProbe(
  options: {
    readonly name?: string;
    readonly domains?: readonly string[];
    readonly hostNames?: readonly string[];
    readonly nodes?: Figure<readonly ProbedNode[]>;
    /** Words of the refusal of a change, by its node. */
    readonly refusing?: Readonly<Record<string, string>>;
    /** Microseconds in the reply to TIME. */
    readonly timeMicros?: number;
  } = {},
): FakeStoreProbe {
  const { name = 'store of goods', domains = ['goods'], hostNames = [], refusing = {}, timeMicros = 0 } = options;
  const { nodes: _, settings, ...healthy } = storeWith();
  const changes: string[] = [];
  let closed = false;
  const answer = ([word, section]: readonly string[]): ProbeReply => {
    const reply = replies[word ?? '']?.(section);
    return reply === undefined
      ? { kind: 'refused', detail: `ERR unknown command '${word}'`, ms: 0.1 }
      : { kind: 'reply', reply, ms: 0.1 };
  };
  const replies: Readonly<Record<string, (section?: string) => unknown>> = {
    INFO: (section) => (section === undefined ? INFO : ''),
    PING: () => 'PONG',
    TIME: () => [String(Math.floor(timeMicros / 1e6)), String(timeMicros % 1e6)],
  };
  return {
    facts: { ...healthy, name, domains, settings: { ...settings, names: hostNames } },
    nodes: async () => options.nodes ?? { known: [{ address: '127.0.0.1:6379', role: 'master' }] },
    ask: async (_node, command) => answer(command),
    askMany: async (_node, commands) => commands.map(answer),
    change: async (node, command) => {
      changes.push(`${node}: ${command.join(' ')}`);
      const detail = refusing[node];
      return detail === undefined ? { kind: 'reply', reply: 'OK', ms: 0.1 } : { kind: 'refused', detail, ms: 0.1 };
    },
    close: async () => {
      closed = true;
    },
    changes,
    isClosed: () => closed,
  };
}

const INFO = Object.entries(HEALTHY_INFO)
  .map(([name, value]) => `${name}:${value}\r\n`)
  .join('');

export interface FakeEngineProbe extends EngineProbe {
  /** One for each reading, in their order. */
  readonly depths: readonly Snapshot['depth'][];
  readonly isClosed: () => boolean;
}

/** @param facts of each reading, made when it begins */
export function createFakeEngineProbe(facts: () => EngineFacts | Promise<EngineFacts> = engineWith): FakeEngineProbe {
  const depths: Snapshot['depth'][] = [];
  let closed = false;
  return {
    read: async (depth) => {
      depths.push(depth);
      return facts();
    },
    close: async () => {
      closed = true;
    },
    depths,
    isClosed: () => closed,
  };
}

/** A search server that does not answer. */
export function silentEngine(
  change: Parameters<typeof engineWith>[0] = {},
  skipped = 'no answer within 1800 ms',
): EngineFacts {
  const part = { skipped };
  const missing = { version: part, rttMs: part, indexStatus: part, agents: part, threads: part, indexAge: part };
  return { ...engineWith({ ...change, ...missing }), status: part, maxConnections: part };
}

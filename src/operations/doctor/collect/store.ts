import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../runtime.ts';
import type { ProbedNode, ProbeReply, StoreProbe } from '../doctor.ts';
import { known, type NodeFacts, type Part, type Snapshot, type StoreFacts } from '../facts.ts';
import { createKeySampler, type KeySampler } from './store-keys.ts';
import {
  clientsOf,
  fieldsOf,
  latencyEventsOf,
  majorOf,
  memoryStatsOf,
  pairsOf,
  refusalOf,
  slotsOf,
  slowEntriesOf,
  timeMsOf,
} from './store-replies.ts';

/** Reads the figures of one store. Settles within about five seconds, and never rejects. */
export interface StoreCollector {
  readonly read: (depth: Snapshot['depth']) => Promise<StoreFacts>;
}

/** Directives that checks read. None of them holds a secret or a path. */
export const CONFIG_NAMES = [
  ...['maxmemory', 'maxmemory-policy', 'maxmemory-clients', 'save', 'appendonly', 'appendfsync', 'timeout'],
  ...['tcp-keepalive', 'tcp-backlog', 'maxclients', 'io-threads', 'client-output-buffer-limit', 'databases', 'hz'],
  ...['repl-backlog-size', 'repl-diskless-sync', 'slowlog-log-slower-than', 'slowlog-max-len', 'activedefrag'],
  ...['latency-monitor-threshold', 'lazyfree-lazy-eviction', 'lazyfree-lazy-expire', 'stop-writes-on-bgsave-error'],
  ...['cluster-require-full-coverage', 'cluster-node-timeout', 'min-replicas-to-write'],
];

/** A full look spreads its PINGs over 0.3 s: a stall of some ten milliseconds is seldom met by PINGs in a row. */
const PINGS = { cheap: { count: 5, apartMs: 0 }, full: { count: 20, apartMs: 15 } };
const SLOW_ENTRIES = '64';
/** CLIENT LIST of more clients would take the node tens of milliseconds, and megabytes of its network. */
const MAX_LISTED_CLIENTS = 5000;
const MAX_AT_ONCE = 16;
const MAX_READ_MS = 4000;
const MAX_ADVICE = 500;
/** A part that the budget does not allow is the last known one, up to this age. */
const MAX_AGE_MS = 60_000;
const CHEAP = { skipped: 'cheap' } as const;

/**
 * Time that commands take a node, in milliseconds, above what was measured on Redis 7 and Valkey 8 (test/operations/doctor/
 * collect/store-budget.test.ts measures it by `commandstats`). A table, because round trips also measure a busy host.
 */
export const COST_MS = { info: 0.4, config: 0.3, slowlog: 0.2, memory: 0.4, cluster: 0.3, client: 0.003, key: 0.006 };
/** At most 10 ms of a node's time per second: this much is earned each second, and this much may be saved. */
const EARNED_PER_SECOND_MS = 5;
const SAVED_MS = 15;

/** One node between two looks. */
interface NodeState {
  creditMs: number;
  creditedMs: number;
  readonly keys: KeySampler;
  readonly last: Map<keyof NodeFacts, { readonly part: Part<unknown>; readonly atMs: number }>;
}

export function createStoreCollector(options: { readonly probe: StoreProbe; readonly clock: Clock }): StoreCollector {
  const { probe, clock } = options;
  const states = new Map<string, NodeState>();

  const stateOf = (address: string): NodeState => {
    const nowMs = clock.monotonicMs();
    const state = states.get(address) ?? {
      creditMs: SAVED_MS,
      creditedMs: nowMs,
      keys: createKeySampler({ askMany: (commands) => probe.askMany(address, commands) }),
      last: new Map(),
    };
    states.set(address, state);
    const earned = ((nowMs - state.creditedMs) / 1000) * EARNED_PER_SECOND_MS;
    state.creditMs = Math.min(SAVED_MS, state.creditMs + earned);
    state.creditedMs = nowMs;
    return state;
  };

  const readNode = async (node: ProbedNode, depth: Snapshot['depth'], slots: Slots): Promise<NodeFacts> => {
    const { address, role } = node;
    const state = stateOf(address);
    const [info, ...sections] = await probe.askMany(address, [
      ['INFO'],
      ['INFO', 'commandstats'],
      ['INFO', 'errorstats'],
    ]);
    state.creditMs -= COST_MS.info;
    if (info?.kind !== 'reply') return absent(node, refusalOf('INFO', info));
    const texts = [info, ...sections].map((reply) => (reply.kind === 'reply' ? String(reply.reply) : ''));
    const fields = fieldsOf(texts.join('\n'));
    const [rtt, clockOffsetMs] = await roundTrips(address, PINGS[depth]);
    const cheap: NodeFacts = { ...absent(node, CHEAP.skipped), info: { known: fields }, rtt, clockOffsetMs };
    if (depth === 'cheap') return cheap;
    if (role === 'sentinel') return { ...cheap, ...absentParts('a sentinel keeps no data') };

    /** The part, when its cost is in the budget; else the last known one. */
    const within = async <Name extends keyof NodeFacts>(
      name: Name,
      costMs: number,
      read: () => Promise<NodeFacts[Name]>,
    ): Promise<NodeFacts[Name]> => {
      const nowMs = clock.monotonicMs();
      const last = state.last.get(name);
      if (state.creditMs < costMs) {
        if (last !== undefined && nowMs - last.atMs < MAX_AGE_MS) return last.part as NodeFacts[Name];
        return { skipped: 'the budget of 10 ms a second is spent' } as NodeFacts[Name];
      }
      state.creditMs -= costMs;
      const part = await read();
      state.last.set(name, { part: part as Part<unknown>, atMs: nowMs });
      return part;
    };
    const asked = async <T>(words: readonly string[], parse: (reply: unknown) => T): Promise<Part<T>> =>
      partOf(words, await probe.ask(address, words), parse);

    const clients = Number(fields['connected_clients'] ?? 0);
    return {
      ...cheap,
      config: await within('config', COST_MS.config, () => readConfig(address, fields)),
      slowlog: await within('slowlog', COST_MS.slowlog, () => asked(['SLOWLOG', 'GET', SLOW_ENTRIES], slowEntriesOf)),
      latency: await within('latency', 0, () => asked(['LATENCY', 'LATEST'], latencyEventsOf)),
      memory: await within('memory', COST_MS.memory, () => asked(['MEMORY', 'STATS'], (reply) => memoryStatsOf(reply))),
      memoryAdvice: await within('memoryAdvice', 0, () =>
        asked(['MEMORY', 'DOCTOR'], (reply) => String(reply).slice(0, MAX_ADVICE)),
      ),
      clients:
        clients >= MAX_LISTED_CLIENTS
          ? { skipped: `${clients} clients: CLIENT LIST is asked below ${MAX_LISTED_CLIENTS}` }
          : await within('clients', clients * COST_MS.client, () =>
              asked(['CLIENT', 'LIST'], (reply) => clientsOf(String(reply))),
            ),
      cluster:
        fields['cluster_enabled'] === '1'
          ? await within('cluster', COST_MS.cluster, async () => {
              const told = await asked(['CLUSTER', 'INFO'], (reply) => fieldsOf(String(reply)));
              return 'known' in told ? { known: { fields: told.known, slots: slots.get(address) ?? 0 } } : told;
            })
          : { skipped: 'it is in no cluster' },
      keys:
        role === 'master'
          ? await within('keys', COST_MS.key * state.keys.count, () => state.keys.sample())
          : { skipped: 'the keys of its master are sampled' },
    };
  };

  const roundTrips = async (
    address: string,
    { count, apartMs }: (typeof PINGS)['full'],
  ): Promise<[Part<readonly number[]>, Part<number>]> => {
    const times: number[] = [];
    for (let at = 0; at < count; at += 1) {
      if (at > 0 && apartMs > 0) await sleep(apartMs);
      const reply = await probe.ask(address, ['PING']);
      if (reply.kind !== 'reply') return [{ skipped: refusalOf('PING', reply) }, { skipped: refusalOf('PING', reply) }];
      times.push(reply.ms);
    }
    const askedMs = clock.wallMs();
    const reply = await probe.ask(address, ['TIME']);
    const told = reply.kind === 'reply' ? timeMsOf(reply.reply) : undefined;
    const offset: Part<number> =
      told === undefined || reply.kind !== 'reply'
        ? { skipped: refusalOf('TIME', reply) }
        : { known: told - (askedMs + reply.ms / 2) };
    return [{ known: times }, offset];
  };

  /** Servers before Redis 7 take one directive at a time. */
  const readConfig = async (address: string, info: Readonly<Record<string, string>>): Promise<NodeFacts['config']> => {
    const words = ['CONFIG', 'GET'];
    if (majorOf(info) >= 7) {
      const reply = await probe.ask(address, [...words, ...CONFIG_NAMES]);
      return partOf(words, reply, pairsOf);
    }
    const replies = await probe.askMany(
      address,
      CONFIG_NAMES.map((name) => [...words, name]),
    );
    const refused = replies.find((reply) => reply.kind !== 'reply');
    if (refused !== undefined) return { skipped: refusalOf(words.join(' '), refused) };
    return { known: Object.assign({}, ...replies.map((reply) => pairsOf(reply.kind === 'reply' ? reply.reply : []))) };
  };

  /** One CLUSTER NODES for the whole store, from the first node that tells it. */
  const readSlots = async (nodes: readonly ProbedNode[]): Promise<Slots> => {
    for (const { address } of nodes.slice(0, MAX_AT_ONCE)) {
      const reply = await probe.ask(address, ['CLUSTER', 'NODES']);
      if (reply.kind === 'reply') return slotsOf(String(reply.reply), address);
      if (reply.kind === 'refused') break;
    }
    return new Map();
  };

  return {
    read: async (depth) => {
      const untilMs = clock.monotonicMs() + MAX_READ_MS;
      const listed = await probe.nodes();
      const nodes = known(listed);
      if (nodes === undefined) return { ...probe.facts, nodes: 'skipped' in listed ? listed : { known: [] } };
      for (const address of states.keys()) {
        if (!nodes.some((node) => node.address === address)) states.delete(address);
      }
      const slots = probe.facts.kind === 'cluster' && depth === 'full' ? await readSlots(nodes) : new Map();
      const left = [...nodes.entries()];
      const facts: NodeFacts[] = [];
      const worker = async (): Promise<void> => {
        for (let next = left.shift(); next !== undefined; next = left.shift()) {
          const [at, node] = next;
          const isLate = clock.monotonicMs() > untilMs;
          facts[at] = isLate ? absent(node, 'there was no time left for it') : await readNode(node, depth, slots);
        }
      };
      await Promise.all(Array.from({ length: MAX_AT_ONCE }, worker));
      return { ...probe.facts, nodes: { known: facts } };
    },
  };
}

type Slots = ReadonlyMap<string, number>;

function partOf<T>(words: readonly string[], reply: ProbeReply, parse: (reply: unknown) => T): Part<T> {
  const name = words.slice(0, 2).join(' ');
  return reply.kind === 'reply' ? { known: parse(reply.reply) } : { skipped: refusalOf(name, reply) };
}

/** A node without figures. */
function absent({ address, role }: ProbedNode, reason: string): NodeFacts {
  const skipped = { skipped: reason };
  return { address, role, info: skipped, rtt: skipped, clockOffsetMs: skipped, ...absentParts(reason) };
}

function absentParts(reason: string) {
  const skipped = { skipped: reason };
  return {
    ...{ config: skipped, slowlog: skipped, latency: skipped, memory: skipped, memoryAdvice: skipped },
    ...{ clients: skipped, keys: skipped, cluster: skipped },
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, inParallel } from '../../../runtime.ts';
import type { ProbedNode, ProbeReply, StoreProbe } from '../doctor.ts';
import { type Figure, known, type NodeFacts, type Snapshot, type StoreFacts } from '../facts.ts';
import { createKeySampler, type KeySampler } from './store-keys.ts';
import {
  clientsOf,
  directivesOf,
  fieldsOf,
  latencyEventsOf,
  majorOf,
  refusalText,
  slowEntriesOf,
  timeMsOf,
} from './store-replies.ts';

/** Directives for the checks and for readers of a bundle. None of them holds a secret or a path. */
export const CONFIG_NAMES = [
  'maxmemory maxmemory-policy maxmemory-clients save appendonly appendfsync timeout tcp-keepalive tcp-backlog maxclients',
  'io-threads client-output-buffer-limit databases hz repl-backlog-size repl-diskless-sync slowlog-log-slower-than',
  'slowlog-max-len activedefrag latency-monitor-threshold lazyfree-lazy-eviction lazyfree-lazy-expire',
  'stop-writes-on-bgsave-error cluster-require-full-coverage cluster-node-timeout min-replicas-to-write',
].flatMap((names) => names.split(' '));

/** A full look spreads its PINGs over 0.3 s: a stall of some ten milliseconds is seldom met by PINGs in a row. */
const PINGS = { cheap: { count: 5, apartMs: 0 }, full: { count: 20, apartMs: 15 } };
/** A series over a slow network ends earlier: it must leave time for the other commands. */
const MAX_PINGS_MS = 1000;
const SLOW_ENTRIES = '64';
/** CLIENT LIST of more clients would take the node tens of milliseconds, and megabytes of its network. */
const MAX_LISTED_CLIENTS = 5000;
const MAX_AT_ONCE = 16;
/** No command is sent after this time. A command takes up to two seconds, thus a read up to five. */
const MAX_READ_MS = 3000;
const LATE = { kind: 'unreachable', detail: 'there was no time left for it' } as const;
const MAX_ADVICE = 500;
const MAX_FAULT = 160;
/** A part that the budget does not allow is the last known one, up to this age. */
const MAX_AGE_MS = 60_000;
const CHEAP = { skipped: 'cheap' } as const;

/**
 * Time that commands take a node, in milliseconds, above what was measured on Redis 7 and Valkey 8 by `commandstats` of a
 * quiet machine: a busy one counts its other processes too. A table, because round trips also measure a busy host.
 */
export const COST_MS = {
  info: 0.4,
  config: 0.3,
  slowlog: 0.2,
  memory: 0.4,
  cluster: 0.3,
  client: 0.0025,
  key: 0.006,
  clientsMegabyte: 7,
};
/** A line of CLIENT LIST; longer ones cost more. */
const CLIENT_BYTES = 500;
/** At most 10 ms of a node's time per second: this much is earned each second, and this much may be saved. */
const EARNED_PER_SECOND_MS = 5;
const SAVED_MS = 15;

/** One node between two looks. */
interface NodeState {
  creditMs: number;
  creditedMs: number;
  /** End of the time for the commands of a read. */
  untilMs: number;
  readonly keys: KeySampler;
  readonly last: Map<Budgeted, { readonly part: Figure<unknown>; readonly atMs: number }>;
}

/** Reads the figures of one store. Settles within about five seconds, and never rejects. */
export function createStoreCollector(options: {
  readonly probe: StoreProbe;
  readonly clock: Clock;
  readonly random?: () => number;
  /** For tests, whose clock it moves. */
  readonly wait?: (ms: number) => Promise<unknown>;
}) {
  const { probe, clock, random, wait = sleep } = options;
  const states = new Map<string, NodeState>();

  const isLate = (address: string): boolean => clock.monotonicMs() >= (states.get(address)?.untilMs ?? 0);
  const ask: StoreProbe['ask'] = async (address, command) => (isLate(address) ? LATE : probe.ask(address, command));
  const askMany: StoreProbe['askMany'] = async (address, commands) =>
    isLate(address) ? commands.map(() => LATE) : probe.askMany(address, commands);

  const stateOf = (address: string, untilMs: number): NodeState => {
    const nowMs = clock.monotonicMs();
    const state = states.get(address) ?? {
      creditMs: SAVED_MS,
      creditedMs: nowMs,
      untilMs,
      keys: createKeySampler({ askMany: (commands) => askMany(address, commands), random }),
      last: new Map(),
    };
    states.set(address, state);
    state.untilMs = untilMs;
    const earned = ((nowMs - state.creditedMs) / 1000) * EARNED_PER_SECOND_MS;
    state.creditMs = Math.min(SAVED_MS, state.creditMs + earned);
    state.creditedMs = nowMs;
    return state;
  };

  const readInfo = async ({ address }: ProbedNode, read: Read): Promise<Figure<Fields>> => {
    const state = stateOf(address, read.untilMs);
    const [info, ...sections] = await askMany(address, [['INFO'], ['INFO', 'commandstats'], ['INFO', 'errorstats']]);
    state.creditMs -= COST_MS.info;
    if (info?.kind !== 'reply') return { skipped: refusalText('INFO', info) };
    const texts = [info, ...sections].map((reply) => (reply.kind === 'reply' ? String(reply.reply) : ''));
    return { known: fieldsOf(texts.join('\n')) };
  };

  const readNode = async (node: ProbedNode, info: Figure<Fields>, read: Read): Promise<NodeFacts> => {
    const { address, role } = node;
    if ('skipped' in info) return absent(node, info.skipped);
    const fields = info.known;
    const [rtt, clockOffsetMs] = await roundTrips(address, PINGS[read.depth]);
    const cheap: NodeFacts = { ...absent(node, CHEAP.skipped), info: { known: fields }, rtt, clockOffsetMs };
    if (read.depth === 'cheap') return cheap;
    if (role === 'sentinel') return { ...cheap, ...absentParts('a sentinel keeps no data') };
    return { ...cheap, ...(await readParts(node, fields, read)) };
  };

  /** The parts of a full look that a data node has. */
  const readParts = async ({ address, role }: ProbedNode, fields: Fields, read: Read): Promise<Partial<NodeFacts>> => {
    const state = stateOf(address, read.untilMs);
    let isSaving = false;
    /** The part, when its cost is in the budget; else the last known one, and the parts after it wait for their turn too. */
    const within = async <T>(name: Budgeted, costMs: number, look: () => Promise<Figure<T>>): Promise<Figure<T>> => {
      const nowMs = clock.monotonicMs();
      const last = state.last.get(name);
      isSaving ||= state.creditMs < costMs;
      if (isSaving) {
        const isYoung = last !== undefined && nowMs - last.atMs < MAX_AGE_MS;
        return isYoung ? (last.part as Figure<T>) : { skipped: 'the budget of 10 ms a second is spent' };
      }
      state.creditMs -= costMs;
      const part = await look();
      state.last.set(name, { part, atMs: nowMs });
      return part;
    };
    const asked = async <T>(words: readonly string[], parse: (reply: unknown) => T): Promise<Figure<T>> =>
      figureIn(words, await ask(address, words), parse);

    const parts: Partial<NodeFacts> = {
      config: await within('config', COST_MS.config, () => readConfig(address, fields)),
      slowlog: await within('slowlog', COST_MS.slowlog, () => asked(['SLOWLOG', 'GET', SLOW_ENTRIES], slowEntriesOf)),
      latency: await within('latency', 0, () => asked(['LATENCY', 'LATEST'], latencyEventsOf)),
      memoryAdvice: await within('memoryAdvice', COST_MS.memory, () =>
        asked(['MEMORY', 'DOCTOR'], (reply) => String(reply).slice(0, MAX_ADVICE)),
      ),
      cluster:
        fields['cluster_enabled'] === '1'
          ? await within('cluster', COST_MS.cluster, () =>
              asked(['CLUSTER', 'INFO'], (reply) => fieldsOf(String(reply))),
            )
          : { skipped: 'it is in no cluster' },
    };
    const clients = Number(fields['connected_clients'] ?? 0);
    const costly = {
      clients: async (): Promise<Partial<NodeFacts>> => ({
        clients:
          clients >= MAX_LISTED_CLIENTS
            ? { skipped: `${clients} clients: CLIENT LIST is asked below ${MAX_LISTED_CLIENTS}` }
            : await within('clients', clients * COST_MS.client, () =>
                asked(['CLIENT', 'LIST'], (reply) => {
                  const text = String(reply);
                  // Names of clients may be long, and are not known before.
                  const long = Math.max(0, text.length - CLIENT_BYTES * clients);
                  state.creditMs -= COST_MS.clientsMegabyte * (long / 1e6);
                  return clientsOf(text);
                }),
              ),
      }),
      keys: async (): Promise<Partial<NodeFacts>> => ({
        keys:
          role === 'master'
            ? await within('keys', COST_MS.key * state.keys.count, () => state.keys.sample())
            : { skipped: 'the keys of its master are sampled' },
      }),
    };
    // The part that was read longest ago has the first turn: otherwise the other would spend what it saves for.
    const ageOf = (name: 'clients' | 'keys'): number => state.last.get(name)?.atMs ?? Number.NEGATIVE_INFINITY;
    const turns = ageOf('keys') < ageOf('clients') ? (['keys', 'clients'] as const) : (['clients', 'keys'] as const);
    for (const name of turns) Object.assign(parts, await costly[name]());
    return parts;
  };

  const roundTrips = async (
    address: string,
    { count, apartMs }: (typeof PINGS)['full'],
  ): Promise<[Figure<readonly number[]>, Figure<number>]> => {
    const times: number[] = [];
    const beganMs = clock.monotonicMs();
    for (let at = 0; at < count; at += 1) {
      if (at >= PINGS.cheap.count && clock.monotonicMs() - beganMs > MAX_PINGS_MS) break;
      if (at > 0 && apartMs > 0) await wait(apartMs);
      const reply = await ask(address, ['PING']);
      // A slow node uses all of the time, and its round trips tell why.
      if (reply === LATE && times.length > 0) break;
      if (reply.kind !== 'reply')
        return [{ skipped: refusalText('PING', reply) }, { skipped: refusalText('PING', reply) }];
      times.push(reply.ms);
    }
    const askedMs = clock.wallMs();
    const reply = await ask(address, ['TIME']);
    const told = reply.kind === 'reply' ? timeMsOf(reply.reply) : undefined;
    const offset: Figure<number> =
      told === undefined || reply.kind !== 'reply'
        ? { skipped: refusalText('TIME', reply) }
        : { known: told - (askedMs + reply.ms / 2) };
    return [{ known: times }, offset];
  };

  /** Servers before Redis 7, and some relatives of later ones, take one directive at a time. */
  const readConfig = async (address: string, info: Fields): Promise<Figure<Fields>> => {
    const words = ['CONFIG', 'GET'];
    const [first, ...others] = CONFIG_NAMES.map((name) => [...words, name]);
    const reply = await ask(address, majorOf(info) >= 7 ? [...words, ...CONFIG_NAMES] : (first ?? words));
    const isOne = reply.kind === 'refused' && /wrong number of arguments/i.test(reply.detail);
    if (majorOf(info) >= 7 && !isOne) return figureIn(words, reply, directivesOf);
    // A server that refuses the first one is not asked for the others: it counts each as an error.
    const told = isOne ? await ask(address, first ?? words) : reply;
    const replies = told.kind === 'reply' ? [told, ...(await askMany(address, others))] : [told];
    const refused = replies.find(({ kind }) => kind !== 'reply');
    if (refused !== undefined) return { skipped: refusalText(words.join(' '), refused) };
    return { known: Object.assign({}, ...replies.map((one) => (one.kind === 'reply' ? directivesOf(one.reply) : {}))) };
  };

  return {
    read: async (depth: Snapshot['depth']): Promise<StoreFacts> => {
      const untilMs = clock.monotonicMs() + MAX_READ_MS;
      const listed = await probe.nodes();
      const nodes = known(listed);
      if (nodes === undefined) return { ...probe.facts, nodes: 'skipped' in listed ? listed : { known: [] } };
      for (const address of states.keys()) {
        if (!nodes.some((node) => node.address === address)) states.delete(address);
      }
      const read: Read = { depth, untilMs };
      // INFO of every node first: a store of hundreds of nodes has no time left for some of the other parts.
      const infos = await inParallel(nodes, MAX_AT_ONCE, (node) => readInfo(node, read));
      const facts = await inParallel(nodes, MAX_AT_ONCE, async (node, at) => {
        const info = infos[at] ?? { skipped: LATE.detail };
        try {
          return await readNode(node, info, read);
        } catch (error) {
          return { ...absent(node, `its replies cannot be read: ${error}`.slice(0, MAX_FAULT)), info };
        }
      });
      return { ...probe.facts, nodes: { known: facts } };
    },
  };
}

type Fields = Readonly<Record<string, string>>;
type Budgeted = keyof ReturnType<typeof absentParts>;

/** One read of all nodes. */
interface Read {
  readonly depth: Snapshot['depth'];
  readonly untilMs: number;
}

function figureIn<T>(words: readonly string[], reply: ProbeReply, parse: (reply: unknown) => T): Figure<T> {
  const name = words.slice(0, 2).join(' ');
  return reply.kind === 'reply' ? { known: parse(reply.reply) } : { skipped: refusalText(name, reply) };
}

/** A node without figures. */
function absent({ address, role }: ProbedNode, reason: string): NodeFacts {
  const skipped = { skipped: reason };
  return { address, role, info: skipped, rtt: skipped, clockOffsetMs: skipped, ...absentParts(reason) };
}

function absentParts(reason: string) {
  const skipped = { skipped: reason };
  return {
    config: skipped,
    slowlog: skipped,
    latency: skipped,
    memoryAdvice: skipped,
    clients: skipped,
    keys: skipped,
    cluster: skipped,
  };
}

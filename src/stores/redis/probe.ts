import type { ProbedNode, ProbeReply, StoreProbe } from '../../operations/doctor/doctor.ts';
import type { Figure } from '../../operations/doctor/facts.ts';
import { type Clock, settledWithin } from '../../runtime.ts';
import { formatAddress, parseAddress } from '../../schema/units.ts';
import type { RedisSettings } from './connection.ts';
import { createEndpoints } from './endpoints.ts';
import { refusalOfChange, refusalToSend } from './probe-commands.ts';
import { createProbeConnection, type ProbeConnection } from './probe-connection.ts';
import { nodesOfCluster, nodesOfInfo, nodesOfSentinels, nodesOfSlots } from './probe-nodes.ts';

interface RedisProbeOptions {
  readonly settings: RedisSettings;
  readonly facts: StoreProbe['facts'];
  readonly clock: Clock;
  readonly random: () => number;
}

/** Maximum time of one ask; with the lateness of a timer it stays below the two seconds of the port. */
const ASK_MS = 1800;
/** Commands in one write: their replies are small, and other clients wait for no longer than they take. */
const BATCH = 100;
/** The wait for one node's list of nodes before the next one is asked as well. */
const NEXT_AFTER_MS = 250;
/** Nodes asked for the list: beyond this number of silent ones the deployment is not there. */
const MAX_ASKED = 16;

type Commands = readonly (readonly string[])[];
type Refusal = (command: readonly string[]) => string | undefined;

/**
 * The doctor's view of one store: read-only commands to each of its nodes. Connections are its own, one per node, because a
 * slow reply (a long CLIENT LIST) must not stand before a search's, and a reply that is late ends its connection.
 */
export function createRedisProbe({ settings, facts, clock, random }: RedisProbeOptions): StoreProbe {
  const configured = (settings.kind === 'sentinel' ? settings.sentinels : settings.nodes).map((at) =>
    formatAddress(at),
  );
  const { reachable } = createEndpoints('natMap' in settings ? settings.natMap : undefined);
  const configuredRole = settings.kind === 'sentinel' ? 'sentinel' : 'master';
  /** The last list that the servers gave. The configured nodes can be asked even when they are not in it. */
  let told: readonly ProbedNode[] = [];
  const connections = new Map<string, ProbeConnection>();
  let closed = false;

  const connectionTo = (node: string): ProbeConnection | undefined => {
    const kept = connections.get(node);
    if (kept !== undefined || closed) return kept;
    const role = told.find(({ address }) => address === node)?.role;
    const at = parseAddress(node);
    if (at === undefined || (role === undefined && !configured.includes(node))) return undefined;
    const sentinel = (role ?? configuredRole) === 'sentinel';
    const connection = createProbeConnection({ settings, at, sentinel, name: facts.name, clock, random });
    connections.set(node, connection);
    return connection;
  };

  /** Batch after batch, until the time is over or the node no longer answers. */
  const send = async (node: string, commands: Commands): Promise<readonly ProbeReply[]> => {
    const connection = connectionTo(node);
    const unreachable = (detail: string): ProbeReply => ({ kind: 'unreachable', detail });
    const missing = closed ? 'the probe is closed' : `${node} is no node of this store`;
    if (connection === undefined) return commands.map(() => unreachable(missing));
    const untilMs = clock.monotonicMs() + ASK_MS;
    const replies: ProbeReply[] = [];
    while (replies.length < commands.length) {
      const leftMs = untilMs - clock.monotonicMs();
      const last = replies.at(-1);
      if (last?.kind === 'unreachable') replies.push(last);
      else if (leftMs < 1) replies.push(unreachable(`the commands before it took ${ASK_MS} ms`));
      else replies.push(...(await connection.send(commands.slice(replies.length, replies.length + BATCH), leftMs)));
    }
    return replies;
  };

  /** Sends the commands that `refusal` permits, and gives the others its reason. */
  const checked = async (node: string, commands: Commands, refusal: Refusal) => {
    const reasons = commands.map(refusal);
    const replies = await send(
      node,
      commands.filter((_, index) => reasons[index] === undefined),
    );
    let at = 0;
    return reasons.map((detail): ProbeReply => {
      if (detail !== undefined) return { kind: 'refused', detail, ms: 0 };
      at += 1;
      return replies[at - 1] ?? { kind: 'unreachable', detail: 'no reply' };
    });
  };
  const one = async (node: string, command: readonly string[], refusal: Refusal): Promise<ProbeReply> => {
    const [reply] = await checked(node, [command], refusal);
    return reply ?? { kind: 'unreachable', detail: 'no reply' };
  };
  const ask: StoreProbe['ask'] = (node, command) => one(node, command, refusalToSend);

  const listFrom = async (asked: string): Promise<Figure<readonly ProbedNode[]>> => {
    if (settings.kind === 'sentinel') {
      const about = ['MASTER', 'REPLICAS', 'SENTINELS'].map((sub) => ['SENTINEL', sub, settings.master]);
      const [master, replicas, sentinels] = (await checked(asked, about, refusalToSend)).map(partIn);
      if (master === undefined || 'skipped' in master) return master ?? { skipped: 'no reply' };
      const lists = { replicas: knownIn(replicas), sentinels: knownIn(sentinels) };
      return { known: nodesOfSentinels({ asked, configured, reachable, master: master.known, ...lists }) };
    }
    if (settings.kind === 'standalone') {
      const info = partIn(await ask(asked, ['INFO', 'replication']));
      return 'known' in info ? { known: nodesOfInfo(String(info.known), asked) } : info;
    }
    const about = ['NODES', 'SLOTS'].map((sub) => ['CLUSTER', sub]);
    const [nodes, slots] = (await checked(asked, about, refusalToSend)).map(partIn);
    if (nodes === undefined || slots === undefined) return { skipped: 'no reply' };
    if ('known' in nodes) {
      const view = { asked, reachable, slots: knownIn(slots), tls: settings.tls !== undefined };
      return { known: nodesOfCluster(String(nodes.known), view) };
    }
    return 'known' in slots ? { known: nodesOfSlots(slots.known, { asked, reachable }) } : nodes;
  };

  /** Nodes to ask for the list: those that told it before and the configured ones. */
  const sources = (): readonly string[] => {
    const wanted = told.filter(({ role }) => role === configuredRole).map(({ address }) => address);
    const open = wanted.filter((address) => connections.has(address));
    return [...new Set([...configured.slice(0, MAX_ASKED / 2), ...open, ...configured])].slice(0, MAX_ASKED);
  };

  const keep = (nodes: readonly ProbedNode[]): void => {
    told = nodes;
    const used = new Set([...nodes.map(({ address }) => address), ...configured]);
    for (const [node, connection] of connections) {
      if (used.has(node)) continue;
      connection.close();
      connections.delete(node);
    }
  };

  const nodes = async (): Promise<Figure<readonly ProbedNode[]>> => {
    const list = await firstKnown(sources(), listFrom);
    if ('known' in list && list.known.length > 0) keep(list.known);
    // The only server is known without its help; that it does not answer is told by its figures.
    if ('skipped' in list && settings.kind === 'standalone') {
      return { known: told.length > 0 ? told : configured.map((address) => ({ address, role: 'master' })) };
    }
    return list;
  };

  return {
    facts,
    nodes,
    ask,
    askMany: (node, commands) => checked(node, commands, refusalToSend),
    change: (node, command) => one(node, command, refusalOfChange),
    close: async () => {
      closed = true;
      for (const connection of connections.values()) connection.close();
      connections.clear();
    },
  };
}

function partIn(reply: ProbeReply): Figure<unknown> {
  return reply.kind === 'reply' ? { known: reply.reply } : { skipped: reply.detail };
}

function knownIn(part: Figure<unknown> | undefined): unknown {
  return part !== undefined && 'known' in part ? part.known : undefined;
}

/** The first list. The next node is asked when one has failed or is silent for `NEXT_AFTER_MS`: it may be stopped. */
async function firstKnown<T>(
  sources: readonly string[],
  listFrom: (source: string) => Promise<Figure<T>>,
): Promise<Figure<T>> {
  const { promise: known, resolve } = Promise.withResolvers<Figure<T>>();
  let isOver = false;
  let problem = 'no node is configured';
  const ask = async (source: string): Promise<void> => {
    const list = await listFrom(source);
    if ('known' in list) resolve(list);
    else problem = `${source}: ${list.skipped}`;
  };
  const askAll = async (): Promise<Figure<T>> => {
    const asked: Promise<void>[] = [];
    for (const source of sources) {
      if (isOver) break;
      const own = ask(source);
      asked.push(own);
      await settledWithin(own, NEXT_AFTER_MS);
    }
    await Promise.all(asked);
    return { skipped: problem };
  };
  const first = await settledWithin(Promise.race([known, askAll()]), ASK_MS);
  isOver = true;
  return first?.value ?? { skipped: `no node told the others within ${ASK_MS} ms` };
}

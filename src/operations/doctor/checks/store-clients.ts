import { amountText, bytesText, countText, durationText, percentText } from '../../../report/format.ts';
import { MIB } from '../../../schema/units.ts';
import { type CheckRule, type Details, knownFigures, type Window } from '../check.ts';
import { known } from '../facts.ts';
import {
  cpuOf,
  dataNodesOf,
  each,
  fieldNumber,
  finding,
  type Judgement,
  median,
  NO_PAIR,
  type NodeView,
  nodesOf,
  portPartOf,
  raiseOrHold,
  skip,
  stateAbove,
  whyMissing,
} from '../window.ts';
import { ms } from './network.ts';
import {
  cli,
  largerReplicaLimit,
  NO_INFO,
  noConfig,
  type OutputLimit,
  othersCalls,
  outputLimitOf,
  setOutputLimit,
} from './store-figures.ts';

/** Connections of store nodes: whether they answer, the number and life of connections, and bytes that wait for their readers. */

/** The node answered, or was not asked: it is not away. */
const NOT_ASKED = /\bNOPERM\b|\bbudget\b|no time left/;
/** The server refuses the credentials. Searches fail as the doctor does. */
const NO_ENTRY = /\b(?:WRONGPASS|NOAUTH|invalid password|invalid username-password)\b/i;
const CREDENTIALS =
  'Set username and password of this store in the configuration, or those of its doctor section; in redis-cli: --user NAME --askpass.';

/** Masters, and stores as a whole. Nodes without INFO are no `NodeView`, so this reads the snapshot itself. */
function reachedIn({ after }: Window): readonly { readonly subject: string; readonly verdict: Judgement }[] {
  return after.stores.flatMap(({ name, nodes }) => {
    const found = known(nodes);
    if (found === undefined) {
      const store = { evidence: 'No configured node tells the nodes of this store', advice: [COMPARE] };
      return [{ subject: name, verdict: silent(whyMissing(nodes), store) }];
    }
    const masters = found.filter(({ role }) => role === 'master');
    return masters.map((node) => {
      const master = {
        evidence: 'The master did not answer INFO',
        figures: { role: node.role },
        advice: [
          `From this host: ${cli({ node }, 'PING')}`,
          `On its host: ss -ltn 'sport = :${portPartOf(node.address)}', and the log of the server.`,
        ],
      };
      const subject = `${node.address} (${name})`;
      return { subject, verdict: 'known' in node.info ? 'fine' : silent(whyMissing(node.info), master) };
    });
  });
}

const COMPARE = 'Compare the store’s nodes in the configuration with the servers: npm run serpcache -- config check';

function silent(reason: string, { evidence, figures, advice }: Partial<Details>): Judgement {
  if (NOT_ASKED.test(reason)) return skip(reason);
  return finding(true, () => ({
    evidence: `${evidence}: ${reason}.`,
    figures: { reason, ...figures },
    advice: [...(NO_ENTRY.test(reason) ? [CREDENTIALS] : []), ...(advice ?? [])],
  }));
}

/**
 * The mean life of a connection is the number of connections divided by those opened per second. A fleet that restarts
 * opens all its connections once: long before the second window that a finding needs, the rate is near 0 again.
 */
const CHURN = {
  perSecond: 10,
  clearPerSecond: 5,
  lifeSeconds: 10,
  clearLifeSeconds: 20,
  // A shorter life or a larger share than this: the server spends itself on them.
  share: 0.1,
  windowSeconds: 0.5,
  // Thousands of idle connections make the mean life long, and thousands of commands the share small; new ones get no cheaper.
  alonePerSecond: 50,
  clearAlonePerSecond: 25,
};

function clientText({ address, name }: { readonly address: string; readonly name: string }): string {
  return name === '' ? address : `${address} “${name}”`;
}

function churn(view: NodeView): Judgement {
  const { rate, level, node, seconds } = view;
  const [opened, connected] = [rate('total_connections_received'), level('connected_clients')];
  if (opened === undefined || connected === undefined || seconds < CHURN.windowSeconds) return skip(NO_PAIR);
  const lifeSeconds = connected / Math.max(opened, Number.EPSILON);
  // A connection counts as one command, whatever its handshake: the doctor sends the same commands, which are left out.
  const calls = othersCalls(view);
  const share = calls === undefined ? undefined : opened / Math.max(1, calls / seconds + opened);
  const isMuch = share !== undefined && share >= CHURN.share;
  const isLong = opened < CHURN.clearPerSecond || (lifeSeconds > CHURN.clearLifeSeconds && !isMuch);
  if (isLong && opened < CHURN.clearAlonePerSecond) return 'fine';
  const isShort = opened >= CHURN.perSecond && (lifeSeconds <= CHURN.lifeSeconds || isMuch);
  const [youngest] = (known(node.clients)?.top ?? []).toSorted((a, b) => b.young - a.young);
  const cpu = cpuOf(view) ?? 0;
  const times = known(node.rtt) ?? [];
  const rttMs = median(times);
  const part = share === undefined ? '' : `, ${percentText(share)} of all commands and connections,`;
  const ping = rttMs === undefined ? '' : `, PING takes ${ms(rttMs)}, at worst ${ms(Math.max(...times))}`;
  const named =
    youngest === undefined || youngest.young === 0
      ? ''
      : ` Most young ones: ${clientText(youngest)} with ${youngest.young} of ${youngest.count} under 10 s old.`;
  const lifeMs = Math.round(1000 * lifeSeconds);
  return finding(raiseOrHold(isShort || opened >= CHURN.alonePerSecond), () => ({
    evidence: `${amountText(opened)} connections are opened a second${part} beside ${countText(connected)} that are there: one lives ${durationText(lifeMs)} on average; the CPU is at ${percentText(cpu)} of a core${ping}.${named}`,
    figures: knownFigures({ openedPerSecond: opened, connected, lifeMs, connectShare: share, cpu, rttMs }),
    advice: [
      'Keep connections in the client: one long-lived connection per process and node (a persistent connection, a pool), none per request.',
      'Set a long timeout of the client and a shorter one of the application, so that a slow answer closes no connection: a client that disconnects reconnects under load.',
      `Find the clients by address, name and age: ${cli(view, 'CLIENT LIST')}`,
    ],
  }));
}

const REJECTED = { raises: 1 };

/** Replicas and the bus of a cluster count toward the limit, and stand apart in INFO. */
function tableOf({ level, config }: NodeView): { readonly used: number; readonly limit: number } | undefined {
  const connected = level('connected_clients');
  const limit = level('maxclients') ?? Number(config('maxclients') ?? Number.NaN);
  if (connected === undefined || !Number.isFinite(limit) || limit <= 0) return undefined;
  return { used: connected + (level('connected_slaves') ?? 0) + (level('cluster_connections') ?? 0), limit };
}

const moreClients = (view: NodeView, limit: number): readonly string[] => [
  cli(view, `CONFIG SET maxclients ${2 * limit}`),
  `maxclients ${2 * limit} in its configuration file, and as many descriptors: LimitNOFILE=${2 * limit + 100} in its unit`,
  `Or fewer connections; find their owners: ${cli(view, 'CLIENT LIST')}`,
];

const NEAR_LIMIT = { raises: 0.8, clears: 0.7 };
const MANY = { alone: 1000, most: 500, share: 0.5, clearAlone: 800, clearMost: 400 };
const BLOCKED = { count: 20, share: 0.2, connected: 50, clears: 10 };

const OUTPUT = { share: 0.5, clearShare: 0.25, unlimitedBytes: 32 * MIB, clearUnlimitedBytes: 16 * MIB };
const REPLICA_ROOM = { hardBytes: 1024 * MIB, softBytes: 512 * MIB, softSeconds: 60 };

/** A hard limit where there is none; a soft limit that is larger stays. */
function firstLimit({ softBytes, softSeconds }: OutputLimit): OutputLimit {
  const soft = Math.max(64 * MIB, softBytes);
  return { hardBytes: Math.max(256 * MIB, soft), softBytes: soft, softSeconds: Math.max(10, softSeconds) };
}

function outputBuffer(view: NodeView): Judgement {
  const clients = known(view.node.clients);
  if (clients === undefined) return skip(whyMissing(view.node.clients));
  const { bytes, client, kind } = clients.largestOutput;
  const limit = outputLimitOf(view, kind);
  const { hardBytes = 0, softBytes = 0, softSeconds = 0 } = limit ?? {};
  const raises = hardBytes > 0 ? OUTPUT.share * hardBytes : OUTPUT.unlimitedBytes;
  const clears = hardBytes > 0 ? OUTPUT.clearShare * hardBytes : OUTPUT.clearUnlimitedBytes;
  const isSoft = softBytes > 0 && bytes >= softBytes;
  if (bytes < clears && !isSoft) return 'fine';
  const limits = [
    ...(hardBytes > 0 ? [`above ${bytesText(hardBytes)} the server closes the connection at once`] : []),
    ...(softBytes > 0 ? [`above ${bytesText(softBytes)} after ${softSeconds} s`] : []),
  ];
  const rule = limit === undefined ? 'the limit is not known' : limits.join(', ') || 'there is no limit';
  const ofReplica = (): readonly string[] => [
    ...largerReplicaLimit(view, REPLICA_ROOM).map((command) => `Room for a burst of writes: ${command}`),
    'Look at the replica: its CPU, its disk and the network to it.',
  ];
  const ofClient = (): readonly string[] => [
    'Let this client read what it asks for, and ask for less at a time (a bounded pipeline, SCAN instead of KEYS).',
    ...(limit === undefined || hardBytes > 0 ? [] : [`A limit: ${setOutputLimit(view, kind, firstLimit(limit))}`]),
  ];
  return finding(raiseOrHold(bytes >= raises || isSoft), () => ({
    evidence: `${bytesText(bytes)} of replies wait for ${client} (${kind}), which does not read them fast enough; ${rule}.`,
    figures: { bytes, client, kind, hardBytes, softBytes },
    advice: kind === 'replica' ? ofReplica() : ofClient(),
  }));
}

export const CLIENT_CHECKS: readonly CheckRule[] = [
  {
    id: 'store-unreachable',
    severity: 'critical',
    title: 'a store node does not answer',
    needs: ['info'],
    raises: 'a master does not answer INFO within its time, or no node tells the others',
    why: 'Searches for its keys are misses that the engine must compute, flushes do not reach it, and the rest of the report does not see it.',
    source: 'measured: a killed or stopped node makes its share of the searches go to the engine',
    look: each(reachedIn, ({ verdict }) => verdict),
  },
  {
    id: 'store-connection-churn',
    severity: 'warning',
    title: 'clients connect again and again',
    needs: ['info', 'rtt'],
    minimum: `two readings of one run, ≥ ${CHURN.windowSeconds} s apart`,
    raises: `≥ ${CHURN.perSecond} new connections a second, and a mean life of ≤ ${CHURN.lifeSeconds} s (connections ÷ new ones a second) or a share of ≥ ${percentText(CHURN.share)} of commands and connections; or ≥ ${CHURN.alonePerSecond} a second`,
    clears: `< ${CHURN.clearPerSecond} a second, or a mean life > ${CHURN.clearLifeSeconds} s and a smaller share with < ${CHURN.clearAlonePerSecond} a second`,
    why: 'Accepting a connection costs the main thread more than a small command, with TLS many times more: latency rises while the CPU seems free, and clients that time out reconnect again.',
    source:
      'field report: frequent reconnecting hurts, not the number of clients; Redis documentation, “Redis client handling”',
    look: each(dataNodesOf, churn),
  },
  {
    id: 'store-rejected-connections',
    severity: 'critical',
    title: 'connections are refused',
    needs: ['info'],
    minimum: 'two readings of one run',
    raises: `≥ ${REJECTED.raises} refused connection in the window`,
    clears: 'none in the window',
    why: 'A process that starts, or whose connection broke, stays without this node.',
    source: 'Redis documentation, INFO: rejected_connections',
    look: each(nodesOf, (view) => {
      const count = view.grown('rejected_connections');
      if (count === undefined) return skip(NO_PAIR);
      const table = tableOf(view);
      const places =
        table === undefined ? '' : `; ${countText(table.used)} of ${countText(table.limit)} places are taken now`;
      return finding(count >= REJECTED.raises, () => ({
        evidence: `${countText(count)} connections were refused in ${view.seconds.toFixed(1)} s${places}.`,
        figures: knownFigures({ rejected: count, connected: table?.used, maxclients: table?.limit }),
        advice: moreClients(view, table?.limit ?? 10_000),
      }));
    }),
  },
  {
    id: 'store-clients-near-limit',
    severity: 'warning',
    title: 'the table of clients is nearly full',
    needs: ['info'],
    raises: `≥ ${percentText(NEAR_LIMIT.raises)} of maxclients, replicas and cluster links included`,
    clears: `< ${percentText(NEAR_LIMIT.clears)}`,
    why: 'At the limit every new connection is refused, also those of serpcache after a restart.',
    source: 'Redis documentation, “Redis client handling”: maximum concurrent connected clients',
    look: each(nodesOf, (view) => {
      const table = tableOf(view);
      if (table === undefined) return skip('neither INFO nor CONFIG tells maxclients');
      const { used, limit } = table;
      const share = used / limit;
      return finding(stateAbove(share, NEAR_LIMIT), () => ({
        evidence: `${countText(used)} of ${countText(limit)} places for connections are taken (${percentText(share)}).`,
        figures: { connected: used, maxclients: limit, share },
        advice: moreClients(view, limit),
      }));
    }),
  },
  {
    id: 'store-one-client-many',
    severity: 'warning',
    title: 'one client holds very many connections',
    needs: ['clients'],
    raises: `one address and name with ≥ ${countText(MANY.alone)} connections, or with ≥ ${MANY.most} and at least half of all`,
    clears: `< ${MANY.clearAlone}, or < ${MANY.clearMost} of which it is half`,
    why: 'Each costs memory and a place in the table; a pool without a bound grows just when the server is slow.',
    source: 'Redis documentation, “Redis client handling”; field report: one application had thousands',
    look: each(dataNodesOf, (view) => {
      const clients = known(view.node.clients);
      if (clients === undefined) return skip(whyMissing(view.node.clients));
      const [first] = clients.top.toSorted((a, b) => b.count - a.count);
      if (first === undefined) return 'fine';
      const isMost = first.count >= MANY.share * clients.count;
      const passes = (alone: number, most: number): boolean => first.count >= (isMost ? most : alone);
      if (!passes(MANY.clearAlone, MANY.clearMost)) return 'fine';
      return finding(raiseOrHold(passes(MANY.alone, MANY.most)), () => ({
        evidence: `${clientText(first)} holds ${countText(first.count)} of ${countText(clients.count)} connections, ${countText(first.young)} of them younger than 10 s.`,
        figures: { connections: first.count, all: clients.count, young: first.young, address: first.address },
        advice: [
          'Bound the pool of this client; a connection carries thousands of commands a second, so one or a few per process are enough.',
          `Show them: ${cli(view, `CLIENT LIST | grep 'addr=${first.address}:'`)}`,
        ],
      }));
    }),
  },
  {
    id: 'store-blocked-clients',
    severity: 'warning',
    title: 'many clients wait in blocking commands',
    needs: ['info'],
    raises: `≥ ${BLOCKED.count} blocked clients, or ≥ ${percentText(BLOCKED.share)} of ≥ ${BLOCKED.connected} connections`,
    clears: `< ${BLOCKED.clears}`,
    why: 'A cache has no blocking commands: another application uses this node as a queue, or CLIENT PAUSE holds everyone.',
    source: 'Redis documentation, INFO: blocked_clients',
    look: each(dataNodesOf, (view) => {
      const [count, connected] = [view.level('blocked_clients'), view.level('connected_clients')];
      if (count === undefined || connected === undefined) return skip(NO_INFO);
      if (count < BLOCKED.clears) return 'fine';
      const isMany = count >= BLOCKED.count || (connected >= BLOCKED.connected && count >= BLOCKED.share * connected);
      return finding(raiseOrHold(isMany), () => ({
        evidence: `${countText(count)} of ${countText(connected)} connections wait in a blocking command (BLPOP, XREAD BLOCK, WAIT) or for CLIENT PAUSE to end.`,
        figures: { blocked: count, connected },
        advice: [
          `Find them, flag b: ${cli(view, "CLIENT LIST | grep 'flags=[a-zA-Z]*b'")}`,
          'Give queues a server of their own; serpcache sends no blocking command.',
        ],
      }));
    }),
  },
  {
    id: 'store-output-buffer',
    severity: 'warning',
    title: 'replies pile up for a slow reader',
    needs: ['clients', 'config'],
    raises: `≥ ${percentText(OUTPUT.share)} of the hard limit of its class or ≥ its soft limit; without a limit ≥ ${bytesText(OUTPUT.unlimitedBytes)}`,
    clears: `< ${percentText(OUTPUT.clearShare)} of the hard limit; without one < ${bytesText(OUTPUT.clearUnlimitedBytes)}`,
    why: 'The buffer takes memory from the keys, and at its limit the connection is closed: a replica then needs a full copy.',
    source: 'Redis documentation, “Redis client handling”: output buffer limits',
    look: each(dataNodesOf, outputBuffer),
  },
  {
    id: 'store-idle-timeout',
    severity: 'warning',
    title: 'the server closes idle connections',
    needs: ['config'],
    raises: 'timeout > 0',
    why: 'serpcache keeps its connections open. In a quiet hour each is closed and opened again, and a search meets the closed one.',
    source: 'Redis documentation, “Redis client handling”: client timeouts; deploy/redis',
    look: each(dataNodesOf, (view) => {
      const seconds = fieldNumber(view.config('timeout'));
      if (seconds === undefined) return skip(noConfig(view));
      return finding(seconds > 0, () => ({
        evidence: `timeout is ${seconds}: the server closes a connection that was idle for ${seconds} s.`,
        figures: { timeoutMs: 1000 * seconds },
        advice: [
          cli(view, 'CONFIG SET timeout 0'),
          'timeout 0 in its configuration file; tcp-keepalive finds dead peers.',
        ],
      }));
    }),
  },
];

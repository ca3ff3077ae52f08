import { isIP } from 'node:net';
import type { ProbedNode } from '../../operations/doctor/doctor.ts';
import { formatHostPort, parseHostPort } from '../../schema/units.ts';
import { pairsIn } from './commands.ts';
import { type AnnouncedNode, type Endpoints, hostOf, isSlotMap } from './endpoints.ts';

/**
 * The nodes of a deployment, as its servers tell them: of CLUSTER NODES, CLUSTER SLOTS, INFO and SENTINEL. Addresses are
 * those at which the servers know each other, seen through `natMap`; a node without one is left out.
 */

/** A deployment may name more; further nodes are left out. */
export const MAX_NODES = 256;
const MAX_REPLICAS_OF_ONE = 32;

interface NodeView {
  /** The node that answered: a node that does not know its own address is at this one. */
  readonly asked: string;
  readonly reachable: Endpoints['reachable'];
}

interface ClusterView extends NodeView {
  /** The reply of CLUSTER SLOTS: the endpoints that clients shall use. Undefined where it was refused. */
  readonly slots: unknown;
  /** Certificates name hosts, so over TLS a node's announced name is preferred to its address. */
  readonly tls: boolean;
}

/**
 * The lines of CLUSTER NODES. Failed nodes are among them: that they do not answer is a finding. A node in its handshake or
 * without an address is no member (yet).
 */
export function nodesOfCluster(text: string, { asked, reachable, slots, tls }: ClusterView): readonly ProbedNode[] {
  const preferred = new Map(nodesIn(slots).map((node) => [node[2], placeOf(node, { asked, reachable })] as const));
  const nodes = text.split('\n').flatMap((line): ProbedNode[] => {
    const [id = '', endpoint = '', flagList = ''] = line.trim().split(' ');
    const flags = flagList.split(',');
    if (flags.includes('handshake') || flags.includes('noaddr')) return [];
    const role = flags.includes('master') ? 'master' : flags.includes('slave') ? 'replica' : undefined;
    // `ip:port@bus,name,shard-id=…`; an IPv6 address stands without brackets.
    const [place = '', hostname = ''] = endpoint.split(',');
    const [, ip = '', port = ''] = /^(.*):(\d+)(?:@\d+)?$/.exec(place) ?? [];
    const named = tls && hostname !== '' && !hostname.includes('=') ? hostname : ip;
    const own = addressOf(named === '' ? parseHostPort(asked)?.host : named, port, reachable);
    // The endpoint for clients may be a host name, another port, or the host that was asked.
    const forClients = preferred.get(id);
    const address = forClients === addressOf(ip, port) ? own : (forClients ?? own);
    return role === undefined || address === undefined ? [] : [{ address, role }];
  });
  return distinct(nodes);
}

/** The reply of CLUSTER SLOTS, for a user without the right to CLUSTER NODES. Nodes without slots are not in it. */
export function nodesOfSlots(reply: unknown, view: NodeView): readonly ProbedNode[] {
  const nodes = (Array.isArray(reply) ? reply : []).flatMap((range: unknown) =>
    nodesIn([range]).flatMap((node, index): ProbedNode[] => {
      const address = placeOf(node, view);
      return address === undefined ? [] : [{ address, role: index === 0 ? 'master' : 'replica' }];
    }),
  );
  return distinct(nodes);
}

/** Each node of each range; none of a reply that is no slot map. */
function nodesIn(slots: unknown): readonly AnnouncedNode[] {
  return isSlotMap(slots) ? slots.flatMap(([, , ...nodes]) => nodes) : [];
}

function placeOf(node: AnnouncedNode, { asked, reachable }: NodeView): string | undefined {
  return addressOf(hostOf(node, parseHostPort(asked)?.host ?? ''), node[1], reachable);
}

/** The server that told INFO replication, and its replicas. */
export function nodesOfInfo(text: string, asked: string): readonly ProbedNode[] {
  const role = /^role:slave\s*$/m.test(text) ? 'replica' : 'master';
  const replicas = [...text.matchAll(/^slave\d+:ip=([^,]+),port=(\d+)/gm)].flatMap(([, ip, port]) => {
    const address = addressOf(ip, port);
    return address === undefined ? [] : [{ address, role: 'replica' } as const];
  });
  return distinct([{ address: asked, role }, ...replicas.slice(0, MAX_REPLICAS_OF_ONE)]);
}

interface SentinelView extends NodeView {
  readonly configured: readonly string[];
  /** The replies of SENTINEL MASTER, REPLICAS and SENTINELS; undefined where it was refused. */
  readonly master: unknown;
  readonly replicas: unknown;
  readonly sentinels: unknown;
}

/**
 * The master, its replicas and the sentinels. A configured sentinel that no other knows is listed when it stands there by
 * address: under a name it could be one of the others.
 */
export function nodesOfSentinels({ asked, reachable, configured, master, replicas, sentinels }: SentinelView) {
  const others = recordsOf(sentinels);
  const unknown = configured.filter((address) => isIP(parseHostPort(address)?.host ?? '') !== 0);
  return distinct([
    ...listed(recordsOf([master]), 'master', reachable),
    ...listed(recordsOf(replicas), 'replica', reachable),
    { address: asked, role: 'sentinel' },
    ...listed(others, 'sentinel', reachable),
    ...unknown.map((address) => ({ address, role: 'sentinel' }) as const),
  ]);
}

type Fields = ReadonlyMap<unknown, unknown>;

function listed(records: readonly Fields[], role: ProbedNode['role'], reachable: Endpoints['reachable']) {
  return records.flatMap((fields) => {
    const address = addressOf(fields.get('ip'), fields.get('port'), reachable);
    return address === undefined ? [] : [{ address, role }];
  });
}

function recordsOf(reply: unknown): readonly Fields[] {
  return Array.isArray(reply) ? reply.map((fields) => new Map(pairsIn(fields))) : [];
}

const AS_ANNOUNCED: Endpoints['reachable'] = (announced) => announced;

function addressOf(host: unknown, port: unknown, reachable = AS_ANNOUNCED): string | undefined {
  const number = Number(port);
  if (typeof host !== 'string' || host === '' || !Number.isInteger(number) || number < 1 || number > 65_535) {
    return undefined;
  }
  return formatHostPort(reachable({ host, port: number }));
}

/** Each address once, in the role in which it comes first. */
function distinct(nodes: readonly ProbedNode[]): readonly ProbedNode[] {
  const byAddress = new Map<string, ProbedNode>();
  for (const node of nodes) if (!byAddress.has(node.address)) byAddress.set(node.address, node);
  return [...byAddress.values()].slice(0, MAX_NODES);
}

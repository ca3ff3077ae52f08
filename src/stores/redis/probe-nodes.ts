import { isIP } from 'node:net';
import type { ProbedNode } from '../../operations/doctor/doctor.ts';
import { formatHostPort, parseHostPort } from '../../schema/units.ts';

/**
 * The nodes of a deployment, as its servers tell them: of CLUSTER NODES, CLUSTER SLOTS, INFO and SENTINEL. Addresses are
 * those at which the servers know each other; a node without one is left out.
 */

/** A deployment may name more; further nodes are left out. */
export const MAX_NODES = 256;
const MAX_REPLICAS_OF_ONE = 32;

interface ClusterView {
  /** The node that answered: a node that does not know its own address is at this one. */
  readonly asked: string;
  /** Certificates name hosts, so over TLS a node's announced name is preferred to its address. */
  readonly tls: boolean;
}

/**
 * The lines of CLUSTER NODES. Failed nodes are among them: that they do not answer is a finding. A node in its handshake or
 * without an address is no member (yet).
 */
export function nodesOfCluster(text: string, { asked, tls }: ClusterView): readonly ProbedNode[] {
  const nodes = text.split('\n').flatMap((line): ProbedNode[] => {
    const [, endpoint = '', flagList = ''] = line.trim().split(' ');
    const flags = flagList.split(',');
    if (flags.includes('handshake') || flags.includes('noaddr')) return [];
    const role = flags.includes('master') ? 'master' : flags.includes('slave') ? 'replica' : undefined;
    // `ip:port@bus,name,shard-id=…`; an IPv6 address stands without brackets.
    const [place = '', hostname = ''] = endpoint.split(',');
    const [, ip = '', port = ''] = /^(.*):(\d+)(?:@\d+)?$/.exec(place) ?? [];
    const named = tls && hostname !== '' && !hostname.includes('=') ? hostname : ip;
    const address = addressOf(named === '' ? parseHostPort(asked)?.host : named, port);
    return role === undefined || address === undefined ? [] : [{ address, role }];
  });
  return distinct(nodes);
}

/** The reply of CLUSTER SLOTS, for a user without the right to CLUSTER NODES. Nodes without slots are not in it. */
export function nodesOfSlots(reply: unknown, asked: string): readonly ProbedNode[] {
  const ranges = Array.isArray(reply) ? reply : [];
  const nodes = ranges.flatMap((range: unknown) =>
    (Array.isArray(range) ? range.slice(2) : []).flatMap((node: unknown, index): ProbedNode[] => {
      const [host, port] = Array.isArray(node) ? node : [];
      const own = host === null || host === '' || host === '?' ? parseHostPort(asked)?.host : host;
      const address = addressOf(own, port);
      return address === undefined ? [] : [{ address, role: index === 0 ? 'master' : 'replica' }];
    }),
  );
  return distinct(nodes);
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

export interface SentinelView {
  readonly asked: string;
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
export function nodesOfSentinels({ asked, configured, master, replicas, sentinels }: SentinelView) {
  const others = recordsOf(sentinels);
  const unknown = configured.filter((address) => isIP(parseHostPort(address)?.host ?? '') !== 0);
  return distinct([
    ...listed([fieldsOf(master)], 'master'),
    ...listed(recordsOf(replicas), 'replica'),
    { address: asked, role: 'sentinel' },
    ...listed(others, 'sentinel'),
    ...unknown.map((address) => ({ address, role: 'sentinel' }) as const),
  ]);
}

type Fields = ReadonlyMap<unknown, unknown>;

function listed(records: readonly Fields[], role: ProbedNode['role']): readonly ProbedNode[] {
  return records.flatMap((fields) => {
    const address = addressOf(fields.get('ip'), fields.get('port'));
    return address === undefined ? [] : [{ address, role }];
  });
}

function recordsOf(reply: unknown): readonly Fields[] {
  return Array.isArray(reply) ? reply.map(fieldsOf) : [];
}

/** A flat list of names and values as a map. */
function fieldsOf(reply: unknown): Fields {
  const flat: readonly unknown[] = Array.isArray(reply) ? reply : [];
  return new Map(flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1]] as const] : [])));
}

function addressOf(host: unknown, port: unknown): string | undefined {
  const number = Number(port);
  if (typeof host !== 'string' || host === '' || !Number.isInteger(number) || number < 1 || number > 65_535) {
    return undefined;
  }
  return formatHostPort({ host, port: number });
}

/** Each address once, in the role in which it comes first. */
function distinct(nodes: readonly ProbedNode[]): readonly ProbedNode[] {
  const byAddress = new Map<string, ProbedNode>();
  for (const node of nodes) if (!byAddress.has(node.address)) byAddress.set(node.address, node);
  return [...byAddress.values()].slice(0, MAX_NODES);
}

import type { Redis } from 'ioredis';
import type { NatMap } from '../../config/settings.ts';
import { type HostPort, parseHostPort } from '../../schema/units.ts';
import { isReplyList, isWhole, MAX_PORT } from './guard.ts';
import { reportClosedDoors } from './ready.ts';

/**
 * The addresses at which this process reaches nodes, from those that nodes announce: CLUSTER SLOTS, redirects, sentinels.
 * ioredis leaves out nodes without an endpoint (6.0.0, `getInfoFromNode`), and takes `?` for a host name.
 */
export function createEndpoints(natMap: NatMap | undefined) {
  const mapped = new Map(
    Object.entries(natMap ?? {}).flatMap(([announced, target]) => {
      const key = parseHostPort(announced);
      return key === undefined ? [] : [[nameOf(key), target] as const];
    }),
  );
  /** Where an announced address is reached: its entry of the map, or itself. */
  const reachable = (announced: HostPort): HostPort => mapped.get(nameOf(announced)) ?? announced;

  const nodeIn = (node: AnnouncedNode, asked: string): AnnouncedNode => {
    const [, announcedPort, ...rest] = node;
    const { host, port } = reachable({ host: hostOf(node, asked), port: announcedPort });
    return [host, port, ...rest];
  };

  return {
    reachable,
    /** CLUSTER SLOTS with a reachable endpoint for every node. `asked`: the host that gave it. */
    inSlots: (map: SlotMap, asked: string): SlotMap =>
      map.map(([first, last, ...nodes]) => [first, last, ...nodes.map((node) => nodeIn(node, asked))]),
    /** `host:port` of a redirect, as the nodes are named here. */
    ofRedirect(to: string, asked: string): string {
      // An IPv6 address stands without brackets.
      const colon = to.lastIndexOf(':');
      const host = to.slice(0, colon);
      const port = Number(to.slice(colon + 1));
      const { host: at, port: on } = reachable({ host: host === '' || host === '?' ? asked : host, port });
      return `${at}:${on}`;
    },
  };
}

export type Endpoints = ReturnType<typeof createEndpoints>;

/**
 * The host of a node in CLUSTER SLOTS. Nil (`unknown-endpoint`) and an empty one (a node that does not know its own
 * address) mean the host that was asked. `?` is a node without the preferred host name: its address stands in the metadata.
 */
export function hostOf([host, , , metadata]: AnnouncedNode, asked: string): string {
  if (host === null || host === '') return asked;
  if (host !== '?') return host;
  const fields: readonly unknown[] = Array.isArray(metadata) ? metadata : [];
  const ip = fields.includes('ip') ? fields[fields.indexOf('ip') + 1] : undefined;
  return typeof ip === 'string' && ip !== '' ? ip : asked;
}

const nameOf = ({ host, port }: HostPort): string => `${host.toLowerCase()}:${port}`;

/** Gives ioredis a valid slot map with reachable endpoints. It asks over a copy of a node's connection. */
export function translateSlots(redis: Redis, { inSlots }: Pick<Endpoints, 'inSlots'>): void {
  const asked = redis.options.host ?? '';
  const duplicate = redis.duplicate.bind(redis);
  redis.duplicate = (override) => {
    const copy = duplicate(override);
    // Its command fails with "Connection is closed." whatever closed it.
    let fault: Error | undefined;
    copy.on('error', (error: Error) => {
      fault ??= error;
    });
    reportClosedDoors(copy, (message) => {
      fault ??= new Error(message);
    });
    const cluster = copy.cluster.bind(copy) as (subcommand: string, callback: Callback) => Promise<unknown>;
    copy.cluster = ((subcommand: string, callback: Callback) =>
      cluster(subcommand, (error, reply) => {
        if (error) callback(fault ?? error, reply);
        else if (!isSlotMap(reply)) callback(new Error('a reply that is no slot map'), undefined);
        else if (reply.length === 0) callback(new Error('CLUSTERDOWN no node has slots'), undefined);
        else callback(null, inSlots(reply, asked));
      })) as unknown as Redis['cluster'];
    return copy;
  };
}

type Callback = (error: Error | null | undefined, reply: unknown) => void;

const SLOTS = 16_384;
/** As many as the documentation of Redis Cluster names. ioredis looks at all nodes for each new one. */
const MAX_NODES = 1000;

/** Host, port, and what a server adds: its id and metadata. A node without a host does not know its address. */
export type AnnouncedNode = readonly [host: string | null, port: number, ...rest: unknown[]];
export type SlotMap = readonly (readonly [first: number, last: number, ...nodes: AnnouncedNode[]])[];

/** Ranges of slots that exist, none of them twice, each with its nodes. */
export function isSlotMap(reply: unknown): reply is SlotMap {
  if (!isReplyList(reply)) return false;
  let slots = 0;
  const known = new Set<string>();
  return reply.every((range) => {
    if (!isReplyList(range)) return false;
    const [first, last, ...nodes] = range;
    if (!isWhole(first, SLOTS - 1) || !isWhole(last, SLOTS - 1) || first > last) return false;
    slots += last - first + 1;
    if (slots > SLOTS || !nodes.every(isNode)) return false;
    for (const [host, port] of nodes) known.add(`${host} ${port}`);
    return known.size <= MAX_NODES;
  });
}

function isNode(node: unknown): node is AnnouncedNode {
  if (!isReplyList(node)) return false;
  const [host, port] = node;
  return (typeof host === 'string' || host === null) && isWhole(port, MAX_PORT);
}

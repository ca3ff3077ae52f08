import { Command, Redis } from 'ioredis';
import { readAs } from '../../runtime.ts';
import { createFraming, UNASKED } from './framing.ts';

/**
 * The checks between a server's bytes and ioredis 6.0.0, which trusts them: a damaged length puts its decoder into an endless
 * loop or takes all memory; a nil that no command waits for, and a slot map or a master's address of another
 * shape, throw where no caller can catch it, which ends the process; a slot range of 160 million takes 9 s in one turn.
 *
 * The checks are set on the classes of ioredis, once per process, because it makes connections of its own (to sentinels, and
 * one per refresh of a slot map) and has no option that reaches them.
 */

/** Emitted by a connection, before it is destroyed, when its replies cannot be trusted. A farewell of the server can. */
export const PROTOCOL_ERROR = 'protocol-error';

const guarded = new WeakSet<Redis>();
const { connect } = Redis.prototype;

// Every connection begins here, each attempt to reconnect too.
Redis.prototype.connect = function (this: Redis, ...args: Parameters<typeof connect>) {
  // All connections of this room are RESP2, and those that ioredis makes for them have their protocol.
  if (this.options.protocol === 2 && !guarded.has(this)) {
    guarded.add(this);
    this.on('connect', () => guardReplies(this));
  }
  return connect.apply(this, args);
};

/**
 * Takes the place of ioredis' decoder as the reader of the socket, and hands it only bytes that it may see. A violation ends
 * this connection: its commands fail as they do when a server closes it.
 */
function guardReplies(redis: Redis): void {
  const { stream } = redis;
  // It is the first listener until now. There is none when the connection has failed since.
  const [decode] = stream.listeners('data') as ((chunk: Buffer) => void)[];
  if (decode === undefined) return;
  const framing = createFraming();
  const end = (fault: unknown): void => {
    stream.destroy(fault instanceof Error ? fault : new Error(String(fault)));
  };
  const onData = (chunk: Buffer): void => {
    const violation = framing.feed(chunk, redis.commandQueue.length);
    if (violation === undefined) {
      readAs(end, () => decode(chunk));
      return;
    }
    const { why, at, whole } = violation;
    const farewell =
      why === UNASKED ? /^-([^\r\n]{1,100})/.exec(chunk.toString('latin1', at, at + 101))?.[1] : undefined;
    stream.removeListener('data', onData);
    if (farewell === undefined) redis.emit(PROTOCOL_ERROR);
    stream.destroy(new Error(`${why}, at byte ${at} of ${chunk.length}${farewell ? `: ${farewell}` : ''}`));
    if (whole > 0) readAs(end, () => decode(chunk.subarray(0, whole)));
  };
  stream.prependListener('data', onData);
  stream.removeListener('data', decode);
}

/**
 * In small letters SENTINEL is ioredis' own, to get-master-addr-by-name: nil for a name that the sentinel does not know. The
 * doctor sends it in capitals, which are another name for a transformer. (CLUSTER SLOTS is judged in endpoints.ts.)
 */
Command.setReplyTransformer('sentinel', (reply: unknown) => {
  if (reply === null || isAddress(reply)) return reply;
  throw new Error('a reply of another shape than that of SENTINEL get-master-addr-by-name');
});

/** The largest of Redis 7 and Valkey 8, of all sections and every command's figures, has some 40 KiB. */
const MAX_INFO_LENGTH = 1024 * 1024;

// ioredis ('info') and the doctor ('INFO') look at each of its lines: 64 MiB of them take seconds.
for (const name of ['info', 'INFO']) {
  Command.setReplyTransformer(name, (reply: unknown) => {
    if (typeof reply !== 'string' || reply.length <= MAX_INFO_LENGTH) return reply;
    throw new Error('a reply of INFO that is too large');
  });
}

const SLOTS = 16_384;
const MAX_PORT = 65_535;
/** As many as the documentation of Redis Cluster names. ioredis looks at all nodes for each new one. */
const MAX_NODES = 1000;

/** Host, port, and what a server adds: its id and metadata. A node without a host does not know its address. */
export type AnnouncedNode = readonly [host: string | null, port: number, ...rest: unknown[]];
export type SlotMap = readonly (readonly [first: number, last: number, ...nodes: AnnouncedNode[]])[];

/** Ranges of slots that exist, none of them twice, each with its nodes. */
export function isSlotMap(reply: unknown): reply is SlotMap {
  if (!isList(reply)) return false;
  let slots = 0;
  const known = new Set<string>();
  return reply.every((range) => {
    if (!isList(range)) return false;
    const [first, last, ...nodes] = range;
    if (!isWhole(first, SLOTS - 1) || !isWhole(last, SLOTS - 1) || first > last) return false;
    slots += last - first + 1;
    if (slots > SLOTS || !nodes.every(isNode)) return false;
    for (const [host, port] of nodes) known.add(`${host} ${port}`);
    return known.size <= MAX_NODES;
  });
}

function isNode(node: unknown): node is AnnouncedNode {
  if (!isList(node)) return false;
  const [host, port] = node;
  return (typeof host === 'string' || host === null) && isWhole(port, MAX_PORT);
}

function isAddress(reply: unknown): boolean {
  if (!isList(reply) || reply.length !== 2) return false;
  const [host, port] = reply;
  return typeof host === 'string' && host !== '' && isWhole(Number(port), MAX_PORT) && Number(port) > 0;
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function isWhole(value: unknown, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max;
}

import { Command, Redis } from 'ioredis';
import { readAs } from '../../runtime.ts';

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

export const MAX_PORT = 65_535;

function isAddress(reply: unknown): boolean {
  if (!isReplyList(reply) || reply.length !== 2) return false;
  const [host, port] = reply;
  return typeof host === 'string' && host !== '' && isWhole(Number(port), MAX_PORT) && Number(port) > 0;
}

export function isReplyList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

export function isWhole(value: unknown, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max;
}

/**
 * The bounds of one reply. The largest that a server may have reason to send: an entry of `maxEntryBytes`, at most 64 MiB;
 * a CLUSTER SLOTS of 16,384 ranges with three nodes each, 400,000 elements; a slot map with metadata, 4 lists deep.
 */
const MAX_REPLY_BYTES = 64 * 1024 * 1024 + 1024;
const MAX_ELEMENTS = 1_000_000;
const MAX_DEPTH = 8;
/** A simple string or an error: a line without an announced length. */
const MAX_LINE_BYTES = 64 * 1024;
const MAX_DIGITS = 20;

const CR = 13;
const LF = 10;
const MINUS = 45;
const [ZERO, NINE] = [48, 57];
const [STRING, ERROR, INTEGER, BULK, ARRAY] = [43, 45, 58, 36, 42];

interface Violation {
  readonly why: string;
  /** Index of the first byte that may not be decoded. */
  readonly at: number;
  /** Length of the replies that are complete before it: these may be decoded. */
  readonly whole: number;
}

const NOT_RESP = 'a reply that is no RESP';
const TOO_LARGE = 'a reply that is too large';
const UNASKED = 'a reply that no command waits for';

/**
 * Follows the replies of a RESP2 connection from chunk to chunk, and judges each byte before a decoder sees it: whether it
 * is RESP, whether its reply stays within the bounds above, and whether a command waits for it. It examines headers only and
 * skips the bodies that they announce. A length is judged when its digits end, because a decoder allocates then.
 */
export function createFraming() {
  let expects: 'type' | 'sign' | 'digits' | 'text' | 'end' | 'body' | 'body-cr' | 'body-end' = 'type';
  let type = 0;
  let value = 0;
  let digits = 0;
  /** Bytes that may follow in this body or line. */
  let left = 0;
  /** Elements that each open list of the reply still misses, from the outermost list to the innermost. */
  const missing: number[] = [];
  let inReply = false;
  /** Elements that the lists of this reply have announced; a decoder allocates them at once. */
  let elements = 0;
  /** Bytes of this reply without line ends, those that a body has announced included. */
  let bytes = 0;

  const valueEnds = (): undefined => {
    expects = 'type';
    for (let depth = missing.length - 1; depth >= 0; depth -= 1) {
      const rest = (missing[depth] ?? 0) - 1;
      missing[depth] = rest;
      if (rest > 0) return;
      missing.pop();
    }
    inReply = false;
  };
  const digitsEnd = (): string | undefined => {
    if (digits === 0) return NOT_RESP;
    expects = 'end';
    bytes += digits;
    if (value <= 0) return undefined;
    if (type === BULK) bytes += value;
    if (type === ARRAY) elements += value;
    const isTooDeep = type === ARRAY && missing.length >= MAX_DEPTH;
    return bytes > MAX_REPLY_BYTES || elements > MAX_ELEMENTS || isTooDeep ? TOO_LARGE : undefined;
  };
  const headerEnds = (): void => {
    if (type === BULK && value >= 0) {
      left = value;
      expects = left > 0 ? 'body' : 'body-cr';
    } else if (type === ARRAY && value > 0) {
      missing.push(value);
      expects = 'type';
    } else valueEnds();
  };
  /** One byte of a header, or of the end of a body. @returns why it may not be there */
  const problemOf = (byte: number): string | undefined => {
    switch (expects) {
      case 'type':
        type = byte;
        value = 0;
        digits = 0;
        bytes += 1;
        if (bytes > MAX_REPLY_BYTES) return TOO_LARGE;
        expects = byte === STRING || byte === ERROR ? 'text' : 'sign';
        if (expects === 'text') left = MAX_LINE_BYTES;
        return expects === 'text' || byte === INTEGER || byte === BULK || byte === ARRAY ? undefined : NOT_RESP;
      case 'sign':
        expects = 'digits';
        if (byte !== MINUS) return problemOf(byte);
        value = -1;
        return undefined;
      case 'digits':
        if (byte === CR) return digitsEnd();
        digits += 1;
        if (byte < ZERO || byte > NINE || digits > MAX_DIGITS) return NOT_RESP;
        // The only negative length is −1: nil.
        if (value < 0) return type === INTEGER || (byte === ZERO + 1 && digits === 1) ? undefined : NOT_RESP;
        value = value * 10 + byte - ZERO;
        return undefined;
      case 'text':
        expects = 'end';
        left = 0;
        return byte === CR ? undefined : TOO_LARGE;
      case 'end':
        if (byte !== LF) return NOT_RESP;
        headerEnds();
        return undefined;
      case 'body-cr':
        expects = 'body-end';
        return byte === CR ? undefined : NOT_RESP;
      case 'body-end':
        if (byte !== LF) return NOT_RESP;
        return valueEnds();
      case 'body':
        return undefined;
    }
  };
  /** Bytes from `at` on that may be skipped: those of a body, and those of a line up to its end. */
  const skipped = (chunk: Buffer, at: number): number => {
    const end = expects === 'text' ? chunk.indexOf(CR, at) : -1;
    const step = Math.min(left, (end < 0 ? chunk.length : end) - at);
    left -= step;
    if (expects === 'text') bytes += step;
    else if (left === 0) expects = 'body-cr';
    return step;
  };

  return {
    /**
     * @param waiting commands of the connection without a reply
     * @returns undefined when all of the chunk may be decoded. After a violation the connection must end.
     */
    feed(chunk: Buffer, waiting: number): Violation | undefined {
      let whole = 0;
      let begun = inReply ? 1 : 0;
      for (let at = 0; at < chunk.length; at += 1) {
        if (left > 0) {
          at += skipped(chunk, at);
          if (at === chunk.length) break;
        }
        if (!inReply) {
          whole = at;
          begun += 1;
          if (begun > waiting) return { why: UNASKED, at, whole };
          inReply = true;
          elements = 0;
          bytes = 0;
        }
        const why = problemOf(chunk[at] ?? 0);
        if (why !== undefined) return { why, at, whole };
      }
      return undefined;
    },
  };
}

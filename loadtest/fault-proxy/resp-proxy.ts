import { type ProxyOptions, type Session, startRelay, type Wire } from './relay.ts';

export type Match = (command: Command) => Answer | undefined;

export type RespProxy = Awaited<ReturnType<typeof startRespProxy>>;

/**
 * A proxy before one Redis or Valkey node that knows commands and replies apart, pipelining included. For a client that
 * asks and is answered: SUBSCRIBE of RESP2, MONITOR, CLIENT REPLY and replication do not fit, and TLS it cannot read.
 * A connection that carries no RESP is reset.
 */
export async function startRespProxy(options: ProxyOptions) {
  let answered = 0;
  let delayMs = 0;
  let match: Match | undefined;

  const seen = (command: Command): Answer | undefined => {
    const answer = match?.(command);
    if (answer !== undefined) answered += 1;
    return answer;
  };
  const proxy = await startRelay({
    ...options,
    createSession: (wire) => createRespSession(wire, seen, () => delayMs),
  });
  return {
    ...proxy,
    /** Called for every command of every connection, in order; undefined lets it pass. Without `match` all pass. */
    answer: (next?: Match): void => {
      match = next;
    },
    /** Delays replies to the client, and keeps their order. 0: at once. */
    delay: (nextMs: number): void => {
      delayMs = nextMs;
    },
    /** Count of commands that `answer` gave a substitute for. */
    answered: () => answered,
  };
}

/** The reply that a command waits for. They are kept in the order of the commands. */
type PendingReply =
  | { readonly kind: 'server'; readonly change?: (reply: Buffer) => Buffer }
  | { readonly kind: 'own'; readonly bytes: Buffer; readonly end?: 'silence' | 'reset' };

/** One connection of the RESP-aware proxy. @param seen called for each command */
function createRespSession(wire: Wire, seen: Match, delayMs: () => number): Session {
  const commands = createRespFramer();
  const replies = createRespFramer();
  const pending: PendingReply[] = [];
  /** Replies on their way to the client, in order. */
  const late: { readonly bytes: Buffer; readonly dueMs: number; readonly end?: 'silence' | 'reset' }[] = [];
  let lateBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let silent = false;

  const deliver = (bytes: Buffer, end?: 'silence' | 'reset'): void => {
    const waitMs = delayMs();
    if (waitMs === 0 && late.length === 0) out(bytes, end);
    else {
      late.push({ bytes, dueMs: performance.now() + waitMs, end });
      lateBytes += bytes.length;
      timer ??= setTimeout(release, waitMs);
    }
  };
  const release = (): void => {
    timer = undefined;
    const nowMs = performance.now();
    for (let first = late[0]; first !== undefined; first = late[0]) {
      if (first.dueMs > nowMs) {
        timer = setTimeout(release, first.dueMs - nowMs);
        return;
      }
      late.shift();
      lateBytes -= first.bytes.length;
      out(first.bytes, first.end);
    }
  };
  const out = (bytes: Buffer, end?: 'silence' | 'reset'): void => {
    if (silent) return;
    if (end !== undefined) silent = true;
    wire.toClient(bytes);
    // A reset discards bytes that have not left yet.
    if (end === 'reset') setImmediate(wire.reset);
  };
  /** Delivers substitutes as soon as every earlier command has its reply. */
  const advance = (): void => {
    for (let first = pending[0]; first?.kind === 'own'; first = pending[0]) {
      pending.shift();
      deliver(first.bytes, first.end);
    }
  };

  const fromClient = (bytes: Buffer): void => {
    const passing: Buffer[] = [];
    for (const value of commands.push(bytes)) {
      const answer = seen(commandOf(value));
      if (answer === undefined) pending.push({ kind: 'server' });
      else if (typeof answer === 'function') pending.push({ kind: 'server', change: answer });
      else if (Buffer.isBuffer(answer)) pending.push({ kind: 'own', bytes: answer });
      else pending.push({ kind: 'own', bytes: answer.last, end: answer.end });
      if (pending.at(-1)?.kind === 'server') passing.push(value);
    }
    if (passing.length > 0) wire.toServer(Buffer.concat(passing));
    advance();
  };
  const fromServer = (bytes: Buffer): void => {
    for (const value of replies.push(bytes)) {
      if (isPush(value)) {
        deliver(value);
        continue;
      }
      const next = pending.shift();
      if (next?.kind !== 'server') throw new Error('a reply to no command');
      deliver(next.change?.(value) ?? value);
      advance();
    }
  };

  return {
    fromClient,
    fromServer,
    keptBytes: () => lateBytes,
    serverGone: () => clearTimeout(timer),
  };
}

/** One command as the client sent it: name and arguments. */
type Command = readonly Buffer[];

/**
 * A substitute for a reply:
 * - bytes: the server never sees the command (as a server that refuses it would not run it);
 * - a function of the real reply (whole, as framed): the server runs the command, the client gets the result;
 * - `last`: these bytes instead, and then nothing ever comes on this connection again, or it is reset.
 */
type Answer = Buffer | ((reply: Buffer) => Buffer) | { readonly last: Buffer; readonly end: 'silence' | 'reset' };

const MOST_VALUE_BYTES = 64 * 2 ** 20;
/** A line is a header, a simple string or an error. */
const MOST_LINE_BYTES = 64 * 1024;
const LF = 10;

/** First characters of values: one line, a line with the length of what follows, a line with the count of values. */
const SCALARS = ['+', '-', ':', '_', ',', '#', '('];
const BULKS = ['$', '!', '='];
const LISTS = ['*', '~', '>', '%', '|'];

/**
 * Cuts the bytes of a Redis connection into whole values of RESP2 and RESP3, without parsing their content. Looks at each
 * byte once: a value of 1 MiB arrives in many pieces.
 */
export function createRespFramer() {
  let parts: Buffer[] = [];
  let partsBytes = 0;
  let line = '';
  /** Missing bytes of a bulk string, its line end included. */
  let bulk = 0;
  /** Missing values of the outermost one. */
  let missing = 1;

  const header = (): void => {
    const kind = line.charAt(0);
    missing -= 1;
    if (SCALARS.includes(kind)) return;
    if (!BULKS.includes(kind) && !LISTS.includes(kind))
      throw new Error(`not RESP: ${JSON.stringify(line.slice(0, 40))}`);
    const count = Number(line.slice(1, -2));
    if (!Number.isInteger(count) || count < -1 || count > MOST_VALUE_BYTES) throw new Error(`not a length: ${line}`);
    if (BULKS.includes(kind)) bulk = count === -1 ? 0 : count + 2;
    else {
      missing += Math.max(0, count) * (kind === '%' || kind === '|' ? 2 : 1);
      // An attribute stands before the value it describes.
      if (kind === '|') missing += 1;
    }
  };

  /** @returns the values completed by these bytes. @throws when they are not RESP, or one value is too large. */
  const push = (bytes: Buffer): Buffer[] => {
    const whole: Buffer[] = [];
    let start = 0;
    let at = 0;
    while (at < bytes.length) {
      if (bulk > 0) {
        const taken = Math.min(bulk, bytes.length - at);
        bulk -= taken;
        at += taken;
      } else {
        const end = bytes.indexOf(LF, at);
        line += bytes.toString('latin1', at, end === -1 ? bytes.length : end + 1);
        at = end === -1 ? bytes.length : end + 1;
        if (line.length > MOST_LINE_BYTES) throw new Error('a line without an end');
        if (end === -1) break;
        header();
        line = '';
      }
      if (bulk === 0 && missing === 0) {
        whole.push(Buffer.concat([...parts, bytes.subarray(start, at)]));
        parts = [];
        partsBytes = 0;
        start = at;
        missing = 1;
      }
    }
    if (start < bytes.length) {
      parts.push(bytes.subarray(start));
      partsBytes += bytes.length - start;
      if (partsBytes > MOST_VALUE_BYTES) throw new Error(`a value of more than ${MOST_VALUE_BYTES} bytes`);
    }
    return whole;
  };
  return {
    push,
    /** Bytes of the incomplete value. */
    keptBytes: (): number => partsBytes,
  };
}

/** @throws when a framed value is not a list of bulk strings, as every command is. */
export function commandOf(value: Buffer): readonly Buffer[] {
  const words: Buffer[] = [];
  let at = value.indexOf(LF) + 1;
  if (value[0] !== 0x2a) throw new Error('a command is a list of bulk strings');
  while (at < value.length) {
    const end = value.indexOf(LF, at);
    if (value[at] !== 0x24 || end === -1) throw new Error('a command is a list of bulk strings');
    const length = Number(value.toString('latin1', at + 1, end - 1));
    words.push(value.subarray(end + 1, end + 1 + length));
    at = end + 1 + length + 2;
  }
  return words;
}

/** A push of RESP3 comes between replies and answers no command. */
function isPush(value: Buffer): boolean {
  return value[0] === 0x3e;
}

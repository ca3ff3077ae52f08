import type { Middle, Wire } from './pair.ts';
import { commandOf, createRespFramer, isPush } from './resp-framing.ts';

export interface RespMiddleOptions {
  /** A command came in. */
  readonly seen: (command: Command) => Answer | undefined;
  readonly delayMs: () => number;
}

/** A place in the order of replies: one for each command that has none yet. */
type Place =
  | { readonly kind: 'server'; readonly change?: (reply: Buffer) => Buffer }
  | { readonly kind: 'own'; readonly bytes: Buffer; readonly end?: 'silence' | 'reset' };

/** A command and no reply for it; a client that sends more than this without reading answers is not one of ours. */
const MOST_PLACES = 100_000;

/** One connection of the RESP-aware proxy. */
export function createRespMiddle(wire: Wire, { seen, delayMs }: RespMiddleOptions): Middle {
  const commands = createRespFramer();
  const replies = createRespFramer();
  const places: Place[] = [];
  /** Replies on their way to the client, in order. */
  const late: { readonly bytes: Buffer; readonly dueMs: number; readonly end?: 'silence' | 'reset' }[] = [];
  let lateBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let silent = false;

  const deliver = (bytes: Buffer, end?: 'silence' | 'reset'): void => {
    const waitMs = delayMs();
    if (waitMs === 0 && late.length === 0) out(bytes, end);
    else {
      late.push({ bytes, dueMs: performance.now() + waitMs, ...(end && { end }) });
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
    // The bytes must have left before the reset, which throws away what has not.
    if (end === 'reset') setImmediate(wire.reset);
  };
  /** Own answers whose turn has come: every command before them has its reply. */
  const advance = (): void => {
    for (let first = places[0]; first?.kind === 'own'; first = places[0]) {
      places.shift();
      deliver(first.bytes, first.end);
    }
  };
  const orReset = (work: () => void): void => {
    try {
      work();
    } catch {
      wire.reset();
    }
  };

  const fromClient = (bytes: Buffer): void => {
    const passing: Buffer[] = [];
    for (const value of commands.push(bytes)) {
      const answer = seen(commandOf(value));
      if (answer === undefined) places.push({ kind: 'server' });
      else if (typeof answer === 'function') places.push({ kind: 'server', change: answer });
      else if (Buffer.isBuffer(answer)) places.push({ kind: 'own', bytes: answer });
      else places.push({ kind: 'own', bytes: answer.last, end: answer.end });
      if (places.at(-1)?.kind === 'server') passing.push(value);
    }
    if (places.length > MOST_PLACES) throw new Error('too many commands without a reply');
    if (passing.length > 0) wire.toServer(Buffer.concat(passing));
    advance();
  };
  const fromServer = (bytes: Buffer): void => {
    for (const value of replies.push(bytes)) {
      if (isPush(value)) {
        deliver(value);
        continue;
      }
      const place = places.shift();
      if (place?.kind !== 'server') throw new Error('a reply to no command');
      deliver(place.change?.(value) ?? value);
      advance();
    }
  };

  return {
    fromClient: (bytes) => orReset(() => fromClient(bytes)),
    fromServer: (bytes) => orReset(() => fromServer(bytes)),
    keptBytes: () => lateBytes,
    serverGone: () => clearTimeout(timer),
  };
}

/** One command as the client sent it: name and arguments. */
export type Command = readonly Buffer[];

/**
 * A substitute for a reply:
 * - bytes: the server never sees the command (as a server that refuses it would not run it);
 * - a function of the real reply (whole, as framed): the server runs the command, the client gets the result;
 * - `last`: these bytes instead, and then nothing ever comes on this connection again, or it is reset.
 */
export type Answer =
  | Buffer
  | ((reply: Buffer) => Buffer)
  | { readonly last: Buffer; readonly end: 'silence' | 'reset' };

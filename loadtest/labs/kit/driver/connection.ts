import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { gaussianKey, mixKey, respCommand, valueBytes } from '../mix.ts';
import type { Commands, Deadline, DrivenSecond, Errors, Latency, Target } from './plan.ts';

export interface ConnectionOptions {
  readonly target: Target;
  readonly ca?: string;
  readonly deadline?: Deadline;
  readonly tally: Tally;
  readonly nowMs: () => number;
  readonly onBytes: (bytes: number) => void;
  readonly onConnect: () => void;
  /** No command is under way any more. */
  readonly onIdle: (why: Idle) => void;
}

/** All commands were answered, or lost with an open connection, or the connection could not be opened. */
export type Idle = 'answered' | 'lost' | 'unopened';

/** One connection and the commands under way on it. It opens by itself when there is something to send. */
export interface Connection {
  /** @param dueMs of each command in these bytes, when it should have been sent. */
  readonly send: (bytes: Buffer, dueMs: number, commands: number) => void;
  /** Replies that have not come, those of abandoned commands included. */
  readonly waiting: () => number;
  /** Commands that are not answered and not abandoned. */
  readonly pending: () => number;
  /** Before anything is sent. Resolves when it is open or cannot be opened. */
  readonly open: () => Promise<boolean>;
  /** Abandons overdue commands. */
  readonly sweep: () => void;
  /** Commands under way are lost. */
  readonly close: () => void;
}

const CONNECT_TIMEOUT_MS = 5000;
/** An abandoned command stays in the queue until its reply comes. */
const ABANDONED = Number.NaN;

export function createConnection(options: ConnectionOptions): Connection {
  const { target, ca, deadline, tally, nowMs, onBytes, onConnect, onIdle } = options;
  let socket: Socket | undefined;
  let due: number[] = [];
  /** Positions in `due`: the first that is not answered, and the first whose deadline is not checked. */
  let [answered, swept] = [0, 0];
  let pending = 0;

  const forget = (): void => {
    [due, answered, swept] = [[], 0, 0];
  };
  const lose = (own: Socket, why: Idle): void => {
    if (socket !== own) return;
    socket = undefined;
    const lost = pending;
    pending = 0;
    forget();
    if (lost > 0) tally.failed('broken', lost);
    onIdle(why);
  };
  const receive = (own: Socket, replies: number, errors: number): void => {
    if (socket !== own) return;
    const now = nowMs();
    let refused = errors;
    for (let reply = 0; reply < replies; reply += 1) {
      const dueMs = due[answered] ?? ABANDONED;
      answered += 1;
      if (Number.isNaN(dueMs)) continue;
      pending -= 1;
      if (refused > 0) {
        refused -= 1;
        tally.failed('refused');
      } else tally.answered(now - dueMs);
    }
    if (answered >= due.length) {
      forget();
      onIdle('answered');
    }
  };
  const start = (): Socket => {
    const counter = createReplyCounter();
    const own = ca === undefined ? connect({ ...target }) : connectTls({ ...target, ca });
    socket = own;
    let isOpen = false;
    own.setNoDelay(true);
    own.setTimeout(CONNECT_TIMEOUT_MS, () => own.destroy());
    own.once(ca === undefined ? 'connect' : 'secureConnect', () => {
      own.setTimeout(0);
      isOpen = true;
      onConnect();
    });
    own.on('data', (bytes: Buffer) => {
      onBytes(bytes.length);
      const { replies, errors } = counter.push(bytes);
      if (replies > 0) receive(own, replies, errors);
    });
    // Without a listener it would end the process; 'close' follows, and says what is lost.
    own.on('error', () => undefined);
    own.once('close', () => {
      if (!isOpen && socket === own) tally.failed('unconnected');
      lose(own, isOpen ? 'lost' : 'unopened');
    });
    return own;
  };

  return {
    send: (bytes, dueMs, commands) => {
      for (let one = 0; one < commands; one += 1) due.push(dueMs);
      pending += commands;
      (socket ?? start()).write(bytes);
    },
    waiting: () => due.length - answered,
    pending: () => pending,
    open: () => {
      const own = start();
      return new Promise((resolve) => {
        own.once(ca === undefined ? 'connect' : 'secureConnect', () => resolve(true));
        own.once('close', () => resolve(false));
      });
    },
    sweep: () => {
      if (deadline === undefined) return;
      const before = nowMs() - deadline.ms;
      for (swept = Math.max(swept, answered); swept < due.length && (due[swept] ?? 0) < before; swept += 1) {
        due[swept] = ABANDONED;
        pending -= 1;
        tally.failed('late');
        if (!deadline.closes) continue;
        const own = socket;
        own?.destroy();
        if (own !== undefined) lose(own, 'lost');
        return;
      }
    },
    close: () => {
      const own = socket;
      socket = undefined;
      pending = 0;
      forget();
      own?.destroy();
    },
  };
}

/** Counts whole RESP2 replies in the bytes of a connection, without keeping or copying them. */
export interface ReplyCounter {
  /** @returns how many replies these bytes complete, and how many of those are errors. @throws when they are not RESP2. */
  readonly push: (bytes: Buffer) => { readonly replies: number; readonly errors: number };
}

const [LF, CR, DOLLAR, STAR, MINUS, PLUS, COLON, ZERO] = [10, 13, 36, 42, 45, 43, 58, 48];

/** Not the framer of fault-proxy/resp-proxy.ts: that one hands out the values, and copying megabytes would make the driver the limit. */
export function createReplyCounter(): ReplyCounter {
  /** Bytes of a bulk that are still to come, its line end included. */
  let bulk = 0;
  /** Values to come until the outermost is whole; 0 between replies. */
  let missing = 0;
  /** First byte of the header line under way; 0 between lines. */
  let kind = 0;
  let length = 0;
  let isNegative = false;
  /** The header under way begins a reply, not a value inside one. */
  let isOutermost = false;

  const push = (bytes: Buffer): { replies: number; errors: number } => {
    let [replies, errors, at] = [0, 0, 0];
    while (at < bytes.length) {
      if (bulk > 0) {
        const taken = Math.min(bulk, bytes.length - at);
        bulk -= taken;
        at += taken;
        if (bulk === 0 && missing === 0) replies += 1;
        continue;
      }
      const byte = bytes[at] ?? 0;
      at += 1;
      if (kind === 0) {
        kind = byte;
        isOutermost = missing === 0;
        if (isOutermost) missing = 1;
        [length, isNegative] = [0, false];
        if (kind !== DOLLAR && kind !== STAR && kind !== MINUS && kind !== PLUS && kind !== COLON)
          throw new Error(`not RESP2: byte ${kind}`);
      } else if (byte === LF) {
        missing -= 1;
        if (kind === DOLLAR && !isNegative) bulk = length + 2;
        else if (kind === STAR && !isNegative) missing += length;
        else if (kind === MINUS && isOutermost) errors += 1;
        kind = 0;
        if (bulk === 0 && missing === 0) replies += 1;
      } else if (kind === DOLLAR || kind === STAR) {
        if (byte === MINUS) isNegative = true;
        else if (byte !== CR) length = length * 10 + byte - ZERO;
      } else {
        // The rest of a line has no declared length: skip to its end.
        const end = bytes.indexOf(LF, at);
        at = end === -1 ? bytes.length : end;
      }
    }
    return { replies, errors };
  };
  return { push };
}

const PLACE = '__rand_int__';

/** The next command as bytes, each time it is called. */
export function nextCommand(commands: Commands, random: () => number): () => Buffer {
  if (commands.kind === 'mix') return nextOfMix(commands, random);
  const { words, keys = 1 } = commands;
  if (!words.some((word) => word.includes(PLACE))) {
    const bytes = respCommand(words);
    return () => bytes;
  }
  return () => respCommand(words.map((word) => word.replaceAll(PLACE, () => String(Math.floor(random() * keys)))));
}

function nextOfMix(mix: Extract<Commands, { kind: 'mix' }>, random: () => number): () => Buffer {
  const value = Buffer.alloc(mix.mostBytes, 'x');
  return () => {
    const key = mixKey(gaussianKey(mix.keys, random));
    if (random() >= mix.writes) return Buffer.from(`*2\r\n$3\r\nGET\r\n$${key.length}\r\n${key}\r\n`);
    return respCommand(['SET', key, value.subarray(0, valueBytes(mix, random))]);
  };
}

/** Counts what happened, as a whole and by second. */
export interface Tally {
  readonly answered: (tookMs: number) => void;
  readonly failed: (why: keyof Errors, count?: number) => void;
  readonly end: () => {
    readonly answered: number;
    readonly latencyMs: Latency;
    readonly errors: Errors;
    readonly eachSecond: readonly DrivenSecond[];
  };
}

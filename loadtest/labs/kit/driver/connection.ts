import { connect, type Socket } from 'node:net';
import { createHistogram } from 'node:perf_hooks';
import { connect as connectTls } from 'node:tls';
import type { HostPort } from '../../../../src/schema/units.ts';
import { processorMs } from '../../../stack/processors.ts';

/** A command without a reply `ms` after it was due is an error. */
export interface Deadline {
  readonly ms: number;
  /** True: the connection is closed, as by clients with such a timeout. False: the late reply is dropped. */
  readonly closes: boolean;
}

interface ConnectionOptions {
  readonly target: HostPort;
  readonly ca?: string;
  readonly deadline?: Deadline;
  readonly tally: Omit<Tally, 'end'>;
  readonly nowMs: () => number;
  readonly onBytes: (bytes: number) => void;
  readonly onConnect: () => void;
  /** Nothing is in flight any more. */
  readonly onIdle: (why: Idle) => void;
}

/** Everything was answered, an open connection was lost, or the connection could not be opened. */
export type Idle = 'answered' | 'lost' | 'unopened';

export type Connection = ReturnType<typeof createConnection>;

const CONNECT_TIMEOUT_MS = 5000;
/** An abandoned command keeps its position in `due` until its reply arrives. */
const ABANDONED = Number.NaN;

/** One connection and its commands in flight. `send` opens it if it is closed. */
export function createConnection(options: ConnectionOptions) {
  const { target, ca, deadline, tally, nowMs, onBytes, onConnect, onIdle } = options;
  let socket: Socket | undefined;
  let due: number[] = [];
  /** Positions in `due`: commands before `answered` have a reply, those before `swept` were checked for their deadline. */
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
    const count = createReplyCounter();
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
      const { replies, errors } = count(bytes);
      if (replies > 0) receive(own, replies, errors);
    });
    // Without a listener an error would end the process. 'close' follows and counts the losses.
    own.on('error', () => undefined);
    own.once('close', () => {
      if (!isOpen && socket === own) tally.failed('unconnected');
      lose(own, isOpen ? 'lost' : 'unopened');
    });
    return own;
  };

  return {
    /** @param dueMs the time at which the commands in these bytes should have been sent. */
    send: (bytes: Buffer, dueMs: number, commands: number): void => {
      for (let one = 0; one < commands; one += 1) due.push(dueMs);
      pending += commands;
      (socket ?? start()).write(bytes);
    },
    /** Replies that have not arrived, including those of abandoned commands. */
    waiting: () => due.length - answered,
    /** Opens the connection before anything is sent. Resolves to whether it is open. */
    open: () => {
      const own = start();
      return new Promise<boolean>((resolve) => {
        own.once(ca === undefined ? 'connect' : 'secureConnect', () => resolve(true));
        own.once('close', () => resolve(false));
      });
    },
    sweep: (): void => {
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
    /** Commands in flight are dropped and not counted. */
    close: (): void => {
      const own = socket;
      socket = undefined;
      pending = 0;
      forget();
      own?.destroy();
    },
  };
}

const [LF, CR, DOLLAR, STAR, MINUS, PLUS, COLON, ZERO] = [10, 13, 36, 42, 45, 43, 58, 48];

/**
 * Counts whole RESP2 replies without keeping or copying them. The framer of fault-proxy/resp-proxy.ts returns the values;
 * copying megabytes would make the driver the limit.
 */
export function createReplyCounter() {
  /** Remaining bytes of a bulk string, including its line end. */
  let bulk = 0;
  /** Values that are missing until the reply is whole; 0 between replies. */
  let missing = 0;
  /** First byte of the current header line; 0 between lines. */
  let kind = 0;
  let length = 0;
  let isNegative = false;
  /** The current header begins a reply, not a value inside one. */
  let isOutermost = false;

  /** @returns the number of replies that these bytes complete, and how many of them are errors. @throws when the bytes are not RESP2. */
  return (bytes: Buffer): { replies: number; errors: number } => {
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
        // The line has no length prefix: skip to its end.
        const end = bytes.indexOf(LF, at);
        at = end === -1 ? bytes.length : end;
      }
    }
    return { replies, errors };
  };
}

/** Measures this process and the watched ones, from the call to the call of the returned function. */
export function startMeter(watched: readonly number[], nowMs: () => number) {
  const startedMs = nowMs();
  const watchedBefore = watched.map(processorMs);
  const cpuBefore = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(cpuBefore);
    const seconds = (nowMs() - startedMs) / 1000;
    const busyCores = (pid: number, at: number) => (processorMs(pid) - (watchedBefore[at] ?? 0)) / 1000 / seconds;
    return { seconds, watchedCores: watched.map(busyCores), processorSeconds: (user + system) / 1e6 };
  };
}

export type Tally = ReturnType<typeof createTally>;

/** @returns counters; times are milliseconds from when a command was due to its whole reply, connecting included. */
export function createTally(startedMs: number, nowMs: () => number) {
  const whole = createHistogram();
  let second = { answered: 0, failed: 0 };
  const errors = {
    /** No reply within the deadline. */
    late: 0,
    /** In flight when the connection broke or was closed because of another command's deadline. */
    broken: 0,
    refused: 0,
    /** Due but not sent: the connection had the maximum number of commands in flight, or there was no connection. */
    unsent: 0,
    /** Attempts to connect, not commands. */
    unconnected: 0,
  };
  const eachSecond: { readonly answered: number; readonly failed: number }[] = [];

  const turn = (): void => {
    const now = Math.floor((nowMs() - startedMs) / 1000);
    while (eachSecond.length < now) {
      eachSecond.push(second);
      second = { answered: 0, failed: 0 };
    }
  };
  return {
    answered: (tookMs: number): void => {
      turn();
      whole.record(Math.max(1, Math.round(tookMs * 1000)));
      second.answered += 1;
    },
    failed: (why: keyof typeof errors, count = 1): void => {
      turn();
      errors[why] += count;
      if (why !== 'unconnected') second.failed += count;
    },
    end: () => {
      turn();
      const ms = (us: number): number => (whole.count === 0 ? 0 : us / 1000);
      const of = (percentile: number): number => ms(whole.percentile(percentile));
      return {
        answered: whole.count,
        meanMs: ms(whole.mean),
        p50Ms: of(50),
        p99Ms: of(99),
        maxMs: ms(whole.max),
        errors,
        eachSecond,
      };
    },
  };
}

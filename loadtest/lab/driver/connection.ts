import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Deadline, Target } from './plan.ts';
import { createReplyCounter } from './reply-counter.ts';
import type { Tally } from './tally.ts';

export interface ConnectionOptions {
  readonly target: Target;
  readonly ca?: string;
  readonly deadline?: Deadline;
  readonly tally: Tally;
  readonly nowMs: () => number;
  readonly onBytes: (bytes: number) => void;
  readonly onConnect: () => void;
  /** Nothing is under way any more: all was answered, or lost. */
  readonly onIdle: () => void;
}

/** One connection and the commands under way on it. It opens by itself when there is something to send. */
export interface Connection {
  /** @param dueMs of each command in these bytes, when it should have been sent. */
  readonly send: (bytes: Buffer, dueMs: number, commands: number) => void;
  readonly waiting: () => number;
  /** Resolves when it is open or cannot be opened. */
  readonly open: () => Promise<boolean>;
  /** Gives up what is overdue. */
  readonly sweep: () => void;
  /** What is under way is lost. */
  readonly close: () => void;
}

const CONNECT_TIMEOUT_MS = 5000;
/** What nobody waits for any more keeps its place until its reply comes. */
const ABANDONED = Number.NaN;

export function createConnection(options: ConnectionOptions): Connection {
  const { target, ca, deadline, tally, nowMs, onBytes, onConnect, onIdle } = options;
  let socket: Socket | undefined;
  let due: number[] = [];
  /** Of `due`: answered already, and looked at for their deadline. */
  let [answered, swept] = [0, 0];
  let pending = 0;

  const forget = (): void => {
    [due, answered, swept] = [[], 0, 0];
  };
  const lose = (own: Socket): void => {
    if (socket !== own) return;
    socket = undefined;
    const lost = pending;
    pending = 0;
    forget();
    if (lost > 0) tally.failed('broken', lost);
    onIdle();
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
      onIdle();
    }
  };
  const start = (): Socket => {
    const counter = createReplyCounter();
    const own = ca === undefined ? connect({ ...target }) : connectTls({ ...target, ca });
    socket = own;
    own.setNoDelay(true);
    own.setTimeout(CONNECT_TIMEOUT_MS, () => own.destroy());
    own.once(ca === undefined ? 'connect' : 'secureConnect', () => {
      own.setTimeout(0);
      onConnect();
    });
    own.on('data', (bytes: Buffer) => {
      onBytes(bytes.length);
      const { replies, errors } = counter.push(bytes);
      if (replies > 0) receive(own, replies, errors);
    });
    own.once('error', () => {
      if (own.connecting || own.bytesWritten === 0) tally.failed('unconnected');
    });
    own.once('close', () => lose(own));
    return own;
  };

  return {
    send: (bytes, dueMs, commands) => {
      for (let one = 0; one < commands; one += 1) due.push(dueMs);
      pending += commands;
      (socket ?? start()).write(bytes);
    },
    waiting: () => due.length - answered,
    open: () => {
      const own = socket ?? start();
      if (!own.connecting) return Promise.resolve(true);
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
        if (own !== undefined) lose(own);
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

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
  /** Nothing is under way any more. */
  readonly onIdle: (why: Idle) => void;
}

/** All was answered, or lost with an open connection, or the connection could not even be opened. */
export type Idle = 'answered' | 'lost' | 'unopened';

/** One connection and the commands under way on it. It opens by itself when there is something to send. */
export interface Connection {
  /** @param dueMs of each command in these bytes, when it should have been sent. */
  readonly send: (bytes: Buffer, dueMs: number, commands: number) => void;
  /** Replies that have not come, those nobody waits for included. */
  readonly waiting: () => number;
  /** Commands somebody waits for. */
  readonly pending: () => number;
  /** Before anything is sent. Resolves when it is open or cannot be opened. */
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

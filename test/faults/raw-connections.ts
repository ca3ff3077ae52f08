import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Connections that only exist, or trickle: what badly behaved clients are made of. */
export interface RawConnections {
  /** How many were ever connected. */
  readonly connected: () => number;
  /** How many the other side has closed. */
  readonly closed: () => number;
  /** How often one of them has trickled. */
  readonly writes: () => number;
  /** Resolves when all have gone, a few at a time. */
  readonly close: () => Promise<void>;
}

export interface RawConnectionsOptions {
  readonly port: number;
  readonly size: number;
  /** Written once by each. */
  readonly greeting?: string;
  /** Written by each in turn, the whole crowd in a second; stops with the crowd. */
  readonly trickle?: (member: number) => string;
  /** Stop reading: answers pile up at the other side. */
  readonly neverRead?: boolean;
}

/** The stream runs in the same process: it must not wait for a crowd. */
const AT_ONCE = 50;
const BETWEEN_MS = 8;

/** Resolves when all are connected or were refused. */
export async function openRawConnections({
  port,
  size,
  greeting,
  trickle,
  neverRead: deaf = false,
}: RawConnectionsOptions): Promise<RawConnections> {
  const sockets = new Set<Socket>();
  let connected = 0;
  let closed = 0;
  let writes = 0;
  let dispersing = false;
  const join = (): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect({ port, host: '127.0.0.1' });
      sockets.add(socket);
      socket.once('connect', () => {
        connected += 1;
        if (greeting !== undefined) socket.write(greeting);
        if (deaf) socket.pause();
        else socket.resume();
        resolve();
      });
      socket.on('error', () => resolve());
      socket.once('close', () => {
        sockets.delete(socket);
        if (!dispersing) closed += 1;
        resolve();
      });
    });
  for (let joined = 0; joined < size; joined += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, size - joined) }, join));
    await sleep(BETWEEN_MS);
  }
  const TICKS = 50;
  let tick = 0;
  const timer =
    trickle === undefined
      ? undefined
      : setInterval(() => {
          let member = 0;
          for (const socket of sockets) {
            if (member % TICKS === tick % TICKS && socket.writable && !socket.writableNeedDrain) {
              socket.write(trickle(member));
              writes += 1;
            }
            member += 1;
          }
          tick += 1;
        }, 1000 / TICKS);
  return {
    connected: () => connected,
    writes: () => writes,
    closed: () => closed,
    close: async () => {
      dispersing = true;
      clearInterval(timer);
      for (const [at, socket] of [...sockets].entries()) {
        socket.destroy();
        if (at % AT_ONCE === 0) await sleep(BETWEEN_MS);
      }
    },
  };
}

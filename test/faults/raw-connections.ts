import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export type RawConnections = Awaited<ReturnType<typeof openRawConnections>>;

interface RawConnectionsOptions {
  readonly port: number;
  readonly size: number;
  /** Written once by each socket. */
  readonly greeting?: string;
  /** Written by each socket once a second, until `close`. */
  readonly trickle?: (index: number) => string;
  /** Do not read: answers accumulate at the other side. */
  readonly neverRead?: boolean;
}

/** The request stream runs in the same process, so sockets are opened in small batches with pauses between. */
const AT_ONCE = 50;
const BETWEEN_MS = 8;

/**
 * Many sockets of badly behaved clients: idle, sending slowly, or never reading. Resolves when every socket has connected or
 * was refused.
 */
export async function openRawConnections(options: RawConnectionsOptions) {
  const { port, size, greeting, trickle, neverRead = false } = options;
  const sockets = new Set<Socket>();
  let connected = 0;
  let closed = 0;
  let writes = 0;
  let closing = false;
  const open = (): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect({ port, host: '127.0.0.1' });
      sockets.add(socket);
      socket.once('connect', () => {
        connected += 1;
        if (greeting !== undefined) socket.write(greeting);
        if (neverRead) socket.pause();
        else socket.resume();
        resolve();
      });
      socket.on('error', () => resolve());
      socket.once('close', () => {
        sockets.delete(socket);
        if (!closing) closed += 1;
        resolve();
      });
    });
  for (let opened = 0; opened < size; opened += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, size - opened) }, open));
    await sleep(BETWEEN_MS);
  }
  const TICKS = 50;
  let tick = 0;
  const timer =
    trickle === undefined
      ? undefined
      : setInterval(() => {
          let index = 0;
          for (const socket of sockets) {
            if (index % TICKS === tick % TICKS && socket.writable && !socket.writableNeedDrain) {
              socket.write(trickle(index));
              writes += 1;
            }
            index += 1;
          }
          tick += 1;
        }, 1000 / TICKS);
  return {
    connected: () => connected,
    /** Number of slow writes so far. */
    writes: () => writes,
    /** Number of sockets that the other side has closed. */
    closed: () => closed,
    /** Closes the sockets in small batches. */
    close: async (): Promise<void> => {
      closing = true;
      clearInterval(timer);
      for (const [at, socket] of [...sockets].entries()) {
        socket.destroy();
        if (at % AT_ONCE === 0) await sleep(BETWEEN_MS);
      }
    },
  };
}

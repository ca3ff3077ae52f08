import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../runtime.ts';

export interface DrainResult {
  /** Connections cut at `drainMs` while a request was in flight. */
  readonly cut: number;
}

const SWEEP_MS = 50;
/** Maximum idle time of a connection after listening stopped. A busy client sends its next request within this time. */
const IDLE_GRACE_MS = 250;
/** Maximum number of event loop turns in which the accept queue is emptied. */
const MAX_TURNS = 1000;

/**
 * Closes a listening server without losing requests in flight:
 *
 * 1. For `lameDuckMs` everything goes on, but `/readyz` is 503: balancers stop sending new connections.
 * 2. The server stops listening, and every answer says `Connection: close`: busy connections end after an answer, the one
 *    moment that HTTP/1.1 lets both sides agree on. Idle connections stay open for now, because a request may be on its way
 *    on any of them. `http.Server.close` would close them at once and lose it, so `net.Server.close` is called.
 * 3. Then idle connections are closed, repeatedly: a connection whose answer was written before step 2 becomes idle later
 *    and would delay the close until its keep-alive timeout.
 * 4. Connections that are left after `drainMs` are cut.
 */
export function createDrain(options: {
  readonly server: Server;
  readonly clock: Clock;
  readonly lameDuckMs: number;
  readonly drainMs: number;
  /** Closes the idle connections that Node's HTTP server does not have. */
  readonly closeIdle?: () => void;
}) {
  const { server, clock, lameDuckMs, drainMs, closeIdle } = options;
  const sockets = new Set<Socket>();
  let accepted = 0;
  let closing: Promise<DrainResult> | undefined;

  server.on('connection', (socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  const close = async (): Promise<DrainResult> => {
    if (!server.listening) return { cut: 0 };
    const startedMs = clock.monotonicMs();
    await sleep(Math.min(lameDuckMs, drainMs));
    await emptyAcceptQueue();
    drain.closesConnections = true;
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    let closed = false;
    NetServer.prototype.close.call(server, () => {
      closed = true;
      resolve();
    });
    const stoppedMs = clock.monotonicMs();
    let cut = 0;
    for (;;) {
      await Promise.race([gone, sleep(SWEEP_MS)]);
      // Before the turn: after it the event loop may have been blocked again, with a request unread.
      const nowMs = clock.monotonicMs();
      // After a blocked event loop, timers run before sockets are read: a request may be waiting on an idle connection.
      await nextTurn();
      if (closed) return { cut };
      if (nowMs - startedMs >= drainMs) {
        cut = sockets.size;
        server.closeAllConnections();
        // Sockets that the HTTP server has released are not among its connections; they would delay the close without limit.
        for (const socket of sockets) socket.destroy();
      } else if (nowMs - stoppedMs >= IDLE_GRACE_MS) {
        server.closeIdleConnections();
        closeIdle?.();
        closeUnused();
      }
    }
  };

  /** Connections in the queue are reset when the listening socket closes, and libuv accepts one connection per turn. */
  const emptyAcceptQueue = async (): Promise<void> => {
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      const before = accepted;
      await nextTurn();
      if (accepted === before) return;
    }
  };

  /** Browsers open connections ahead of need. Node treats one without a byte as busy until its header timeout. */
  const closeUnused = (): void => {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };

  const drain = {
    /** True from the start of closing: readiness is 503. */
    draining: (): boolean => closing !== undefined,
    /** True once every answer says `Connection: close`. */
    closesConnections: false,
    /** Idempotent. Resolves when the last connection is gone, at the latest soon after `drainMs`. */
    close: (): Promise<DrainResult> => {
      closing ??= close();
      return closing;
    },
  };
  return drain;
}

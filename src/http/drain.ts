import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.ts';

export interface Drain {
  /** From the first moment of closing on: readiness is 503. */
  readonly draining: () => boolean;
  /** From then on every answer says `Connection: close`. */
  readonly hangingUp: () => boolean;
  /** Idempotent. Resolves when the last connection is gone, at the latest soon after `drainMs`. */
  readonly close: () => Promise<DrainResult>;
}

export interface DrainResult {
  /** Connections cut at `drainMs` with a request still in flight. */
  readonly cut: number;
}

const SWEEP_MS = 50;
/** How long a connection may lie idle after we stopped listening. A busy client's next request comes well within it. */
const IDLE_GRACE_MS = 250;
/** Turns of the event loop in which the accept queue may still be emptied. */
const MAX_TURNS = 1000;

/**
 * Closes a listening server so that nothing in flight is lost:
 *
 * 1. For `lameDuckMs` everything goes on, but `/readyz` is 503: balancers stop sending new connections.
 * 2. It stops listening, and every answer from now on says `Connection: close`: connections under load end at the one
 *    moment HTTP/1.1 lets both sides agree on. Idle ones are left alone meanwhile, since a request may be on its way
 *    on any of them; `http.Server.close` would close those at once and lose it, so the net server's own is called.
 * 3. Then idle connections are closed, again and again: one whose answer was written before step 2 becomes idle later
 *    and would hold the close until its keep-alive timeout.
 * 4. What is left after `drainMs` is cut.
 */
export function createDrain(options: {
  readonly server: Server;
  readonly clock: Clock;
  readonly lameDuckMs: number;
  readonly drainMs: number;
}): Drain {
  const { server, clock, lameDuckMs, drainMs } = options;
  const sockets = new Set<Socket>();
  let accepted = 0;
  let hangingUp = false;
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
    hangingUp = true;
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    let closed = false;
    NetServer.prototype.close.call(server, () => {
      closed = true;
      resolve();
    });
    const deafMs = clock.monotonicMs();
    let cut = 0;
    while (!closed) {
      await Promise.race([gone, sleep(SWEEP_MS)]);
      const nowMs = clock.monotonicMs();
      if (nowMs - startedMs >= drainMs) {
        cut = sockets.size;
        server.closeAllConnections();
        // Those that HTTP has let go of are none of its connections, and would hold the close as long as they like.
        for (const socket of sockets) socket.destroy();
      } else if (nowMs - deafMs >= IDLE_GRACE_MS) {
        server.closeIdleConnections();
        closeUnused();
      }
    }
    return { cut };
  };

  /** What waits in the queue is reset when the listening socket closes, and libuv takes one connection per turn. */
  const emptyAcceptQueue = async (): Promise<void> => {
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      const before = accepted;
      await nextTurn();
      if (accepted === before) return;
    }
  };

  /** Opened ahead of need, as browsers do: node takes a connection without a byte for busy until its header timeout. */
  const closeUnused = (): void => {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };

  return {
    draining: () => closing !== undefined,
    hangingUp: () => hangingUp,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

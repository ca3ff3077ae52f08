import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createAddressShares } from './address-shares.ts';
import type { ConnectionEvent } from './events.ts';

/**
 * Requests of one connection that may wait for the answer before theirs. Nobody's client asks further ahead; without a
 * bound, one that reads nothing is answered 1,700 times for each 64 KiB it sends, and every answer waits in memory.
 */
const MAX_WAITING = 32;
/** From this share of the bound on, connections that nobody has used for a while make room for new ones. */
const CROWDED = 0.95;
const MAKE_ROOM_EVERY_MS = 1000;
/**
 * Looks without a byte either way, after which nobody is using it: longer than a search takes. Whoever asks more often
 * keeps his connection, or a crowd that says nothing would drive out the people who do.
 */
const UNUSED_LOOKS = 5;
/** And a request must have arrived within this: whoever sends nothing, or a byte a second, holds a place no longer. */
const CROWDED_REQUEST_MS = 3000;

export interface Connections {
  /** False: the connection has asked too far ahead and is cut; there is nothing to answer. */
  readonly admits: (request: IncomingMessage, response: ServerResponse) => boolean;
}

export interface ConnectionsOptions {
  readonly server: Server;
  readonly maxConnections: number;
  /** Absent: an address may have them all. */
  readonly maxPerAddress?: number;
  readonly observe: (event: ConnectionEvent) => void;
}

/** A bound on connections refuses whoever comes last, which is most often not whoever holds them: near it, unused ones go. */
export function createConnections(options: ConnectionsOptions): Connections {
  const { server, maxConnections, maxPerAddress, observe } = options;
  const { requestTimeout } = server;
  const waiting = new WeakMap<Duplex, number>();
  const sockets = new Map<Socket, { bytes: number; unusedLooks: number }>();
  let sweeps: NodeJS.Timeout | undefined;

  const makeRoom = (): void => {
    for (const [socket, seen] of sockets) {
      const bytes = socket.bytesRead + socket.bytesWritten;
      seen.unusedLooks = bytes === seen.bytes ? seen.unusedLooks + 1 : 0;
      seen.bytes = bytes;
      if (seen.unusedLooks >= UNUSED_LOOKS) socket.destroy();
    }
    observe({ kind: 'connection', what: 'crowded' });
  };

  const judge = (): void => {
    const isCrowded = sockets.size > maxConnections * CROWDED;
    if (isCrowded === (sweeps !== undefined)) return;
    // Node reads it at each of its own checks.
    server.requestTimeout = isCrowded ? Math.min(requestTimeout, CROWDED_REQUEST_MS) : requestTimeout;
    clearInterval(sweeps);
    sweeps = isCrowded ? setInterval(makeRoom, MAKE_ROOM_EVERY_MS).unref() : undefined;
    if (isCrowded) makeRoom();
  };

  const shares =
    maxPerAddress === undefined ? undefined : createAddressShares({ server, maxConnections, maxPerAddress, observe });

  server.on('connection', (socket) => {
    if (shares?.admits(socket) === false) return;
    sockets.set(socket, { bytes: 0, unusedLooks: 0 });
    judge();
    socket.once('close', () => {
      sockets.delete(socket);
      judge();
    });
  });
  server.on('drop', () => observe({ kind: 'connection', what: 'refused' }));

  return {
    admits: ({ socket }, response) => {
      shares?.answering(socket, response);
      // Node gives the connection to the first of them alone.
      if (response.socket !== null) return true;
      // What was parsed before the connection was cut.
      if (socket.destroyed) return false;
      const ahead = waiting.get(socket) ?? 0;
      if (ahead >= MAX_WAITING) {
        socket.destroy();
        observe({ kind: 'connection', what: 'ran-ahead' });
        return false;
      }
      waiting.set(socket, ahead + 1);
      response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
      return true;
    },
  };
}

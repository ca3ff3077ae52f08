import { connect, type Socket } from 'node:net';
import { resetSocket } from './reset-socket.ts';

/** What a middle may do with the connection it stands on. Writing to a side that is gone does nothing. */
export interface Wire {
  readonly toClient: (bytes: Buffer) => void;
  readonly toServer: (bytes: Buffer) => void;
  /** RST on both sides. */
  readonly reset: () => void;
}

/** Stands on one connection: bytes come in as they were read, and it passes on what it likes, when it likes. */
export interface Middle {
  readonly fromClient: (bytes: Buffer) => void;
  readonly fromServer: (bytes: Buffer) => void;
  /** What it keeps back; nothing more is read while this is too much. */
  readonly keptBytes?: () => number;
  /** The client is gone: true when the server must not notice yet; the middle calls `reset` when it may. */
  readonly clientGone?: () => boolean;
  /** The server is gone, what the middle still waits for will not come. May be said twice. */
  readonly serverGone?: () => void;
}

export type CreateMiddle = (wire: Wire) => Middle;

export interface Pair {
  readonly hasClient: () => boolean;
  readonly hold: (on: boolean) => void;
  readonly reset: () => void;
}

export interface PairOptions {
  /** Accepted with `allowHalfOpen`. */
  readonly client: Socket;
  readonly target: { readonly host: string; readonly port: number };
  readonly createMiddle: CreateMiddle;
  readonly onEnd: () => void;
}

/** Per direction; past it the other side is not read until some of it has left. */
const MOST_KEPT_BYTES = 2 ** 20;

/** One direction's way out: what is written while the connection is held waits here, the end as well. */
interface Lane {
  readonly write: (bytes: Buffer) => void;
  readonly end: () => void;
  readonly release: () => void;
  readonly keptBytes: () => number;
}

/** A client's socket, a server's for it alone, and what stands between. */
export function createPair({ client, target, createMiddle, onEnd }: PairOptions): Pair {
  const server = connect({ ...target, noDelay: true, allowHalfOpen: true });
  let held = false;
  let ended = false;
  const isHeld = (): boolean => held;
  const toClient = createLane(client, isHeld);
  const toServer = createLane(server, isHeld);

  /** Nobody is read whose bytes could not go on: the memory of a connection is bounded by this alone. */
  const throttle = (): void => {
    const isFull = (lane: Lane, sink: Socket): boolean => sink.writableNeedDrain || lane.keptBytes() > MOST_KEPT_BYTES;
    const stuffed = isFull(toClient, client) || (middle.keptBytes?.() ?? 0) > MOST_KEPT_BYTES;
    read(server, !stuffed);
    read(client, !stuffed && !isFull(toServer, server));
  };
  /** A connection that is not made yet would be made first, which takes long when a stopped server's queue is full. */
  const resetServer = (): void => {
    if (server.connecting) server.destroy();
    else resetSocket(server);
  };
  const reset = (): void => {
    resetSocket(client);
    resetServer();
  };
  const middle = createMiddle({
    toClient: (bytes) => {
      toClient.write(bytes);
      throttle();
    },
    toServer: (bytes) => {
      toServer.write(bytes);
      throttle();
    },
    reset,
  });

  /** However many pieces the middle writes, they leave in one. */
  const together = (work: () => void): void => {
    for (const socket of [client, server]) socket.cork();
    work();
    for (const socket of [client, server]) socket.uncork();
    throttle();
  };
  client.on('data', (bytes) => together(() => middle.fromClient(bytes)));
  server.on('data', (bytes) => together(() => middle.fromServer(bytes)));
  for (const socket of [client, server]) {
    socket.on('drain', throttle);
    socket.on('error', () => {}); // `close` follows
  }
  client.on('end', () => {
    if (middle.clientGone?.() === true) client.destroy();
    else if (held) reset();
    else toServer.end();
  });
  client.on('close', () => {
    if (!server.destroyed && middle.clientGone?.() !== true) resetServer();
    finish();
  });
  server.on('end', () => {
    // A server that says no more will not read either.
    middle.serverGone?.();
    toClient.end();
    server.end();
  });
  server.on('close', (withError) => {
    middle.serverGone?.();
    // Held, the client learns of it at the release.
    if (withError && !held) resetSocket(client);
    else toClient.end();
    finish();
  });
  const finish = (): void => {
    if (ended || !client.destroyed || !server.destroyed) return;
    ended = true;
    onEnd();
  };

  return {
    hasClient: () => !client.destroyed,
    hold: (on) => {
      held = on;
      if (on) return;
      toServer.release();
      toClient.release();
      throttle();
    },
    reset,
  };
}

function createLane(sink: Socket, isHeld: () => boolean): Lane {
  let kept: Buffer[] = [];
  let bytesKept = 0;
  let mustEnd = false;
  const isOpen = (): boolean => !sink.destroyed && !sink.writableEnded;
  return {
    write: (bytes) => {
      if (!isOpen()) return;
      if (isHeld()) {
        kept.push(bytes);
        bytesKept += bytes.length;
      } else sink.write(bytes);
    },
    end: () => {
      if (isHeld()) mustEnd = true;
      else if (isOpen()) sink.end();
    },
    release: () => {
      const bytes = Buffer.concat(kept);
      kept = [];
      bytesKept = 0;
      if (!isOpen()) return;
      if (bytes.length > 0) sink.write(bytes);
      if (mustEnd) sink.end();
    },
    keptBytes: () => bytesKept,
  };
}

function read(socket: Socket, on: boolean): void {
  if (socket.destroyed || socket.isPaused() === !on) return;
  if (on) socket.resume();
  else socket.pause();
}

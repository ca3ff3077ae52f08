import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '../stack/process.ts';

/** The faults that every proxy can inject into its connections, for any protocol. */
export type FaultProxy = Awaited<ReturnType<typeof startRelay>>;

export interface ProxyOptions {
  readonly target: { readonly host: string; readonly port: number };
  /** A free one when absent, below the range from which the system takes ports by itself. */
  readonly port?: number;
}

interface RelayOptions extends ProxyOptions {
  readonly createSession: (wire: Wire) => Session;
  /** Bytes for a new client that is not connected to the server: then its connection ends. Undefined: connect it. */
  readonly turnAway?: () => Buffer | undefined;
}

const HOST = '127.0.0.1';

/** The common part of the proxies: a listener, a pair of sockets per client, and the faults. */
export async function startRelay(options: RelayOptions) {
  const { target, createSession, turnAway } = options;
  const port = options.port ?? (await freePort());
  const pairs = new Set<Pair>();
  /** Clients that were turned away and whose sockets are still open. */
  const leaving = new Set<Socket>();
  let opened = 0;
  let paused = false;
  let stopped = false;
  let listener: Server | undefined;

  const accept = (client: Socket): void => {
    client.on('error', () => {});
    opened += 1;
    const farewell = turnAway?.();
    if (farewell === undefined) {
      const pair: Pair = createPair({ client, target, createSession, onEnd: () => pairs.delete(pair) });
      pairs.add(pair);
      if (paused) pair.hold(true);
      return;
    }
    leaving.add(client);
    client.once('close', () => leaving.delete(client));
    client.setTimeout(1000, () => client.destroy());
    client.resume().end(farewell);
  };

  const listen = (): Promise<void> =>
    new Promise((resolve, reject) => {
      // A new server each time: a closed one still waits for its connections.
      const server = createServer({ allowHalfOpen: true, noDelay: true }, accept);
      listener = server;
      server.once('error', reject);
      server.listen({ port, host: HOST, backlog: 1024 }, resolve);
    });
  const deafen = (): void => {
    listener?.close();
    listener = undefined;
  };
  const cut = (): void => {
    for (const pair of pairs) pair.reset();
    for (const client of leaving) resetSocket(client);
  };
  const hold = (on: boolean): void => {
    paused = on;
    for (const pair of pairs) pair.hold(on);
  };
  await listen();

  return {
    host: HOST,
    port,
    address: `${HOST}:${port}`,
    connections: () => [...pairs].filter((pair) => pair.hasClient()).length,
    opened: () => opened,
    /** New connections get ECONNREFUSED, as from a dead server; open ones stay. Resolves when it is so. */
    refuse: async (on: boolean): Promise<void> => {
      if (on) deafen();
      else if (listener === undefined && !stopped) await listen();
    },
    cut,
    /** A black hole: connections are accepted and stay, nothing passes in either direction, and neither side learns of an end. */
    pause: () => hold(true),
    /** The bytes that arrived meanwhile pass, in order. */
    resume: () => hold(false),
    /** Resets what is open and stops listening. Safe to call twice. */
    stop: async (): Promise<void> => {
      stopped = true;
      deafen();
      cut();
    },
  };
}

/** The operations of a session on its connection. Writing to a closed side does nothing. */
export interface Wire {
  readonly toClient: (bytes: Buffer) => void;
  readonly toServer: (bytes: Buffer) => void;
  /** RST on both sides. */
  readonly reset: () => void;
}

/** Decides for one connection which bytes pass, and when. It gets them as they were read, and throws at a broken protocol. */
export interface Session {
  readonly fromClient: (bytes: Buffer) => void;
  readonly fromServer: (bytes: Buffer) => void;
  /** Bytes that it holds back. Above the maximum nothing more is read. */
  readonly keptBytes?: () => number;
  /** The client has closed. True: the server must not notice yet, and the session calls `reset` later. */
  readonly clientGone?: () => boolean;
  /** The server has closed: no further reply will come. May be called twice. */
  readonly serverGone?: () => void;
}

type Pair = ReturnType<typeof createPair>;

interface PairOptions extends Pick<RelayOptions, 'target' | 'createSession'> {
  /** Accepted with `allowHalfOpen`. */
  readonly client: Socket;
  readonly onEnd: () => void;
}

/** Per direction. Above it the other side is not read until some bytes have left. */
const MOST_KEPT_BYTES = 2 ** 20;

/** A client's socket, its own socket to the server, and the session between them. */
function createPair({ client, target, createSession, onEnd }: PairOptions) {
  const server = connect({ ...target, noDelay: true, allowHalfOpen: true });
  const sockets = [client, server];
  /** During a hold both sockets are corked: what is written waits in their buffers. An end would pass, so it waits here. */
  let held = false;
  const endsAfterHold = new Set<Socket>();
  let ended = false;

  /** A side is not read while its bytes cannot go on. Nothing else bounds the memory of a connection. */
  const throttle = (): void => {
    const isFull = (sink: Socket): boolean => (held ? sink.writableLength > MOST_KEPT_BYTES : sink.writableNeedDrain);
    const stuffed = isFull(client) || (session.keptBytes?.() ?? 0) > MOST_KEPT_BYTES;
    read(server, !stuffed);
    read(client, !stuffed && !isFull(server));
  };
  const write = (sink: Socket, bytes: Buffer): void => {
    if (!sink.destroyed && !sink.writableEnded) sink.write(bytes);
    throttle();
  };
  const end = (sink: Socket): void => {
    if (held) endsAfterHold.add(sink);
    else if (!sink.destroyed) sink.end();
  };
  /** A reset would first wait for a pending connect, which takes long when a stopped server's queue is full. */
  const resetServer = (): void => {
    if (server.connecting) server.destroy();
    else resetSocket(server);
  };
  const reset = (): void => {
    resetSocket(client);
    resetServer();
  };
  const session = createSession({
    toClient: (bytes) => write(client, bytes),
    toServer: (bytes) => write(server, bytes),
    reset,
  });

  /** All pieces that the session writes leave as one. A session that throws resets the connection. */
  const together = (work: () => void): void => {
    for (const socket of sockets) socket.cork();
    try {
      work();
    } catch {
      reset();
    }
    for (const socket of sockets) socket.uncork();
    throttle();
  };
  client.on('data', (bytes: Buffer) => together(() => session.fromClient(bytes)));
  server.on('data', (bytes: Buffer) => together(() => session.fromServer(bytes)));
  for (const socket of sockets) {
    socket.on('drain', throttle);
    socket.on('error', () => {}); // `close` follows
  }
  client.on('end', () => {
    if (session.clientGone?.() === true) client.destroy();
    else if (held) reset();
    else end(server);
  });
  client.on('close', () => {
    if (!server.destroyed && session.clientGone?.() !== true) resetServer();
    finish();
  });
  server.on('end', () => {
    // A server that has ended its side will not read either. An end would let the bytes of a hold pass.
    session.serverGone?.();
    end(client);
    if (held) server.destroy();
    else server.end();
  });
  server.on('close', (withError) => {
    session.serverGone?.();
    // During a hold, the client learns of it at the release.
    if (withError && !held) resetSocket(client);
    else end(client);
    finish();
  });
  const finish = (): void => {
    if (ended || !client.destroyed || !server.destroyed) return;
    ended = true;
    onEnd();
  };

  return {
    hasClient: () => !client.destroyed,
    hold: (on: boolean): void => {
      if (on === held) return;
      held = on;
      for (const socket of sockets) {
        if (on) socket.cork();
        else socket.uncork();
      }
      if (on) return;
      for (const socket of endsAfterHold) end(socket);
      throttle();
    },
    reset,
  };
}

function read(socket: Socket, on: boolean): void {
  if (socket.destroyed || socket.isPaused() === !on) return;
  if (on) socket.resume();
  else socket.pause();
}

/**
 * Resets the connection (RST), which the other side cannot take for an orderly end. A socket that was ended and has not yet
 * sent everything is destroyed instead: Node 24 and 26 fail to reset it (EINVAL) and never close its handle, so that the
 * process would not end.
 */
export function resetSocket(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}

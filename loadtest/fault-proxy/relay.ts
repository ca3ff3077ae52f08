import { createServer, type Server, type Socket } from 'node:net';
import { freePorts } from '../stack/process.ts';
import { type CreateMiddle, createPair, type Pair } from './pair.ts';
import { resetSocket } from './reset-socket.ts';

/** What every proxy of ours can do to its connections, whatever it understands of what they carry. */
export interface FaultProxy {
  readonly host: string;
  readonly port: number;
  /** `host:port`. */
  readonly address: string;
  /** Client connections open now. */
  readonly connections: () => number;
  /** Client connections accepted since the start. */
  readonly opened: () => number;
  /** New connections get ECONNREFUSED, as from a dead server; open ones stay. Resolves when it is so. */
  readonly refuse: (on: boolean) => Promise<void>;
  /** Resets every open connection (RST on both sides). */
  readonly cut: () => void;
  /** A black hole: connections are accepted and stay, nothing passes in either direction, nobody is told of an end. */
  readonly pause: () => void;
  /** What came meanwhile passes, in order. */
  readonly resume: () => void;
  /** Resets what is open and stops listening. Safe to call twice. */
  readonly stop: () => Promise<void>;
}

export interface ProxyOptions {
  readonly target: { readonly host: string; readonly port: number };
  /** A free one when absent, below the range from which the system takes ports by itself. */
  readonly port?: number;
  /** Clients at once; more are reset at the door. Default 4096. */
  readonly maxConnections?: number;
}

export interface RelayOptions extends ProxyOptions {
  readonly createMiddle: CreateMiddle;
  /** Said to a new client instead of connecting it, then its connection ends. Undefined: come in. */
  readonly turnAway?: () => Buffer | undefined;
}

const HOST = '127.0.0.1';

/** The part the proxies share: a listener, a pair of sockets per client, and the levers. */
export async function startRelay(options: RelayOptions): Promise<FaultProxy> {
  const { target, createMiddle, turnAway, maxConnections = 4096 } = options;
  const [port] = options.port === undefined ? await freePorts(1) : [options.port];
  if (port === undefined) throw new Error('no free port');
  const pairs = new Set<Pair>();
  /** Clients that were turned away and have not gone yet. */
  const leaving = new Set<Socket>();
  let opened = 0;
  let paused = false;
  let stopped = false;
  let listener: Server | undefined;

  const accept = (client: Socket): void => {
    client.on('error', () => {});
    if (pairs.size + leaving.size >= maxConnections) {
      resetSocket(client);
      return;
    }
    opened += 1;
    const farewell = turnAway?.();
    if (farewell === undefined) {
      const pair = createPair({ client, target, createMiddle, onEnd: () => pairs.delete(pair) });
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
      // A new one each time: a server that was closed still waits for its connections.
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
    refuse: async (on) => {
      if (on) deafen();
      else if (listener === undefined && !stopped) await listen();
    },
    cut,
    pause: () => hold(true),
    resume: () => hold(false),
    stop: async () => {
      stopped = true;
      deafen();
      cut();
    },
  };
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../runtime.ts';
import type { Problem } from './problem.ts';

export interface ListenerLimits {
  /** From the first byte of a request to the end of its header. */
  readonly headersTimeoutMs: number;
  /** From the first byte of a request to the end of its body. */
  readonly requestTimeoutMs: number;
  /** How long an idle connection is kept. Longer than the balancer's own, or it sends into a closing connection. */
  readonly keepAliveTimeoutMs: number;
  /** Without a byte either way: a client that does not read its answer. Must outlast the longest search. */
  readonly socketTimeoutMs: number;
  readonly maxConnections: number;
  /** Of one address, or of one IPv6 network (/64). Absent: as many as there are. */
  readonly maxPerAddress?: number;
  readonly maxUrlBytes: number;
  /** Bodies and answers kept for slow clients, see held-bytes.ts. */
  readonly maxHeldBytes: number;
}

export const DEFAULT_LIMITS = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 20_000,
  keepAliveTimeoutMs: 72_000,
  socketTimeoutMs: 90_000,
  maxHeldBytes: 64 * 2 ** 20,
} satisfies Partial<ListenerLimits>;

/** Room for header fields beside the longest URL accepted, so that a long URL is answered by us, with 414. */
const HEADER_ROOM_BYTES = 16 * 1024;
/** Browsers behind several proxies send forty. Node would leave out the further ones without a word. */
const MAX_FIELDS = 128;

/** PEM texts of a listener's certificate, with its chain, and of its key. */
export interface ListenerTls {
  readonly cert: string;
  readonly key: string;
}

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Node's HTTP server with a bound on everything a client can hold open. What node would answer on its own with an
 * empty body (no Host, an unknown Expect) goes to `refuse`, so that every error is a problem document. With `tls` it
 * takes HTTPS alone.
 */
export function createListener(
  limits: ListenerLimits,
  handle: Handle,
  refuse: (problem: Problem) => Handle,
  tls?: ListenerTls,
): Server {
  const withManyFields = refuse({
    code: 'headers-too-large',
    detail: `At most ${MAX_FIELDS} header fields are taken.`,
  });
  const withoutHost = refuse({ code: 'invalid-request', detail: 'An HTTP/1.1 request needs a Host field.' });
  const withTwoHosts = refuse({ code: 'invalid-request', detail: 'A request may have only one Host field.' });
  const options = {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(1000, limits.headersTimeoutMs),
    maxHeaderSize: limits.maxUrlBytes + HEADER_ROOM_BYTES,
    requireHostHeader: false,
  };
  const judge: Handle = (request, response) => {
    const hosts = countHosts(request.rawHeaders);
    if (request.rawHeaders.length > 2 * MAX_FIELDS) withManyFields(request, response);
    else if (hosts > 1) withTwoHosts(request, response);
    else if (hosts === 0 && request.httpVersion === '1.1') withoutHost(request, response);
    else handle(request, response);
  };
  const server =
    tls === undefined
      ? createServer(options, judge)
      : createTlsServer(
          { ...options, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: limits.headersTimeoutMs },
          judge,
        );
  if (tls !== undefined) {
    // Node takes a failed handshake for a broken request; an answer would wait for the handshake, and the socket with it.
    server.removeAllListeners('tlsClientError');
    server.on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
  }
  server.timeout = limits.socketTimeoutMs;
  server.maxConnections = limits.maxConnections;
  server.maxHeadersCount = MAX_FIELDS + 1;
  server.on(
    'checkExpectation',
    refuse({ code: 'expectation-failed', detail: 'The only expectation met is 100-continue.', parameter: 'Expect' }),
  );
  return server;
}

/** Node keeps the first of several, and what stands in front of us may have gone by the last (RFC 9112 §3.2). */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts;
}

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

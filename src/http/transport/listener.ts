import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isHost } from '../lane/head.ts';
import { createAddressShares } from './address-shares.ts';
import type { ConnectionEvent } from './events.ts';
import type { Problem } from './problem.ts';

export const DEFAULT_LIMITS = {
  /** Maximum time from the first byte of a request to the end of its header. */
  headersTimeoutMs: 10_000,
  /** Maximum time from the first byte of a request to the end of its body. */
  requestTimeoutMs: 20_000,
  /**
   * An idle connection is closed after this time. Must exceed the idle timeout of the load balancer, which would
   * otherwise send requests into closing connections.
   */
  keepAliveTimeoutMs: 72_000,
  /**
   * Maximum time without a byte in either direction, as when a client does not read its answer. Must exceed the longest
   * search.
   */
  socketTimeoutMs: 90_000,
  /** Maximum bytes of bodies and answers buffered for slow clients, see buffer-budget.ts. */
  maxBufferedBytes: 64 * 2 ** 20,
};

export interface ListenerLimits extends Readonly<typeof DEFAULT_LIMITS> {
  readonly maxConnections: number;
  /** Maximum number of connections of one address, or of one IPv6 network (/64). Absent: only the total is limited. */
  readonly maxPerAddress?: number;
  readonly maxUrlBytes: number;
}

/** PEM texts of a listener's certificate, with its chain, and of its key. */
export interface ListenerTls {
  readonly cert: string;
  readonly key: string;
}

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

interface ListenerOptions {
  readonly limits: ListenerLimits;
  readonly handle: Handle;
  /** Answers with a problem. */
  readonly refuse: (problem: Problem) => Handle;
  readonly observe: (event: ConnectionEvent) => void;
  /** Absent: plain HTTP. Present: HTTPS only. */
  readonly tls?: ListenerTls;
}

/** Room for header fields beside the longest accepted URL, so that the service itself answers a long URL, with 414. */
const HEADER_ROOM_BYTES = 16 * 1024;
/**
 * Maximum number of header fields. Browsers behind several proxies send forty. Node drops the fields above its own
 * limit without an error.
 */
const MAX_FIELDS = 128;

/**
 * Node's HTTP server with a limit on everything that a client can occupy. Requests that Node would answer itself with an
 * empty body (no Host, an unknown Expect) go to `refuse`, so that every error is a problem document.
 */
export function createListener({ limits, handle, refuse, observe, tls }: ListenerOptions): Server {
  const options = {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(1000, limits.headersTimeoutMs),
    maxHeaderSize: limits.maxUrlBytes + HEADER_ROOM_BYTES,
    requireHostHeader: false,
  };
  /** Connections that end with a refusal: what was sent behind the refused request is not read as further requests. */
  const refused = new WeakSet<Duplex>();
  const receive = (request: IncomingMessage, response: ServerResponse, isAwaited = false, known?: Problem): void => {
    // Requests behind a refused one count too: a client could send them without end while an earlier answer is pending.
    if (!connections.admits(request, response) || refused.has(request.socket)) return;
    const fault = known ?? faultOf(request);
    if (fault !== undefined) {
      refused.add(request.socket);
      refuse(fault)(request, response);
    } else {
      if (isAwaited) sendContinue(response);
      // Node loses what the client sent behind a request for an upgrade, in the same chunk. The lane does not.
      if (wantsUpgrade(request)) response.shouldKeepAlive = false;
      handle(request, response);
    }
  };
  const server =
    tls === undefined
      ? createServer(options)
      : createTlsServer({ ...options, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: limits.headersTimeoutMs });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => receive(request, response));
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => receive(request, response, true));
  if (tls !== undefined) {
    // Node treats a failed handshake as a broken request; an answer would wait for the handshake and keep the socket open.
    server.removeAllListeners('tlsClientError');
    server.on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
  }
  server.timeout = limits.socketTimeoutMs;
  server.maxConnections = limits.maxConnections;
  server.maxHeadersCount = MAX_FIELDS + 1;
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const detail = 'The only expectation met is 100-continue.';
    receive(request, response, false, { code: 'expectation-failed', detail, parameter: 'Expect' });
  });
  const connections = limitConnections(server, limits, observe);
  return server;
}

/**
 * Asks the client for the body of its request. A response without a socket waits for the previous answer of its connection,
 * into which Node would write 100 Continue, so it is sent when the response gets the socket. A request that was answered by
 * then needs no body, and Node closes its connection, because the client may send one all the same.
 */
function sendContinue(response: ServerResponse): void {
  if (response.socket !== null) response.writeContinue();
  else response.once('socket', () => response.headersSent || response.writeContinue());
}

/** As Node's parser sees it: Upgrade counts only where Connection names it. */
function wantsUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined && /(?:^|,)[ \t]*upgrade[ \t]*(?:,|$)/i.test(headers.connection ?? '');
}

/** The reason to refuse a request that Node's parser accepts, although an HTTP/1.1 server must not. */
function faultOf({ rawHeaders, headers, httpVersion, method, url }: IncomingMessage): Problem | undefined {
  if (rawHeaders.length > 2 * MAX_FIELDS)
    return { code: 'headers-too-large', detail: `At most ${MAX_FIELDS} header fields are taken.` };
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return invalid('The version must be HTTP/1.1 or HTTP/1.0.');
  const hosts = countHosts(rawHeaders);
  if (hosts > 1) return invalid('A request may have only one Host field.');
  if (hosts === 0 && httpVersion === '1.1') return invalid('An HTTP/1.1 request needs a Host field.');
  if (!isHost(headers.host ?? '')) return invalid('Host must be a name or an address, with or without a port.');
  if (url === '*' && method !== 'OPTIONS') return { code: 'invalid-url', detail: 'Only OPTIONS may ask for "*".' };
  const coding = headers['transfer-encoding'];
  // A proxy that reads another coding, or one of HTTP/1.0 that reads none, finds another end of the body (RFC 9112 §6.1).
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0'))
    return invalid('The only transfer coding taken is chunked, from HTTP/1.1 on.');
  return undefined;
}

function invalid(detail: string): Problem {
  return { code: 'invalid-request', detail };
}

/** Node keeps the first of several Host fields, but a proxy in front may have used the last one (RFC 9112 §3.2). */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts;
}

/**
 * Pipelined requests of one connection that may wait for their answers. No known client sends more ahead; without a
 * limit, a client that reads nothing is answered 1,700 times for each 64 KiB it sends, and every answer waits in memory.
 */
const MAX_WAITING = 32;
/** Above this share of `maxConnections`, connections that are unused for a while are closed to make room. */
const CROWDED = 0.95;
const MAKE_ROOM_INTERVAL_MS = 1000;
/**
 * A connection is unused after this number of checks without a byte in either direction: longer than a search takes. A
 * client that asks more often keeps its connection; otherwise a crowd of silent connections would displace working ones.
 */
const UNUSED_CHECKS = 5;
/** While crowded, a request must arrive within this time, so that a client that sends slowly occupies no place for long. */
const CROWDED_REQUEST_MS = 3000;

/**
 * Limits the connections of a server and the requests that wait on each. A plain limit refuses the newest connection,
 * which is usually not the one that occupies places: near the limit, unused connections are closed instead.
 */
function limitConnections(
  server: Server,
  { maxConnections, maxPerAddress }: ListenerLimits,
  observe: (event: ConnectionEvent) => void,
) {
  const { requestTimeout } = server;
  const waiting = new WeakMap<Duplex, number>();
  const sockets = new Map<Socket, { bytes: number; unusedChecks: number }>();
  let checks: NodeJS.Timeout | undefined;

  const makeRoom = (): void => {
    for (const [socket, seen] of sockets) {
      const bytes = socket.bytesRead + socket.bytesWritten;
      seen.unusedChecks = bytes === seen.bytes ? seen.unusedChecks + 1 : 0;
      seen.bytes = bytes;
      if (seen.unusedChecks >= UNUSED_CHECKS) socket.destroy();
    }
    observe({ kind: 'connection', what: 'crowded' });
  };

  const checkCrowd = (): void => {
    const isCrowded = sockets.size > maxConnections * CROWDED;
    if (isCrowded === (checks !== undefined)) return;
    // Node reads the property at each of its own checks.
    server.requestTimeout = isCrowded ? Math.min(requestTimeout, CROWDED_REQUEST_MS) : requestTimeout;
    clearInterval(checks);
    checks = isCrowded ? setInterval(makeRoom, MAKE_ROOM_INTERVAL_MS).unref() : undefined;
    if (isCrowded) makeRoom();
  };

  const shares =
    maxPerAddress === undefined ? undefined : createAddressShares({ server, maxConnections, maxPerAddress, observe });

  server.on('connection', (socket) => {
    if (shares?.admits(socket) === false) return;
    sockets.set(socket, { bytes: 0, unusedChecks: 0 });
    checkCrowd();
    socket.once('close', () => {
      sockets.delete(socket);
      checkCrowd();
    });
  });
  server.on('drop', () => observe({ kind: 'connection', what: 'refused' }));

  return {
    /** False: the connection is closed, because too many of its requests wait; there is nothing to answer. */
    admits: ({ socket }: IncomingMessage, response: ServerResponse): boolean => {
      shares?.answering(socket, response);
      // Node assigns the connection only to the first waiting response.
      if (response.socket !== null) return true;
      // This request was parsed before the connection was closed.
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

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { isIPv4, isIPv6, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
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

/** Keeps one address from holding all connections of a small listener. */
export interface AddressShares {
  /** False: there is no room for it, and it is closed. */
  readonly admits: (socket: Socket) => boolean;
  /** To be told of every request on an admitted connection. */
  readonly answering: (socket: Duplex, response: ServerResponse) => void;
}

export interface AddressSharesOptions {
  readonly server: Server;
  readonly maxConnections: number;
  readonly maxPerAddress: number;
  readonly observe: (event: ConnectionEvent) => void;
}

/** Node refuses by itself beyond its own bound, and then nobody can make room. Closed ones count there for a turn longer. */
const HEADROOM = 256;

/**
 * An address that has its share gives up the connection it has used least lately for the new one, and so does the address
 * that has most when the listener is full. Only connections on which nothing is being answered are given up: whoever
 * polls, sends half a request, or does not read what he was sent, holds a place no longer than nobody else wants it. When
 * all are being answered, the new one is refused.
 */
export function createAddressShares(options: AddressSharesOptions): AddressShares {
  const { server, maxConnections, maxPerAddress, observe } = options;
  /** Of each address its connections by their other end, in order of last use. */
  const ofAddress = new Map<string, Map<string, Held>>();
  let count = 0;
  server.maxConnections = maxConnections + HEADROOM;

  const forget = (address: string, peer: string): void => {
    const own = ofAddress.get(address);
    if (own?.delete(peer) !== true) return;
    count -= 1;
    if (own.size === 0) ofAddress.delete(address);
  };

  /** Closes the connection of this address that was used least lately. False: all of them are at work. */
  const makeRoom = (address: string): boolean => {
    for (const [peer, { socket, response }] of ofAddress.get(address) ?? []) {
      // Once it is ended, only the client keeps it from being over.
      if (response !== undefined && !response.writableEnded) continue;
      forget(address, peer);
      socket.destroy();
      return true;
    }
    return false;
  };

  const hasRoom = (address: string): boolean => {
    if ((ofAddress.get(address)?.size ?? 0) >= maxPerAddress) return makeRoom(address);
    if (count < maxConnections) return true;
    const most = [...ofAddress].toSorted(([, a], [, b]) => b.size - a.size);
    return most.some(([each]) => makeRoom(each));
  };

  return {
    admits: (socket) => {
      const address = addressOf(socket);
      const before = count;
      const isAdmitted = hasRoom(address);
      if (!isAdmitted || count < before) observe({ kind: 'connection', what: 'share' });
      if (!isAdmitted) {
        socket.destroy();
        return false;
      }
      const peer = peerOf(socket);
      // Those that were gone before they could be looked at have no other end.
      forget(address, peer);
      const own = ofAddress.get(address) ?? new Map<string, Held>();
      own.set(peer, { socket, response: undefined });
      ofAddress.set(address, own);
      count += 1;
      // Another connection may come from the same port before this one is seen to have closed.
      socket.once('close', () => {
        if (ofAddress.get(address)?.get(peer)?.socket === socket) forget(address, peer);
      });
      return true;
    },
    answering: (socket, response) => {
      const own = ofAddress.get(addressOf(socket));
      const peer = peerOf(socket);
      const held = own?.get(peer);
      if (held === undefined) return;
      // To the end: it was used last.
      own?.delete(peer);
      own?.set(peer, { ...held, response });
    },
  };
}

interface Held {
  readonly socket: Socket;
  /** The last on it. */
  readonly response: ServerResponse | undefined;
}

/** With TLS a request comes on a socket of its own around the admitted one: both have the same other end. */
function peerOf(socket: Duplex): string {
  const { remoteAddress = '', remotePort = '' } = socket as Partial<Socket>;
  return `${remoteAddress} ${remotePort}`;
}

function addressOf(socket: Duplex): string {
  const given = 'remoteAddress' in socket && typeof socket.remoteAddress === 'string' ? socket.remoteAddress : '';
  const address = canonicalAddress(given);
  return address === undefined ? 'unknown' : subscriberOf(address);
}

/**
 * One spelling per IP address: dotted for IPv4, also when it comes IPv4-mapped; eight groups for IPv6, without a zone.
 * Undefined when it is none.
 */
export function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text)) return undefined;
  const groups = groupsOf(text);
  const [high, low] = groups.slice(6);
  if (high === undefined || low === undefined) return undefined;
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  if (isMapped) return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  return groups.map((group) => group.toString(16)).join(':');
}

/** Who shares an address's budget: an IPv4 address stands for itself, an IPv6 one for its /64, which is one subscriber's. */
export function subscriberOf(canonical: string): string {
  return canonical.includes(':') ? `${canonical.split(':', 4).join(':')}::/64` : canonical;
}

function groupsOf(ipv6: string): readonly number[] {
  const [bare = ''] = ipv6.split('%', 1);
  // A dotted tail is two groups.
  const hex = bare.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes) => {
    const [a, b, c, d] = bytes.map(Number) as [number, number, number, number];
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
  const [head = '', tail] = hex.split('::');
  const numbers = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((each) => Number.parseInt(each, 16));
  const left = numbers(head);
  const right = tail === undefined ? [] : numbers(tail);
  return [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
}

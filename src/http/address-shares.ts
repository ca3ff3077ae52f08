import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { canonicalAddress, subscriberOf } from './address.ts';
import type { ConnectionEvent } from './events.ts';

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

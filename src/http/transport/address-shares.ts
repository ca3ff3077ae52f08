import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { subscriberAt } from './client.ts';
import type { ConnectionEvent } from './events.ts';

interface AddressSharesOptions {
  readonly server: Server;
  readonly maxConnections: number;
  readonly maxPerAddress: number;
  readonly observe: (event: ConnectionEvent) => void;
}

/**
 * Node's own limit is higher by this number. Node refuses a connection above its limit before this module can close
 * another one for it, and it still counts closed connections for one turn of the event loop.
 */
const HEADROOM = 256;

/**
 * Keeps one address from occupying all connections of a small listener.
 *
 * An address that has the maximum number of connections gives up its least recently used one for a new one. When the
 * listener is full, the address with the most connections gives one up. Only connections without an answer in progress
 * are given up: a client that polls, sends half a request or does not read its answer occupies a place only until
 * another client needs it. When all connections are busy, the new one is refused.
 */
export function createAddressShares({ server, maxConnections, maxPerAddress, observe }: AddressSharesOptions) {
  /** Address → its connections by their remote end, least recently used first. */
  const byAddress = new Map<string, Map<string, Connection>>();
  let count = 0;
  server.maxConnections = maxConnections + HEADROOM;

  const forget = (address: string, peer: string): void => {
    const own = byAddress.get(address);
    if (own?.delete(peer) !== true) return;
    count -= 1;
    if (own.size === 0) byAddress.delete(address);
  };

  /** Closes the least recently used idle connection of this address. False: all of them are busy. */
  const makeRoom = (address: string): boolean => {
    for (const [peer, { socket, response }] of byAddress.get(address) ?? []) {
      // An ended answer waits only for its client to read it.
      if (response !== undefined && !response.writableEnded) continue;
      forget(address, peer);
      socket.destroy();
      return true;
    }
    return false;
  };

  const hasRoom = (address: string): boolean => {
    if ((byAddress.get(address)?.size ?? 0) >= maxPerAddress) return makeRoom(address);
    if (count < maxConnections) return true;
    const mostFirst = [...byAddress].toSorted(([, a], [, b]) => b.size - a.size);
    return mostFirst.some(([each]) => makeRoom(each));
  };

  return {
    /** False: there is no room for the connection, and it is closed. */
    admits: (socket: Socket): boolean => {
      const address = addressOf(socket);
      const before = count;
      const isAdmitted = hasRoom(address);
      if (!isAdmitted || count < before) observe({ kind: 'connection', what: 'share' });
      if (!isAdmitted) {
        socket.destroy();
        return false;
      }
      const peer = peerOf(socket);
      // A connection that is closed already has an empty remote end, so all such connections have the same one.
      forget(address, peer);
      const own = byAddress.get(address) ?? new Map<string, Connection>();
      own.set(peer, { socket, response: undefined });
      byAddress.set(address, own);
      count += 1;
      // A new connection may come from the same port before the close of this one is seen.
      socket.once('close', () => {
        if (byAddress.get(address)?.get(peer)?.socket === socket) forget(address, peer);
      });
      return true;
    },
    /** To be called for every request on an admitted connection. */
    answering: (socket: Duplex, response: ServerResponse): void => {
      const own = byAddress.get(addressOf(socket));
      const peer = peerOf(socket);
      const connection = own?.get(peer);
      if (connection === undefined) return;
      // Moves it to the end of the map: most recently used.
      own?.delete(peer);
      own?.set(peer, { ...connection, response });
    },
  };
}

interface Connection {
  readonly socket: Socket;
  /** The latest response on this connection. */
  readonly response: ServerResponse | undefined;
}

/** With TLS a request comes on a socket that wraps the admitted one: both have the same remote end. */
function peerOf(socket: Duplex): string {
  const { remoteAddress = '', remotePort = '' } = socket as Partial<Socket>;
  return `${remoteAddress} ${remotePort}`;
}

function addressOf(socket: Duplex): string {
  return subscriberAt(socket as Partial<Socket>) ?? 'unknown';
}

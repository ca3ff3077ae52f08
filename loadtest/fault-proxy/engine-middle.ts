import type { EnginePlaces } from './engine-places.ts';

import { createPacketFramer, createReplyReader, errorPacket, type Packet } from './mysql-framing.ts';
import type { Middle, Wire } from './pair.ts';

export interface EngineMiddleOptions {
  /** Read again at each step of each search. */
  readonly levers: () => EngineLevers;
  readonly places: EnginePlaces;
  /** A search came in. */
  readonly seen: (statement: string) => void;
  /** It gets an error of ours. */
  readonly refused: () => void;
}

/** A search between its packet and the end of its reply; a connection has one at a time. */
type Search =
  | { readonly state: 'waiting'; readonly giveUp: () => void }
  /** It has a place; `timer` is the lever's delay before the engine is asked, or after it has answered. */
  | { readonly state: 'delayed'; readonly timer: NodeJS.Timeout }
  | { readonly state: 'asked'; readonly sinceMs: number; readonly isLast: (payload: Buffer) => boolean };

const COM_QUIT = 0x01;
const COM_QUERY = 0x03;
const MOST_REPLY_BYTES = 64 * 2 ** 20;

/**
 * One connection of the engine proxy. What is not a search passes as it comes. An engine does not know that its client
 * has left: a search whose client is gone still waits for its place, runs, and holds it to the end.
 */
export function createEngineMiddle(wire: Wire, { levers, places, seen, refused }: EngineMiddleOptions): Middle {
  const packetsOf = createPacketFramer();
  const repliesOf = createPacketFramer();
  let search: Search | undefined;
  let reply: Buffer[] = [];
  let replyBytes = 0;
  let clientIsGone = false;

  const refuse = (errno: number, text: string): void => {
    refused();
    wire.toClient(errorPacket(1, errno, text, '42000'));
  };
  const free = (): void => {
    search = undefined;
    places.leave();
    if (clientIsGone) wire.reset();
  };
  const after = (waitMs: number, then: () => void): void => {
    if (waitMs <= 0) then();
    else search = { state: 'delayed', timer: setTimeout(then, waitMs) };
  };
  const begin = (packet: Packet): void => {
    const statement = packet.payload.toString('utf8', 1);
    seen(statement);
    const { fail } = levers();
    if (fail !== undefined) {
      refuse(1064, fail);
      return;
    }
    const start = (): void =>
      after(levers().delayMs, () => {
        search = { state: 'asked', sinceMs: performance.now(), isLast: createReplyReader() };
        wire.toServer(packet.bytes);
      });
    const giveUp = places.enter(start);
    if (giveUp === undefined) refuse(1040, 'maxed out, dismissing client');
    else search ??= { state: 'waiting', giveUp };
  };
  const finish = (asked: { readonly sinceMs: number }): void => {
    const tookMs = performance.now() - asked.sinceMs;
    after((levers().multiply - 1) * tookMs, () => {
      wire.toClient(Buffer.concat(reply));
      reply = [];
      replyBytes = 0;
      free();
    });
  };

  const fromClient = (bytes: Buffer): void => {
    for (const packet of packetsOf(bytes)) {
      if (search !== undefined) {
        if (packet.payload[0] === COM_QUIT) continue;
        throw new Error('a command before the reply to the last one');
      }
      if (isSearch(packet)) begin(packet);
      else wire.toServer(packet.bytes);
    }
  };
  const fromServer = (bytes: Buffer): void => {
    for (const packet of repliesOf(bytes)) {
      if (search?.state !== 'asked') {
        wire.toClient(packet.bytes);
        continue;
      }
      reply.push(packet.bytes);
      replyBytes += packet.bytes.length;
      if (replyBytes > MOST_REPLY_BYTES) throw new Error('a reply larger than any page');
      if (search.isLast(packet.payload)) finish(search);
    }
  };
  const orReset = (work: () => void): void => {
    try {
      work();
    } catch {
      wire.reset();
    }
  };

  return {
    fromClient: (bytes) => orReset(() => fromClient(bytes)),
    fromServer: (bytes) => orReset(() => fromServer(bytes)),
    clientGone: () => {
      clientIsGone = true;
      return search !== undefined;
    },
    serverGone: () => {
      if (search === undefined) return;
      if (search.state === 'delayed') clearTimeout(search.timer);
      if (search.state === 'waiting') {
        search.giveUp();
        search = undefined;
      } else free();
    },
  };
}

function isSearch({ sequence, payload }: Packet): boolean {
  return sequence === 0 && payload[0] === COM_QUERY && payload.includes('MATCH(');
}

/** The faults that the proxy injects into searches. They are read at each step, so a change affects running searches. */
export interface EngineLevers {
  /** Added to the engine's own time for each search. */
  readonly delayMs: number;
  /** Maximum number of searches at the engine at once; the others wait in the proxy, first in first out. */
  readonly capacity: number;
  /** 10: an engine ten times slower. Nine times the engine's own time is waited on top. */
  readonly multiply: number;
  /** Every search gets errno 1064 with this text and does not reach the engine. */
  readonly fail: string | undefined;
}

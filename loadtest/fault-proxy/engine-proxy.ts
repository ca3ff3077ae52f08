import { hash } from 'node:crypto';
import { createPacketFramer, createReplyReader, errorPacket, type Packet } from './mysql-framing.ts';
import { type ProxyOptions, type Session, startRelay, type Wire } from './relay.ts';

export type EngineProxy = Awaited<ReturnType<typeof startEngineProxy>>;
export type EngineCounts = ReturnType<EngineProxy['counts']>;

const MOST_DISTINCT = 200_000;
const CALLER_SPECIFIC = /max_query_time=\d+|(?:before|after)_match=[^']*/g;
const PROBE = "MATCH('serpcacheprobe')";

const NO_COUNTS = {
  /** Statements with `MATCH(` that came in, without serpcache's own probes. */
  searches: 0,
  /** serpcache's own searches that check whether the engine is alive. The faults apply to them too. */
  probes: 0,
  /** Searches and probes refused by `fail` or `answer`, or because too many wait. */
  refused: 0,
  /** Replies that `unasked` followed. */
  unasked: 0,
};

/**
 * A proxy before searchd that knows its searches: counts them, and makes it slow, narrow or broken without using
 * CPU. Knows the protocol as searchd 2.2 speaks it, without TLS and compression.
 * @param options.maxWaiting maximum number of waiting searches; further ones get errno 1040.
 */
export async function startEngineProxy({
  maxWaiting = 4096,
  ...options
}: ProxyOptions & { readonly maxWaiting?: number }) {
  let faults: EngineFaults = NO_ENGINE_FAULT;
  let isMaxedOut = false;
  const slots = createEngineSlots(() => faults.capacity, maxWaiting);
  const texts = new Set<string>();
  const tally = { ...NO_COUNTS };

  const seen = (statement: string): void => {
    if (statement.includes(PROBE)) {
      tally.probes += 1;
      return;
    }
    tally.searches += 1;
    // The remaining deadline, and the marks for found words that each process makes up, do not make another text.
    if (texts.size < MOST_DISTINCT) texts.add(hash('sha1', statement.replaceAll(CALLER_SPECIFIC, ''), 'base64'));
  };
  const proxy = await startRelay({
    ...options,
    turnAway: () => (isMaxedOut ? errorPacket(0, 1040, 'Too many connections') : undefined),
    createSession: (wire) => createEngineSession(wire, { faults: () => faults, slots, seen, tally }),
  });

  return {
    ...proxy,
    set: (changed: Partial<EngineFaults>): void => {
      faults = { ...faults, ...changed };
      slots.review();
    },
    /** On: a new connection is dismissed as by a searchd at max_children, errno 1040; open ones stay. */
    maxedOut: (on: boolean): void => {
      isMaxedOut = on;
    },
    /** `distinct`: the number of different texts, up to 200,000; the deadline and the marks of highlighting do not count as text. */
    counts: () => ({ ...tally, ...slots.counts(), distinct: texts.size }),
    /** Counts become 0; `atEngine` and `waiting` stay, and their maxima begin at them. */
    resetCounts: (): void => {
      texts.clear();
      slots.resetCounts();
      Object.assign(tally, NO_COUNTS);
    },
  };
}

interface EngineSessionOptions {
  /** Read again at each step of each search. */
  readonly faults: () => EngineFaults;
  readonly slots: EngineSlots;
  readonly seen: (statement: string) => void;
  readonly tally: typeof NO_COUNTS;
}

/** A search between its packet and the end of its reply; a connection has one at a time. */
type Search =
  | { readonly state: 'waiting'; readonly giveUp: () => void }
  /** It has a slot. `timer` is the injected delay before the request to the engine, or after the reply. */
  | { readonly state: 'delayed'; readonly timer: NodeJS.Timeout }
  | { readonly state: 'asked'; readonly sinceMs: number; readonly isLast: (payload: Buffer) => boolean };

const UNASKED_AFTER_MS = 5;
const COM_QUIT = 0x01;
const COM_QUERY = 0x03;

/**
 * One connection of the engine proxy. Everything but searches passes unchanged. An engine does not know that its client
 * has left: a search whose client is gone still waits for its slot, runs, and holds the slot to the end.
 */
function createEngineSession(wire: Wire, { faults, slots, seen, tally }: EngineSessionOptions): Session {
  const packetsOf = createPacketFramer();
  const repliesOf = createPacketFramer();
  let search: Search | undefined;
  let reply: Buffer[] = [];
  let clientIsGone = false;

  const refuse = (bytes: Buffer): void => {
    tally.refused += 1;
    wire.toClient(bytes);
  };
  const free = (): void => {
    search = undefined;
    slots.leave();
    if (clientIsGone) wire.reset();
  };
  const after = (waitMs: number, then: () => void): void => {
    if (waitMs <= 0) then();
    else search = { state: 'delayed', timer: setTimeout(then, waitMs) };
  };
  const begin = (packet: Packet): void => {
    const statement = packet.payload.toString('utf8', 1);
    seen(statement);
    const { fail, answer } = faults();
    const refusal = answer ?? (fail === undefined ? undefined : errorPacket(1, 1064, fail, '42000'));
    if (refusal !== undefined) {
      refuse(refusal);
      return;
    }
    const start = (): void =>
      after(faults().delayMs, () => {
        search = { state: 'asked', sinceMs: performance.now(), isLast: createReplyReader() };
        wire.toServer(packet.bytes);
      });
    const giveUp = slots.enter(start);
    if (giveUp === undefined) refuse(errorPacket(1, 1040, 'maxed out, dismissing client', '42000'));
    else search ??= { state: 'waiting', giveUp };
  };
  const finish = (asked: { readonly sinceMs: number }): void => {
    const tookMs = performance.now() - asked.sinceMs;
    after((faults().multiply - 1) * tookMs, () => {
      wire.toClient(Buffer.concat(reply));
      reply = [];
      const extra = faults().unasked;
      if (extra !== undefined) {
        tally.unasked += 1;
        // After the client has read the reply.
        setTimeout(() => wire.toClient(extra), UNASKED_AFTER_MS);
      }
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
      if (search.isLast(packet.payload)) finish(search);
    }
  };

  return {
    fromClient,
    fromServer,
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
export type EngineFaults = Readonly<typeof NO_ENGINE_FAULT>;

/** A proxy that only counts. */
export const NO_ENGINE_FAULT = {
  /** Added to the engine's own time for each search. */
  delayMs: 0,
  /** Maximum number of searches at the engine at once; the others wait in the proxy, first in first out. */
  capacity: Number.POSITIVE_INFINITY,
  /** 10: an engine ten times slower. Nine times the engine's own time is waited on top. */
  multiply: 1,
  /** Every search gets errno 1064 with this text and does not reach the engine. */
  fail: undefined as string | undefined,
  /** Every search gets these bytes and does not reach the engine. */
  answer: undefined as Buffer | undefined,
  /** These bytes follow every reply to a search, a moment later. */
  unasked: undefined as Buffer | undefined,
};

type EngineSlots = ReturnType<typeof createEngineSlots>;

/** Slots at the engine, for all connections of a proxy together: first come, first served. */
function createEngineSlots(capacity: () => number, maxWaiting: number) {
  const waiting = new Set<() => void>();
  let atEngine = 0;
  let mostAtEngine = 0;
  let mostWaiting = 0;

  const admit = (start: () => void): void => {
    atEngine += 1;
    mostAtEngine = Math.max(mostAtEngine, atEngine);
    start();
  };
  const review = (): void => {
    for (const start of waiting) {
      if (atEngine >= capacity()) return;
      waiting.delete(start);
      admit(start);
    }
  };
  return {
    /**
     * Calls `start` when there is a slot, at once or later. The search that was started calls `leave` once.
     * @returns a function that gives up waiting, or undefined when too many wait: then `start` is never called.
     */
    enter: (start: () => void): (() => void) | undefined => {
      if (waiting.size === 0 && atEngine < capacity()) {
        admit(start);
        return () => {};
      }
      if (waiting.size >= maxWaiting) return undefined;
      waiting.add(start);
      mostWaiting = Math.max(mostWaiting, waiting.size);
      return () => waiting.delete(start);
    },
    leave: (): void => {
      atEngine -= 1;
      review();
    },
    /** To be called when the capacity has changed: some may start. */
    review,
    counts: () => ({ atEngine, mostAtEngine, waiting: waiting.size, mostWaiting }),
    resetCounts: (): void => {
      mostAtEngine = atEngine;
      mostWaiting = waiting.size;
    },
  };
}

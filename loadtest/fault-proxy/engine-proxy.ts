import { hash } from 'node:crypto';
import { createEngineMiddle, type EngineLevers } from './engine-middle.ts';
import { createEnginePlaces, type PlaceCounts } from './engine-places.ts';
import { errorPacket } from './mysql-framing.ts';
import { type FaultProxy, type ProxyOptions, startRelay } from './relay.ts';

export interface EngineProxyOptions extends ProxyOptions {
  /** Past it a search is answered with errno 1040. Default 4096. */
  readonly maxWaiting?: number;
}

export interface EngineProxy extends FaultProxy {
  /** Changes the named levers. At first: 0, Infinity, 1, undefined. */
  readonly set: (levers: Partial<EngineLevers>) => void;
  /** On: a new connection is dismissed as by a searchd at max_children, errno 1040; open ones stay. */
  readonly maxedOut: (on: boolean) => void;
  readonly counts: () => EngineCounts;
  /** Counts start at nothing again; `atEngine` and `waiting` stay, their maxima start there. */
  readonly resetCounts: () => void;
}

export interface EngineCounts extends PlaceCounts {
  /** Statements with `MATCH(` that came in, without serpcache's own probes. */
  readonly searches: number;
  /** How many different texts among them, whoever asked and however long he can wait. */
  readonly distinct: number;
  /** The most often that one text came. */
  readonly mostOfOne: number;
  /** Searches that are not in `distinct` because it holds 200,000 others. */
  readonly uncounted: number;
  /** What serpcache asks to know whether the engine is alive; the levers hold for it like for a search. */
  readonly probes: number;
  /** Answered by `fail`, or because too many wait; probes included. */
  readonly refused: number;
}

const MOST_DISTINCT = 200_000;
const OWN_TO_THE_ASKER = /max_query_time=\d+|(?:before|after)_match=[^']*/g;
const PROBE = "MATCH('serpcacheprobe')";

/**
 * A proxy before searchd that knows its searches: counts them, and makes it slow, narrow or broken without taking any
 * CPU from the machine. Knows the protocol as searchd 2.2 speaks it, without TLS and compression.
 */
export async function startEngineProxy({ maxWaiting = 4096, ...options }: EngineProxyOptions): Promise<EngineProxy> {
  let levers: EngineLevers = { delayMs: 0, capacity: Number.POSITIVE_INFINITY, multiply: 1, fail: undefined };
  let isMaxedOut = false;
  const places = createEnginePlaces({ capacity: () => levers.capacity, maxWaiting });
  const texts = new Map<string, number>();
  let tally = { searches: 0, uncounted: 0, probes: 0, refused: 0, mostOfOne: 0 };

  const seen = (statement: string): void => {
    if (statement.includes(PROBE)) {
      tally.probes += 1;
      return;
    }
    tally.searches += 1;
    // What is left of a deadline, and the marks each process makes up for found words, do not make another question.
    const text = hash('sha1', statement.replaceAll(OWN_TO_THE_ASKER, ''), 'base64');
    const count = (texts.get(text) ?? 0) + 1;
    if (count === 1 && texts.size >= MOST_DISTINCT) {
      tally.uncounted += 1;
      return;
    }
    texts.set(text, count);
    tally.mostOfOne = Math.max(tally.mostOfOne, count);
  };
  const refused = (): void => {
    tally.refused += 1;
  };
  const proxy = await startRelay({
    ...options,
    turnAway: () => (isMaxedOut ? errorPacket(0, 1040, 'Too many connections') : undefined),
    createMiddle: (wire) => createEngineMiddle(wire, { levers: () => levers, places, seen, refused }),
  });

  return {
    ...proxy,
    set: (changed) => {
      levers = { ...levers, ...changed };
      places.review();
    },
    maxedOut: (on) => {
      isMaxedOut = on;
    },
    counts: () => ({ ...tally, ...places.counts(), distinct: texts.size }),
    resetCounts: () => {
      texts.clear();
      places.resetCounts();
      tally = { searches: 0, uncounted: 0, probes: 0, refused: 0, mostOfOne: 0 };
    },
  };
}

import type { Store } from '../cache/store.ts';
import type { Clock } from '../runtime.ts';

/**
 * How many processes share a domain's store, and which of them this one is: told by a heartbeat. What belongs to the
 * whole fleet (an engine's places, the work of re-seeding) is divided by it.
 */
export interface Fleet {
  /** At least 1. The last known while the store is away. */
  readonly live: () => number;
  /** 0 … live − 1, another for each process. */
  readonly rank: () => number;
  /** Counted at least once; until then this process takes itself for the only one. */
  readonly counted: () => boolean;
  /** Stops beating and leaves the count; waits for the store no longer than two deadlines. */
  readonly close: () => Promise<void>;
}

export interface FleetOptions {
  /** Without one the process is alone. */
  readonly store?: Pick<Store, 'beat' | 'leave'>;
  /** Of this process; no other may have it. */
  readonly id: string;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly random: () => number;
  readonly intervalMs?: number;
  /** A process that has not beaten for so long is not counted. */
  readonly ttlMs?: number;
  readonly deadlineMs?: number;
}

interface Count {
  readonly live: number;
  readonly rank: number;
}

const UNCOUNTED_MS = 100;

/**
 * This process's part of what belongs to all, as a whole number: what cannot be divided evenly goes to the first of them.
 * At least 1, so that a process can work at all: more processes than places take one each.
 */
export function fleetShare(whole: number, { live, rank }: Pick<Fleet, 'live' | 'rank'>): number {
  const [all, processes] = [Math.floor(whole), live()];
  return Math.max(1, Math.floor(all / processes) + (rank() < all % processes ? 1 : 0));
}

export function createFleet(options: FleetOptions): Fleet {
  const { store, id, clock, random, intervalMs = 1000, ttlMs = 5000, deadlineMs = 200 } = options;
  let count: Count = { live: 1, rank: 0 };
  let counted = store === undefined;
  let fewerSinceMs: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  /**
   * More is believed at once, fewer only when it has been said for as long as a dead process takes to lapse. A store
   * that has lost its data counts from nothing: for a second every process would take itself for the only one, and the
   * engine would get the whole ceiling from each, just then. Rank and number are believed together, so that the shares
   * of all processes still fit.
   */
  const hear = (heard: Count): void => {
    const nowMs = clock.monotonicMs();
    if (heard.live < count.live) {
      fewerSinceMs ??= nowMs;
      if (nowMs - fewerSinceMs < ttlMs) return;
    }
    fewerSinceMs = undefined;
    count = heard;
  };

  const beat = async (target: Pick<Store, 'beat'>): Promise<void> => {
    const heard = await target.beat(id, ttlMs, deadlineMs);
    if (heard.kind === 'fleet') {
      counted = true;
      hear({ live: Math.max(1, heard.live), rank: heard.rank });
    } else {
      // Others could not beat either, perhaps: what was said before is no evidence for what is said after.
      fewerSinceMs = undefined;
    }
  };

  let beating = Promise.resolve();
  const next = (target: Pick<Store, 'beat'>): void => {
    beating = beat(target).then(() => {
      // Not counted yet, the store is only just being connected to, and this process takes itself for the only one.
      const waitMs = counted ? intervalMs : Math.min(UNCOUNTED_MS, intervalMs);
      // Spread by ±20 %, so that a fleet does not beat in step; one beat at a time, however slow.
      if (!closed) timer = setTimeout(() => next(target), waitMs * (0.8 + 0.4 * random())).unref();
    });
  };
  if (store !== undefined) next(store);

  const close = async (): Promise<void> => {
    if (closed) return;
    closed = true;
    clearTimeout(timer);
    // A beat under way would otherwise come after it and count this process for another ttl.
    await beating;
    await store?.leave(id, deadlineMs);
  };

  return { live: () => count.live, rank: () => count.rank, counted: () => counted, close };
}

import type { Store } from '../cache/store.ts';
import { type Clock, repeat } from '../runtime.ts';

export type Membership = ReturnType<typeof createMembership>;

interface MembershipOptions {
  /** Absent: the process is alone. */
  readonly store?: Pick<Store, 'beat' | 'leave'>;
  /** Unique to this process. */
  readonly id: string;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly random: () => number;
}

const INTERVAL_MS = 1000;
/** A process without a heartbeat for this time is not counted. */
const TTL_MS = 5000;
const DEADLINE_MS = 200;
/** Heartbeat interval until the count was read once. */
const UNCOUNTED_INTERVAL_MS = 100;

/** The share of one of the processes in a whole number; the first processes take the remainder. */
export function fleetShare(whole: number, { live, rank }: { readonly live: number; readonly rank: number }): number {
  const all = Math.floor(whole);
  return Math.max(1, Math.floor(all / live) + (rank < all % live ? 1 : 0));
}

/**
 * The processes that share a domain's store, counted by heartbeat. Limits and work that belong to the whole fleet (the
 * concurrency limit of an engine, the backfill) are divided by this count.
 */
export function createMembership(options: MembershipOptions) {
  const { store, id, clock, random } = options;
  let count = { live: 1, rank: 0 };
  let counted = store === undefined;
  let fewerSinceMs: number | undefined;
  let closed = false;

  /**
   * A higher count applies at once. A lower one applies only after the store has reported it for `TTL_MS`, the time after
   * which a dead process drops out. A store that lost its data counts from zero: without this rule each process would
   * assume for a second that it is alone, and the engine would get the whole ceiling from each of them. Rank and count
   * change together, so that the shares of all processes still add up.
   */
  const apply = (reported: typeof count): void => {
    const nowMs = clock.monotonicMs();
    if (reported.live < count.live) {
      fewerSinceMs ??= nowMs;
      if (nowMs - fewerSinceMs < TTL_MS) return;
    }
    fewerSinceMs = undefined;
    count = reported;
  };

  const beat = async (target: Pick<Store, 'beat'>): Promise<void> => {
    const reply = await target.beat(id, TTL_MS, DEADLINE_MS);
    if (reply.kind === 'fleet') {
      counted = true;
      apply({ live: Math.max(1, reply.live), rank: reply.rank });
    } else {
      // The heartbeats of others may have failed too, so counts before this fault do not confirm counts after it.
      fewerSinceMs = undefined;
    }
  };

  let beating = Promise.resolve();
  const next = (target: Pick<Store, 'beat'>): Promise<void> => {
    beating = beat(target);
    return beating;
  };
  // Until the first count the store may still be connecting, and this process assumes that it is alone. Spread by ±20 %, so that
  // the processes of a fleet do not beat in step.
  const waitMs = (): number => (counted ? INTERVAL_MS : UNCOUNTED_INTERVAL_MS) * (0.8 + 0.4 * random());
  const endBeats = store && repeat(() => next(store), waitMs);

  return {
    /** Live processes, at least 1. The last known count while the store is away. */
    live: () => count.live,
    /** This process's place among them: 0 … live − 1, different in each process. */
    rank: () => count.rank,
    /**
     * This process's share of a number of the fleet, as a whole number. At least 1, so that each process can work: with more
     * processes than slots each takes one.
     */
    share: (whole: number): number => fleetShare(whole, count),
    /** The count was read at least once. Until then this process assumes that it is alone. */
    counted: () => counted,
    /** Stops the heartbeat and leaves the count. Waits for the store for two deadlines at most. */
    close: async (): Promise<void> => {
      if (closed) return;
      closed = true;
      endBeats?.();
      // A heartbeat under way could otherwise arrive after `leave` and count this process for another `TTL_MS`.
      await beating;
      await store?.leave(id, DEADLINE_MS);
    },
  };
}

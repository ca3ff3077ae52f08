import { type Clock, pause } from '../runtime.ts';
import type { CacheEvent, LeaseResult } from './events.ts';
import type { LeaseNames, LeaseStore, LeaseWrite } from './store.ts';

export type Leases = ReturnType<typeof createLeases>;

type Taken =
  /** `value`: the entry stored at this moment. It may be newer than the caller's read. */
  | { readonly kind: 'mine'; readonly lease: Lease; readonly value?: Buffer }
  | { readonly kind: 'held' }
  | { readonly kind: 'none' };

type Waited =
  | { readonly kind: 'value'; readonly value: Buffer }
  | { readonly kind: 'again' }
  | { readonly kind: 'ended'; readonly why: 'crowded' | 'left' };

/** Held until one of these is called. A second call does nothing. */
export interface Lease {
  /** Stores the entry, unless the lease was lost meanwhile, and gives the lease back, even when nothing is stored. */
  readonly write: (value: Buffer, ttlMs: number) => Promise<LeaseWrite>;
  /** The page cannot be stored: waiting processes need not take the lease one after another. */
  readonly pass: () => void;
  /** Gives the lease back: there is no page. */
  readonly release: () => void;
}

interface LeasesOptions {
  readonly domain: string;
  readonly store: LeaseStore;
  /** Longer than the hard deadline of an engine call, so that only the lease of a dead process expires. */
  readonly ttlMs: number;
  readonly storeDeadlineMs: number;
  readonly maxWaiters: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: (event: CacheEvent) => void;
}

/** Interval between the polls of a waiter: short at first, because most pages take milliseconds, then 20 polls a second. */
const FIRST_POLL_MS = 8;
const MAX_POLL_MS = 50;
/** Time without leases for a key after its page could not be stored. */
const PASS_MS = 2000;

/**
 * One load per key for the whole fleet: the lease of Nishtala et al. (NSDI '13), with a fencing token. A process with a
 * permit takes the key's lease and loads the page; a process that finds the lease held waits for the entry in the store.
 * When the store fails, or the page cannot be stored, there is no lease: every process loads alone, within its permits.
 */
export function createLeases(options: LeasesOptions) {
  const { domain, store, ttlMs, storeDeadlineMs, maxWaiters, clock, random } = options;
  let waiting = 0;
  const report = (result: LeaseResult): void => options.observe({ kind: 'lease', domain, result });
  const newToken = (): string => `${random().toString(36).slice(2)}${random().toString(36).slice(2)}`;

  const held = (names: LeaseNames, token: string): Lease => {
    let over = false;
    const once = (act: () => void) => (): void => {
      if (over) return;
      over = true;
      act();
    };
    return {
      write: async (value, entryTtlMs) => {
        over = true;
        const written = await store.writeAndRelease(names, token, value, entryTtlMs);
        if (written.kind === 'dropped' && written.fault === 'fenced') report('fenced');
        return written;
      },
      pass: once(() => void store.release(names, token, PASS_MS)),
      release: once(() => void store.release(names, token)),
    };
  };

  const watch = async (names: LeaseNames, untilMs: () => number, cancelled: () => boolean): Promise<Waited> => {
    for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(MAX_POLL_MS, pauseMs * 1.5)) {
      // Spread, so that the waiters of one page do not poll in step.
      const restMs = untilMs() - clock.monotonicMs();
      if (restMs <= 0 || cancelled()) return { kind: 'ended', why: 'left' };
      await pause(Math.min(restMs, pauseMs * (0.75 + random() / 2)));
      if (cancelled()) return { kind: 'ended', why: 'left' };
      const look = await store.look(names, storeDeadlineMs);
      // Without the store no process knows of another: each loads alone.
      if (look.kind === 'fault' || look.kind === 'pass') return { kind: 'again' };
      if (look.kind === 'free')
        return look.value === undefined ? { kind: 'again' } : { kind: 'value', value: look.value };
    }
  };

  return {
    waiting: () => waiting,
    take: async (entryName: string): Promise<Taken> => {
      const names = leaseNames(entryName);
      const token = newToken();
      const taken = await store.take(names, token, ttlMs, storeDeadlineMs);
      switch (taken.kind) {
        case 'taken':
          report('taken');
          return { kind: 'mine', lease: held(names, token), value: taken.value };
        case 'held':
          return { kind: 'held' };
        case 'pass':
          report('passed');
          return { kind: 'none' };
        case 'fault':
          report('open');
          return { kind: 'none' };
      }
    },
    /**
     * Waits until the lease is free, `untilMs` is reached (monotonic, it may grow) or `cancelled` is true. `value`: the entry
     * stored then. `again`: there is none, take the lease. `ended`: the wait was over first, or the maximum number of
     * searches waits already.
     */
    wait: async (entryName: string, untilMs: () => number, cancelled: () => boolean): Promise<Waited> => {
      if (waiting >= maxWaiters) {
        report('crowded');
        return { kind: 'ended', why: 'crowded' };
      }
      waiting += 1;
      try {
        const waited = await watch(leaseNames(entryName), untilMs, cancelled);
        if (waited.kind !== 'again') report(waited.kind === 'value' ? 'waited' : 'left');
        return waited;
      } finally {
        waiting -= 1;
      }
    },
  };
}

/** The braces keep the entry and its lease on one slot. */
export function leaseNames(entry: string): LeaseNames {
  return { entry, lease: entry.replace('{', 'lease:{') };
}

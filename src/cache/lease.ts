import type { Clock } from '../runtime.ts';
import type { CacheEvent, LeaseResult } from './events.ts';
import { type LeaseNames, type LeaseStore, type LeaseWrite, leaseNames } from './store.ts';

/**
 * One flight per key for the whole fleet (the lease of Nishtala et al., NSDI '13, here with a fence). Who holds a permit
 * takes the key's lease and computes; who finds it held waits for the entry to appear in the store. A store that cannot
 * say, or a page that cannot be stored, means no lease: everybody asks for himself, within the permits.
 */
export interface Leases {
  readonly take: (entryName: string) => Promise<Taken>;
  /**
   * Until nobody holds the lease any more, `untilMs` (monotonic, it may grow) or `left`. Resolves to the entry found then;
   * `again`: there is none, take the lease yourself; `ended`: the wait was over first, or too many wait already.
   */
  readonly wait: (entryName: string, untilMs: () => number, left: () => boolean) => Promise<Waited>;
  readonly waiting: () => number;
}

export type Taken =
  /** `value`: what is stored there at this moment, perhaps put there since the caller looked. */
  | { readonly kind: 'mine'; readonly lease: Lease; readonly value?: Buffer }
  | { readonly kind: 'held' }
  | { readonly kind: 'none' };

export type Waited =
  | { readonly kind: 'value'; readonly value: Buffer }
  | { readonly kind: 'again' }
  | { readonly kind: 'ended'; readonly why: 'crowded' | 'left' };

/** Held until one of these is called; each is safe after another. */
export interface Lease {
  /** Stores the entry and gives the lease back, unless it was lost meanwhile. Given back as well when nothing is stored. */
  readonly write: (value: Buffer, ttlMs: number) => Promise<LeaseWrite>;
  /** There will be a page, but none that can be stored: those who wait need not queue for the lease. */
  readonly pass: () => void;
  /** There is no page. */
  readonly release: () => void;
}

export interface LeasesOptions {
  readonly domain: string;
  readonly store: LeaseStore;
  /** Past the hard deadline of an engine call, so that only a dead owner's lease expires. */
  readonly ttlMs: number;
  readonly storeDeadlineMs: number;
  readonly maxWaiters: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: (event: CacheEvent) => void;
}

/** Between looks of one who waits: quick at first, as most pages take milliseconds, then 20 looks a second. */
const FIRST_LOOK_MS = 8;
const LONGEST_LOOK_MS = 50;
/** How long a page that cannot be stored is asked for without a lease. */
const PASS_MS = 2000;

export function createLeases(options: LeasesOptions): Leases {
  const { domain, store, ttlMs, storeDeadlineMs, maxWaiters, clock, random } = options;
  let waiting = 0;
  const say = (result: LeaseResult): void => options.observe({ kind: 'lease', domain, result });
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
        if (written.kind === 'dropped' && written.fault === 'fenced') say('fenced');
        return written;
      },
      pass: once(() => void store.release(names, token, PASS_MS)),
      release: once(() => void store.release(names, token)),
    };
  };

  const watch = async (names: LeaseNames, untilMs: () => number, left: () => boolean): Promise<Waited> => {
    for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(LONGEST_LOOK_MS, pauseMs * 1.5)) {
      // Spread, so that those who wait for one page do not look in step.
      const restMs = untilMs() - clock.monotonicMs();
      if (restMs <= 0 || left()) return { kind: 'ended', why: 'left' };
      await pause(Math.min(restMs, pauseMs * (0.75 + random() / 2)));
      if (left()) return { kind: 'ended', why: 'left' };
      const look = await store.look(names, storeDeadlineMs);
      // Without the store nobody knows of anybody: each goes on alone.
      if (look.kind === 'fault' || look.kind === 'pass') return { kind: 'again' };
      if (look.kind === 'free')
        return look.value === undefined ? { kind: 'again' } : { kind: 'value', value: look.value };
    }
  };

  return {
    waiting: () => waiting,
    take: async (entryName) => {
      const names = leaseNames(entryName);
      const token = newToken();
      const taken = await store.take(names, token, ttlMs, storeDeadlineMs);
      switch (taken.kind) {
        case 'taken':
          say('taken');
          return {
            kind: 'mine',
            lease: held(names, token),
            ...(taken.value === undefined ? {} : { value: taken.value }),
          };
        case 'held':
          return { kind: 'held' };
        case 'pass':
          say('passed');
          return { kind: 'none' };
        case 'fault':
          say('open');
          return { kind: 'none' };
      }
    },
    wait: async (entryName, untilMs, left) => {
      if (waiting >= maxWaiters) {
        say('crowded');
        return { kind: 'ended', why: 'crowded' };
      }
      waiting += 1;
      try {
        const waited = await watch(leaseNames(entryName), untilMs, left);
        if (waited.kind !== 'again') say(waited.kind === 'value' ? 'waited' : 'left');
        return waited;
      } finally {
        waiting -= 1;
      }
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

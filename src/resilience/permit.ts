import type { Clock } from '../clock.ts';

/**
 * A bound on what runs at once, with a short queue: newest first, because under overload the oldest waiter is the one
 * whose client is about to leave (adaptive LIFO, "Fail at Scale", ACM Queue 2015). A waiter past its deadline is dropped;
 * in a full queue the oldest makes room for the newest.
 */
export interface Permit {
  /**
   * Resolves to a release function (idempotent) once a place is free.
   * @throws Refused when the queue is full, the deadline passes, or `signal` aborts.
   */
  readonly acquire: (options: { readonly deadlineAtMs: number; readonly signal?: AbortSignal }) => Promise<() => void>;
  readonly inFlight: () => number;
  readonly queued: () => number;
  readonly max: () => number;
}

export class Refused extends Error {
  override readonly name = 'Refused';
  readonly why: 'queue-full' | 'queue-expired' | 'left';

  constructor(why: Refused['why']) {
    super(`no permit: ${why}`);
    this.why = why;
  }
}

export interface PermitOptions {
  readonly maxConcurrent: number;
  readonly maxQueued: number;
  readonly clock: Clock;
}

interface Waiter {
  readonly admit: () => void;
  readonly refuse: (why: Refused['why']) => void;
}

export function createPermit(options: PermitOptions): Permit {
  const { clock, maxConcurrent, maxQueued } = options;
  /** Oldest first; admitted from the end. */
  const waiters: Waiter[] = [];
  let inFlight = 0;

  const take = (): (() => void) => {
    inFlight += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      inFlight -= 1;
      waiters.pop()?.admit();
    };
  };

  const wait = (remainingMs: number, signal: AbortSignal | undefined): Promise<() => void> =>
    new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
      };
      const waiter: Waiter = {
        admit: () => {
          settle();
          resolve(take());
        },
        refuse: (why) => {
          settle();
          reject(new Refused(why));
        },
      };
      const drop = (why: Refused['why']): void => {
        const at = waiters.indexOf(waiter);
        if (at < 0) return;
        waiters.splice(at, 1);
        waiter.refuse(why);
      };
      const leave = (): void => drop('left');
      const timer = setTimeout(() => drop('queue-expired'), remainingMs);
      signal?.addEventListener('abort', leave, { once: true });
      waiters.push(waiter);
      if (waiters.length > maxQueued) waiters.shift()?.refuse('queue-full');
    });

  return {
    acquire: async ({ deadlineAtMs, signal }) => {
      if (signal?.aborted) throw new Refused('left');
      if (inFlight < maxConcurrent) return take();
      const remainingMs = deadlineAtMs - clock.monotonicMs();
      if (remainingMs <= 0) throw new Refused('queue-expired');
      return wait(remainingMs, signal);
    },
    inFlight: () => inFlight,
    queued: () => waiters.length,
    max: () => maxConcurrent,
  };
}

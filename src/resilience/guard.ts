import type { Clock } from '../clock.ts';
import type { Breaker } from './breaker.ts';
import { BreakerOpen } from './breaker.ts';
import { DeadlinePassed, withinDeadline } from './deadline.ts';
import type { GuardEvent } from './events.ts';
import { type Permit, Refused } from './permit.ts';

/**
 * What stands before every engine call, in this order: open-breaker check, permit, check again, breaker, engine.
 * A refusal never passes through the breaker: opossum would book it as a success and close onto a dead engine.
 */
export interface Guard {
  /**
   * Runs `call` when it may. Resolves or rejects when the engine has replied or been given up at its hard deadline,
   * which may be long after `deadlineAtMs`: who waits for a client races this promise with the client's own deadline.
   * @throws Shed when the engine was not asked; whatever `call` throws when it was.
   */
  readonly run: <T>(task: GuardedTask<T>) => Promise<T>;
  readonly breaker: Pick<Breaker, 'state' | 'retryAfterMs'>;
  readonly permit: Pick<Permit, 'inFlight' | 'queued' | 'max'>;
  readonly close: () => void;
}

export interface GuardedTask<T> {
  /** Monotonic; past it the task leaves the queue. */
  readonly deadlineAtMs: number;
  /** Aborted at the hard deadline; must settle soon after. */
  readonly call: (signal: AbortSignal) => Promise<T>;
  /** Leaves the queue: the answer came from elsewhere. Has no effect once the call runs. */
  readonly unwanted?: AbortSignal;
}

export class Shed extends Error {
  override readonly name = 'Shed';
  readonly why: 'breaker-open' | 'stalled' | 'queue-full' | 'queue-expired' | 'left';

  constructor(why: Shed['why']) {
    super(`not asked: ${why}`);
    this.why = why;
  }
}

export interface GuardOptions {
  /** For events: the domain's engine endpoint. */
  readonly target: string;
  readonly breaker: Breaker;
  readonly permit: Permit;
  /** A reply later than this is a failure of the engine in the breaker's book, however long the queue was before. */
  readonly deadlineMs: number;
  readonly hardDeadlineMs: number;
  /** False where the engine works on after an abort: the permit is then held one hard deadline more. */
  readonly abortEndsWork: boolean;
  readonly clock: Clock;
  readonly observe: (event: GuardEvent) => void;
}

export function createGuard(options: GuardOptions): Guard {
  const { target, breaker, permit, clock, observe } = options;
  /** Calls past their deadline that still hold a permit. */
  let overdue = 0;

  const shed = (why: Shed['why']): Shed => {
    if (why !== 'left') observe({ kind: 'shed', target, why });
    return new Shed(why);
  };

  const admit = async (task: { deadlineAtMs: number; unwanted?: AbortSignal }): Promise<() => void> => {
    if (breaker.refuses()) throw shed('breaker-open');
    // Every permit is held by a call that is late already: whoever queued now would only wait for a refusal.
    if (overdue >= permit.max()) throw shed('stalled');
    const askedAtMs = clock.monotonicMs();
    let release: () => void;
    try {
      release = await permit.acquire({
        deadlineAtMs: task.deadlineAtMs,
        ...(task.unwanted === undefined ? {} : { signal: task.unwanted }),
      });
    } catch (error) {
      throw error instanceof Refused ? shed(error.why) : error;
    }
    observe({ kind: 'permit', target, queuedMs: clock.monotonicMs() - askedAtMs });
    // Both may have changed while it waited.
    if (breaker.refuses() || task.unwanted?.aborted) {
      release();
      throw shed(task.unwanted?.aborted ? 'left' : 'breaker-open');
    }
    return release;
  };

  /** The call with its hard deadline. The permit goes back when the engine's work is over, as far as that is known. */
  const start = <T>(call: GuardedTask<T>['call'], release: () => void): Promise<T> => {
    const hard = new AbortController();
    let isOverdue = false;
    const deadline = setTimeout(() => {
      isOverdue = true;
      overdue += 1;
    }, options.deadlineMs);
    const hardDeadline = setTimeout(() => hard.abort(), options.hardDeadlineMs);
    const end = (): void => {
      if (isOverdue) overdue -= 1;
      release();
    };
    return (async () => call(hard.signal))().finally(() => {
      clearTimeout(deadline);
      clearTimeout(hardDeadline);
      if (hard.signal.aborted && !options.abortEndsWork) setTimeout(end, options.hardDeadlineMs).unref();
      else end();
    });
  };

  return {
    run: async <T>(task: GuardedTask<T>): Promise<T> => {
      const release = await admit(task);
      let work: Promise<T> | undefined;
      try {
        return await breaker.fire(() => {
          work = start(task.call, release);
          return withinDeadline(work, options.deadlineMs);
        });
      } catch (error) {
        if (work === undefined) release();
        if (error instanceof BreakerOpen) throw shed('breaker-open');
        if (error instanceof DeadlinePassed && work !== undefined) return work;
        throw error;
      }
    },
    breaker,
    permit,
    close: () => breaker.shutdown(),
  };
}

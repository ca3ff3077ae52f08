import type { Clock } from '../runtime.ts';
import {
  createCodelQueue,
  createWaitingLines,
  PRIORITIES,
  type Priority,
  type QueueRefusal,
  type Waiter,
} from './codel-queue.ts';
import { SearchError } from './search-error.ts';

export interface ConcurrencyLimiterOptions {
  /** May change at any time, also below the number of running calls; less than 1 counts as 1. */
  readonly max: () => number;
  readonly maxQueued: number;
  /** The engine's deadline: the bounds of waiting under overload are shares of it. */
  readonly deadlineMs: number;
  /** Maximum time that a client waits in all: a burst may take that time to clear. At least `deadlineMs`. */
  readonly maxWaitMs: number;
  /** Maximum time that a call may hold its slot. Default: any time. */
  readonly maxHoldMs?: number;
  readonly clock: Clock;
  /** False: first come, first served, bounded by deadlines and `maxQueued` alone. For comparison. */
  readonly shedding?: boolean;
}

export interface GuardedTask {
  /** Monotonic; past it the task leaves the queue. */
  readonly deadlineAtMs: number;
  readonly priority: Priority;
  /** Leaves the queue; has no effect once a slot was given. */
  readonly signal?: AbortSignal | undefined;
}

/** One error object per reason: its stack is not needed, and capturing a stack is most of the cost of a refusal. */
const REFUSALS: Readonly<Record<QueueRefusal, SearchError>> = {
  'queue-full': new SearchError('queue-full'),
  'queue-expired': new SearchError('queue-expired'),
  left: new SearchError('left'),
};

/**
 * Bounds the calls that run at once, with a short queue. The most urgent priority goes first. Priorities below
 * `interactive` use a share of the slots only, never get a slot before a waiting interactive search, and make room for
 * interactive searches in a full queue.
 */
export function createConcurrencyLimiter(options: ConcurrencyLimiterOptions) {
  const { clock, deadlineMs, maxWaitMs, maxQueued, shedding = true } = options;
  const waiting = createWaitingLines();
  const interactive = waiting.line('interactive');
  const slots = createSlots({
    max: options.max,
    initialCallMs: deadlineMs / 4,
    monotonicMs: clock.monotonicMs,
    onRelease: () => settle(clock.monotonicMs()),
  });
  const queue = createCodelQueue({ deadlineMs, maxWaitMs, answeredMs: slots.answeredMs });
  const timer = createDeadlineTimer({ clock, onDue: (nowMs) => settle(nowMs) });

  const refuse = (waiters: readonly Waiter[], why: QueueRefusal): void => {
    for (const waiter of waiters) if (waiting.remove(waiter)) waiter.refuse(why);
  };

  const next = (): Waiter | undefined => {
    const priority = PRIORITIES.find((each) => waiting.line(each).length > 0);
    if (priority === undefined || slots.free(priority) === 0) return undefined;
    return priority === 'interactive' ? queue.next(interactive) : waiting.line(priority)[0];
  };

  /** After every event: refuses expired and shed waiters, admits those that fit, and sets the timer. */
  const settle = (nowMs: number): void => {
    refuse(waiting.pastDeadline(nowMs), 'queue-expired');
    if (shedding) shed(nowMs);
    for (let waiter = next(); waiter !== undefined; waiter = next()) {
      waiting.remove(waiter);
      if (waiter.priority === 'interactive') queue.onServed();
      waiter.admit();
    }
    if (interactive.length === 0 && slots.free('interactive') > 0) queue.onEmpty();
    if (waiting.size() === 0) timer.clear();
    else {
      const updateAtMs = shedding ? queue.nextUpdateAtMs(interactive) : Number.POSITIVE_INFINITY;
      timer.fireBy(Math.min(waiting.noDeadlineBeforeMs(), updateAtMs));
    }
  };

  const shed = (nowMs: number): void => {
    refuse(queue.update(interactive, nowMs), 'queue-expired');
    // An engine that sheds interactive searches has no capacity for other priorities.
    if (queue.overloaded()) refuse(waiting.background(), 'queue-full');
  };

  /** In a full queue the least urgent priority makes room: its oldest waiter, unless that one is about to be served. */
  const makeRoom = (): void => {
    if (waiting.size() <= maxQueued) return;
    const least = PRIORITIES.findLast((priority) => waiting.line(priority).length > 0) ?? 'interactive';
    const line = waiting.line(least);
    const out = shedding ? line.find((waiter) => !waiter.kept) : line.at(-1);
    refuse(out === undefined ? line.slice(-1) : [out], 'queue-full');
  };

  const wait = (priority: Priority, deadlineAtMs: number, signal: AbortSignal | undefined): Promise<() => void> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        refuse([waiter], 'left');
        settle(clock.monotonicMs());
      };
      const waiter: Waiter = {
        priority,
        deadlineAtMs,
        joinedAtMs: clock.monotonicMs(),
        kept: false,
        admit: () => {
          signal?.removeEventListener('abort', leave);
          resolve(slots.take(priority));
        },
        refuse: (why) => {
          signal?.removeEventListener('abort', leave);
          reject(REFUSALS[why]);
        },
      };
      signal?.addEventListener('abort', leave, { once: true });
      waiting.add(waiter);
      makeRoom();
      settle(waiter.joinedAtMs);
    });

  return {
    /**
     * Resolves to a release function (idempotent) once a slot is free.
     * @throws SearchError: `queue-full`, `queue-expired` or `left`.
     */
    acquire: async ({ deadlineAtMs, priority, signal }: GuardedTask): Promise<() => void> => {
      if (signal?.aborted) throw REFUSALS.left;
      // This check comes before background waiters: a slot that has just been added goes to the interactive search
      // first.
      if (priority === 'interactive' && interactive.length === 0 && slots.free('interactive') > 0) {
        return slots.take('interactive');
      }
      // The maximum may have risen since the last release.
      if (waiting.size() > 0) settle(clock.monotonicMs());
      if (slots.free(priority) > 0) return slots.take(priority);
      if (deadlineAtMs <= clock.monotonicMs()) throw REFUSALS['queue-expired'];
      if (queue.overloaded() && priority !== 'interactive') throw REFUSALS['queue-full'];
      return wait(priority, deadlineAtMs, signal);
    },
    /** Refuses every waiter: no slot will be free in time. */
    refuseAll: (): void => {
      refuse(
        PRIORITIES.flatMap((priority) => waiting.line(priority)),
        'queue-expired',
      );
      settle(clock.monotonicMs());
    },
    inFlight: slots.inFlight,
    queued: waiting.size,
    /** Calls that may run at once now. */
    max: slots.max,
    /** Slots that a refresh or a warm-up could take now without delaying a waiter: 0 while interactive searches wait. */
    spare: (): number => (interactive.length > 0 ? 0 : Math.max(0, slots.free('refresh') - waiting.size())),
    /** Number of slots held for longer than `maxHoldMs`: their calls never ended. Always 0 unless something is wrong. */
    overdue: (): number => slots.olderThan(options.maxHoldMs ?? Number.POSITIVE_INFINITY),
    /** True when waits have been too long for some time: the queue is then short, and serves the newest waiter first. */
    overloaded: queue.overloaded,
  };
}

export type ConcurrencyLimiter = ReturnType<typeof createConcurrencyLimiter>;

interface SlotsOptions extends Pick<Clock, 'monotonicMs'> {
  /** Assumed duration of a call until the first has ended. */
  readonly initialCallMs: number;
  readonly max: () => number;
  readonly onRelease: () => void;
}

/** Share of the slots that a priority and all below it may hold together: most slots stay for interactive searches. */
const SHARE: Readonly<Record<Priority, number>> = { interactive: 1, refresh: 1 / 2, 'warm-up': 1 / 4, shadow: 1 / 4 };
/** Duration of a call ÷ mean age of the running calls: 1 just before they end together, 2 when they began in turn. */
const AGE_FACTOR = 1.5;
/** EWMA weight of the newest duration. */
const DURATION_WEIGHT = 0.1;

/** Counts the running calls by priority, and measures their duration. */
function createSlots({ initialCallMs, monotonicMs, onRelease, ...options }: SlotsOptions) {
  const held: Record<Priority, number> = { interactive: 0, refresh: 0, 'warm-up': 0, shadow: 0 };
  /** The running calls, in the order of their start. */
  const running = new Set<{ readonly startedAtMs: number }>();
  let inFlight = 0;
  let sumOfStartsMs = 0;
  let meanDurationMs: number | undefined;

  const max = (): number => {
    const wanted = options.max();
    return wanted >= 1 ? Math.floor(wanted) : 1;
  };

  /** Number of calls of this priority that may start now. */
  const free = (priority: Priority): number => {
    const total = max();
    let left = total - inFlight;
    let heldFromHere = inFlight;
    for (const each of PRIORITIES) {
      left = Math.min(left, Math.max(1, Math.floor(total * SHARE[each])) - heldFromHere);
      heldFromHere -= held[each];
      if (each === priority) break;
    }
    return Math.max(0, left);
  };

  const meanAgeMs = (): number => (inFlight === 0 ? 0 : monotonicMs() - sumOfStartsMs / inFlight);
  const callMs = (): number => Math.max(meanDurationMs ?? initialCallMs, AGE_FACTOR * meanAgeMs());

  return {
    inFlight: (): number => inFlight,
    max,
    free,
    /** Returns an idempotent release function. */
    take: (priority: Priority): (() => void) => {
      const startedAtMs = monotonicMs();
      held[priority] += 1;
      inFlight += 1;
      sumOfStartsMs += startedAtMs;
      const call = { startedAtMs };
      running.add(call);
      return () => {
        if (!running.delete(call)) return;
        held[priority] -= 1;
        inFlight -= 1;
        // A sum of fractions keeps a rounding error; a moment without calls clears it.
        sumOfStartsMs = inFlight === 0 ? 0 : sumOfStartsMs - startedAtMs;
        const durationMs = monotonicMs() - startedAtMs;
        meanDurationMs =
          meanDurationMs === undefined ? durationMs : meanDurationMs + DURATION_WEIGHT * (durationMs - meanDurationMs);
        onRelease();
      };
    },
    /**
     * Estimated time until `waiting` more calls have all started and the last of them has ended, at the mean duration of
     * calls. The age of the running calls shows that an engine has become slower before the first of them has ended.
     */
    answeredMs: (waiting: number): number => callMs() * (1 + waiting / max()),
    olderThan: (ms: number): number => {
      const beforeMs = monotonicMs() - ms;
      let older = 0;
      for (const { startedAtMs } of running) {
        if (startedAtMs >= beforeMs) break;
        older += 1;
      }
      return older;
    },
  };
}

interface DeadlineTimerOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** `nowMs` is never before the time that was set: Node fires up to a millisecond early by the monotonic clock. */
  readonly onDue: (nowMs: number) => void;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** One timer for the deadlines of a whole queue. */
export function createDeadlineTimer({ clock, onDue }: DeadlineTimerOptions) {
  let dueAtMs = Number.POSITIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  const clear = (): void => {
    clearTimeout(timer);
    timer = undefined;
    dueAtMs = Number.POSITIVE_INFINITY;
  };

  return {
    /** Fires at `atMs` (monotonic) or before: an earlier time set already is kept, and `onDue` sets the next one. */
    fireBy: (atMs: number): void => {
      if (atMs >= dueAtMs) return;
      clearTimeout(timer);
      dueAtMs = atMs;
      const delayMs = Math.min(Math.max(0, Math.ceil(atMs - clock.monotonicMs())), LONGEST_TIMER_MS);
      timer = setTimeout(() => {
        clear();
        onDue(delayMs === LONGEST_TIMER_MS ? clock.monotonicMs() : Math.max(atMs, clock.monotonicMs()));
      }, delayMs);
    },
    clear,
  };
}

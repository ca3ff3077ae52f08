import type { Clock } from '../runtime.ts';
import { createStandingQueue, createWaiting, type Waiter } from './codel-queue.ts';
import { createAlarm } from './deadline.ts';

/**
 * A bound on what runs at once, with a short queue. The most urgent priority goes first; what is less urgent than people
 * uses a part of the places only, is never asked before them, and makes room for them in a full queue.
 */
export interface Permit {
  /**
   * Resolves to a release function (idempotent) once a place is free.
   * @throws Refused when shed.
   */
  readonly acquire: (options: {
    /** Monotonic. */
    readonly deadlineAtMs: number;
    readonly priority: Priority;
    /** Leaves the queue; has no effect once a place was given. */
    readonly signal?: AbortSignal;
  }) => Promise<() => void>;
  /** Refuses everybody who waits: no slot will be free in time. */
  readonly refuseAll: () => void;
  readonly inFlight: () => number;
  readonly queued: () => number;
  /** What may run at once now. */
  readonly max: () => number;
  /** Places a refresh or a warm-up could take now without anybody waiting for them: 0 while people wait. */
  readonly spare: () => number;
  /** True while waits have been too long for a while: the queue is then newest first and short. */
  readonly overloaded: () => boolean;
}

export class Refused extends Error {
  override readonly name = 'Refused';
  readonly why: 'queue-full' | 'queue-expired' | 'left';

  constructor(why: Refused['why']) {
    super(`no permit: ${why}`);
    this.why = why;
  }
}

/** One error for each reason: its stack says nothing, and to capture one is most of what a refusal costs. */
const REFUSALS: Readonly<Record<Refused['why'], Refused>> = {
  'queue-full': new Refused('queue-full'),
  'queue-expired': new Refused('queue-expired'),
  left: new Refused('left'),
};

export interface PermitOptions {
  /** May change at any time, also below what runs; less than 1 counts as 1. */
  readonly max: () => number;
  readonly maxQueued: number;
  /** Of the engine: the bounds of waiting under overload are parts of it. */
  readonly deadlineMs: number;
  /** The longest that a client waits in all: a burst may take as long to clear. At least `deadlineMs`. */
  readonly patienceMs: number;
  readonly clock: Clock;
  /** False: first come, first served, bounded by deadlines and `maxQueued` alone. For comparison. */
  readonly shedding?: boolean;
}

export function createPermit(options: PermitOptions): Permit {
  const { clock, deadlineMs, patienceMs, maxQueued, shedding = true } = options;
  const waiting = createWaiting();
  const people = waiting.line('people');
  const places = createPlaces({
    max: options.max,
    guessMs: deadlineMs / 4,
    monotonicMs: clock.monotonicMs,
    onRelease: () => settle(clock.monotonicMs()),
  });
  const queue = createStandingQueue({ deadlineMs, patienceMs, answeredMs: places.answeredMs });
  const alarm = createAlarm({ clock, ring: (nowMs) => settle(nowMs) });

  const refuse = (who: readonly Waiter[], why: Refused['why']): void => {
    for (const waiter of who) if (waiting.remove(waiter)) waiter.refuse(why);
  };

  const next = (): Waiter | undefined => {
    const priority = PRIORITIES.find((each) => waiting.line(each).length > 0);
    if (priority === undefined || places.room(priority) === 0) return undefined;
    return priority === 'people' ? queue.next(people) : waiting.line(priority)[0];
  };

  /** Whatever happened: who must go goes, who may run runs, and the alarm knows of the next who might have to go. */
  const settle = (nowMs: number): void => {
    refuse(waiting.late(nowMs), 'queue-expired');
    if (shedding) shed(nowMs);
    for (let waiter = next(); waiter !== undefined; waiter = next()) {
      waiting.remove(waiter);
      if (waiter.priority === 'people') queue.served();
      waiter.admit();
    }
    if (people.length === 0 && places.room('people') > 0) queue.over();
    if (waiting.size() === 0) alarm.clear();
    else
      alarm.atLatest(Math.min(waiting.quietUntilMs(), shedding ? queue.judgeAtMs(people) : Number.POSITIVE_INFINITY));
  };

  const shed = (nowMs: number): void => {
    refuse(queue.judge(people, nowMs), 'queue-expired');
    // An engine that sheds people has nothing left for anybody else.
    if (queue.overloaded()) refuse(waiting.lessUrgentThanPeople(), 'queue-full');
  };

  /** In a full queue the least urgent makes room: the oldest of them, where the oldest is not about to be served. */
  const makeRoom = (): void => {
    if (waiting.size() <= maxQueued) return;
    const least = PRIORITIES.findLast((priority) => waiting.line(priority).length > 0) ?? 'people';
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
          resolve(places.take(priority));
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
    acquire: async ({ deadlineAtMs, priority, signal }) => {
      if (signal?.aborted) throw REFUSALS.left;
      // Before whoever waits is looked at: a place that has just been added is not a refresh's while a person stands here.
      if (priority === 'people' && people.length === 0 && places.room('people') > 0) return places.take('people');
      // The places may have become more since the last release.
      if (waiting.size() > 0) settle(clock.monotonicMs());
      if (places.room(priority) > 0) return places.take(priority);
      if (deadlineAtMs <= clock.monotonicMs()) throw REFUSALS['queue-expired'];
      if (queue.overloaded() && priority !== 'people') throw REFUSALS['queue-full'];
      return wait(priority, deadlineAtMs, signal);
    },
    refuseAll: () => {
      refuse(
        PRIORITIES.flatMap((priority) => waiting.line(priority)),
        'queue-expired',
      );
      settle(clock.monotonicMs());
    },
    inFlight: places.inFlight,
    queued: waiting.size,
    max: places.max,
    spare: () => (people.length > 0 ? 0 : Math.max(0, places.room('refresh') - waiting.size())),
    overloaded: queue.overloaded,
  };
}

/** Counts the calls that run, by priority, and measures how long they stay. */
export interface Places {
  readonly inFlight: () => number;
  readonly max: () => number;
  /** How many more of this priority may start now. */
  readonly room: (priority: Priority) => number;
  /** Idempotent release. */
  readonly take: (priority: Priority) => () => void;
  /**
   * Until `waiting` more calls would all have started and the last of them ended, at the mean duration of calls. The calls
   * under way tell of an engine that has become slower before the first of them is back.
   */
  readonly answeredMs: (waiting: number) => number;
}

export interface PlacesOptions {
  /** A call's duration until the first has ended. */
  readonly guessMs: number;
  /** May change at any time; less than 1 counts as 1. */
  readonly max: () => number;
  readonly monotonicMs: () => number;
  readonly onRelease: () => void;
}

/** The part of all places that a priority and everything less urgent may hold together: people always find most of them. */
const SHARE: Readonly<Record<Priority, number>> = { people: 1, refresh: 1 / 2, 'warm-up': 1 / 4, shadow: 1 / 4 };
/** Duration of a call ÷ mean age of the calls under way: 1 just before they end together, 2 when they began in turn. */
const AGE_FACTOR = 1.5;
/** Weight of the newest stay in the mean of all. */
const STAY_WEIGHT = 0.1;

export function createPlaces(options: PlacesOptions): Places {
  const { monotonicMs, onRelease } = options;
  const held: Record<Priority, number> = { people: 0, refresh: 0, 'warm-up': 0, shadow: 0 };
  let inFlight = 0;
  /** Sum over the calls that run. */
  let sumOfStartsMs = 0;
  let meanStayMs: number | undefined;
  const callMs = (): number => Math.max(meanStayMs ?? options.guessMs, AGE_FACTOR * meanAgeMs());

  const max = (): number => {
    const asked = options.max();
    return asked >= 1 ? Math.floor(asked) : 1;
  };

  const room = (priority: Priority): number => {
    const places = max();
    let left = places - inFlight;
    let heldFromHere = inFlight;
    for (const each of PRIORITIES) {
      left = Math.min(left, Math.max(1, Math.floor(places * SHARE[each])) - heldFromHere);
      heldFromHere -= held[each];
      if (each === priority) break;
    }
    return Math.max(0, left);
  };

  /** Calls that run longer than the mean show that an engine has just become slow, before the first of them is back. */
  const meanAgeMs = (): number => (inFlight === 0 ? 0 : monotonicMs() - sumOfStartsMs / inFlight);

  return {
    inFlight: () => inFlight,
    max,
    room,
    take: (priority) => {
      const startedAtMs = monotonicMs();
      held[priority] += 1;
      inFlight += 1;
      sumOfStartsMs += startedAtMs;
      let holds = true;
      return () => {
        if (!holds) return;
        holds = false;
        held[priority] -= 1;
        inFlight -= 1;
        // Sums of fractions keep a rounding error: none outlives a moment without calls.
        sumOfStartsMs = inFlight === 0 ? 0 : sumOfStartsMs - startedAtMs;
        const stayMs = monotonicMs() - startedAtMs;
        meanStayMs = meanStayMs === undefined ? stayMs : meanStayMs + STAY_WEIGHT * (stayMs - meanStayMs);
        onRelease();
      };
    },
    answeredMs: (waiting) => callMs() * (1 + waiting / max()),
  };
}

/** Who waits for an engine, most urgent first: an idle place goes to the first of them that wants it. */
export const PRIORITIES = ['people', 'refresh', 'warm-up', 'shadow'] as const;

export type Priority = (typeof PRIORITIES)[number];

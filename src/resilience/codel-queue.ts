import { PRIORITIES, type Priority } from './concurrency-limiter.ts';

/**
 * Tells a queue that stands from a burst that clears, by the wait of its oldest member (CoDel, ACM Queue 2012), and says
 * which waiter is next and which are shed (adaptive LIFO, "Fail at Scale", ACM Queue 2015).
 *
 * - Flowing: oldest first. A burst begins when the oldest has been older than the target for a whole interval.
 * - Burst: oldest first. Every waiter that will have its answer in time is kept, newcomers too; when one cannot be kept it
 *   is overload. For one patience "in time" is within the waiter's own, since a purge, after which the engine clears the
 *   queue, and a load that stays look alike at first: all are kept while the queue's rate is measured, and then as many as
 *   it serves at that rate. Later, and for a while after an overload, it is a part of the engine's deadline.
 * - Overload: waiters that were kept go first; after them newest first, and a waiter older than the target is shed. Answers
 *   are then within the engine's deadline or refused early.
 *
 * Burst and overload end when a slot is free and nobody waits.
 *
 * A waiter that is shed has waited no longer than target and interval together, or while the rate was measured; a longer
 * wait ends with a slot, unless the engine becomes slower meanwhile.
 */
export interface StandingQueue {
  readonly overloaded: () => boolean;
  /** Who of a line, oldest first, goes next. */
  readonly next: (line: readonly Waiter[]) => Waiter | undefined;
  /** Who of the line is to be shed now. */
  readonly judge: (line: readonly Waiter[], nowMs: number) => readonly Waiter[];
  /** When to judge again, should nothing happen before: Infinity for never. */
  readonly judgeAtMs: (line: readonly Waiter[]) => number;
  /** A waiter was given a slot. */
  readonly served: () => void;
  /** A place is free and nobody waits for it. */
  readonly over: () => void;
}

export interface StandingQueueOptions {
  readonly deadlineMs: number;
  /** The longest that a client waits in all. */
  readonly patienceMs: number;
  /** Until so many would all have their answers. */
  readonly answeredMs: (waiting: number) => number;
}

/** Parts of the deadline. Target and interval together stay under a tenth: no shed reply comes later than that. */
const TARGET = 0.04;
const INTERVAL = 0.05;
/** Share of the engine's deadline in which the rate of a burst is measured: no guess at how long calls take holds at first. */
const MEASURED = 0.5;
/** Share of its time left within which a waiter must get its answer by estimate. */
const PROMISED = 0.85;
/** Share of the engine's deadline for answers that are good for certain. */
const GOOD = 0.4;
/** Patiences without overload until a burst may take one again: under a load that stays the queue is empty at moments. */
const CALM = 5;

const NOBODY: readonly Waiter[] = [];

export function createStandingQueue(options: StandingQueueOptions): StandingQueue {
  const { deadlineMs, patienceMs, answeredMs } = options;
  const targetMs = TARGET * deadlineMs;
  const intervalMs = INTERVAL * deadlineMs;
  let state: 'flowing' | 'burst' | 'overload' = 'flowing';
  /** The patient part of a burst: when it began, the slots given since then, and whether those who waited were reviewed. */
  let patient: { readonly sinceMs: number; readonly untilMs: number; served: number; reviewed: boolean } | undefined;
  let overloadedAtMs = Number.NEGATIVE_INFINITY;
  /** Since when there was always somebody older than the target. */
  let sinceMs: number | undefined;

  const older = (line: readonly Waiter[], nowMs: number): readonly Waiter[] => {
    const from = line.findIndex((waiter) => !waiter.kept);
    if (from < 0) return NOBODY;
    const to = line.findIndex((waiter, at) => at >= from && nowMs - waiter.joinedAtMs < targetMs);
    return line.slice(from, to < 0 ? line.length : to);
  };

  /** Whether the queue stands: its oldest has been older than the target for an interval. */
  const stands = (line: readonly Waiter[], nowMs: number): boolean => {
    const oldest = line[0];
    if (oldest === undefined || nowMs - oldest.joinedAtMs < targetMs) {
      sinceMs = undefined;
      return false;
    }
    sinceMs ??= oldest.joinedAtMs + targetMs;
    return nowMs - sinceMs >= intervalMs;
  };

  const isPatient = (nowMs: number): boolean => patient !== undefined && nowMs < patient.untilMs;

  /** @param at its place in the line, from 1 */
  const isInTime = (waiter: Waiter, at: number, nowMs: number): boolean => {
    if (patient === undefined || !isPatient(nowMs)) return answeredMs(at) <= GOOD * deadlineMs;
    const elapsedMs = nowMs - patient.sinceMs;
    if (elapsedMs < MEASURED * deadlineMs) return true;
    // One more than was served: the next slot is under way.
    return (at * elapsedMs) / (patient.served + 1) + answeredMs(0) <= PROMISED * (waiter.deadlineAtMs - nowMs);
  };

  /** Keeps the waiters from that place on, up to the first that cannot be. @returns whether that is all of them */
  const keepFrom = (line: readonly Waiter[], from: number, nowMs: number): boolean => {
    let all = true;
    for (let at = from; at < line.length; at += 1) {
      const waiter = line[at];
      if (waiter === undefined) break;
      all &&= isInTime(waiter, at + 1, nowMs);
      waiter.kept = all;
    }
    return all;
  };

  /** Once, when the rate is known: the waiters kept until then that it does not reach are kept no longer. */
  const review = (line: readonly Waiter[], nowMs: number): void => {
    if (patient === undefined || patient.reviewed || nowMs - patient.sinceMs < MEASURED * deadlineMs) return;
    patient.reviewed = true;
    keepFrom(line, 0, nowMs);
  };

  /** Those kept before stand in front: a newcomer costs no look at all of a long queue. */
  const keepNewcomers = (line: readonly Waiter[], nowMs: number): boolean => {
    let from = line.length;
    while (line[from - 1]?.kept === false) from -= 1;
    return from === line.length || keepFrom(line, from, nowMs);
  };

  return {
    overloaded: () => state === 'overload',
    next: (line) => (state === 'overload' && line[0]?.kept === false ? line.at(-1) : line[0]),
    judge: (line, nowMs) => {
      if (state === 'flowing' && stands(line, nowMs)) {
        state = 'burst';
        const isCalm = nowMs - overloadedAtMs > CALM * patienceMs;
        patient = isCalm ? { sinceMs: nowMs, untilMs: nowMs + patienceMs, served: 0, reviewed: false } : undefined;
      }
      if (state === 'burst') review(line, nowMs);
      if (state === 'burst' && !keepNewcomers(line, nowMs)) state = 'overload';
      if (state !== 'overload') return NOBODY;
      overloadedAtMs = nowMs;
      return older(line, nowMs);
    },
    judgeAtMs: (line) => {
      switch (state) {
        case 'flowing':
          if (sinceMs !== undefined) return sinceMs + intervalMs;
          return line[0] === undefined ? Number.POSITIVE_INFINITY : line[0].joinedAtMs + targetMs;
        case 'burst':
          return patient === undefined || patient.reviewed
            ? Number.POSITIVE_INFINITY
            : patient.sinceMs + MEASURED * deadlineMs;
        case 'overload': {
          const oldest = line.find((waiter) => !waiter.kept);
          return oldest === undefined ? Number.POSITIVE_INFINITY : oldest.joinedAtMs + targetMs;
        }
      }
    },
    served: () => {
      if (patient !== undefined) patient.served += 1;
    },
    over: () => {
      patient = undefined;
      state = 'flowing';
      sinceMs = undefined;
    },
  };
}

/** One who waits for a place. */
export interface Waiter {
  readonly priority: Priority;
  readonly joinedAtMs: number;
  readonly deadlineAtMs: number;
  /** Not shed by age any more: it was judged old enough to be served. */
  kept: boolean;
  readonly admit: () => void;
  readonly refuse: (why: 'queue-full' | 'queue-expired' | 'left') => void;
}

/** Those who wait, one line per priority, each oldest first. */
export interface Waiting {
  readonly size: () => number;
  readonly line: (priority: Priority) => readonly Waiter[];
  readonly add: (waiter: Waiter) => void;
  /** False when it is no longer there. */
  readonly remove: (waiter: Waiter) => boolean;
  readonly lessUrgentThanPeople: () => Waiter[];
  /** Those whose deadline has passed. */
  readonly late: (nowMs: number) => readonly Waiter[];
  /** No deadline passes before; Infinity when nobody waits. */
  readonly quietUntilMs: () => number;
}

export function createWaiting(): Waiting {
  const lines: Readonly<Record<Priority, Waiter[]>> = { people: [], refresh: [], 'warm-up': [], shadow: [] };
  let size = 0;
  /** Everybody is looked at when this has come, not at every step: the queue may be long. */
  let quietUntilMs = Number.POSITIVE_INFINITY;
  return {
    size: () => size,
    line: (priority) => lines[priority],
    add: (waiter) => {
      lines[waiter.priority].push(waiter);
      size += 1;
      quietUntilMs = Math.min(quietUntilMs, waiter.deadlineAtMs);
    },
    remove: (waiter) => {
      const line = lines[waiter.priority];
      // Those admitted stand at either end.
      const at = line.at(-1) === waiter ? line.length - 1 : line.indexOf(waiter);
      if (at < 0) return false;
      line.splice(at, 1);
      size -= 1;
      if (size === 0) quietUntilMs = Number.POSITIVE_INFINITY;
      return true;
    },
    lessUrgentThanPeople: () => PRIORITIES.flatMap((priority) => (priority === 'people' ? [] : lines[priority])),
    late: (nowMs) => {
      if (nowMs < quietUntilMs) return NOBODY;
      const late: Waiter[] = [];
      quietUntilMs = Number.POSITIVE_INFINITY;
      for (const waiter of PRIORITIES.flatMap((priority) => lines[priority])) {
        if (waiter.deadlineAtMs <= nowMs) late.push(waiter);
        else quietUntilMs = Math.min(quietUntilMs, waiter.deadlineAtMs);
      }
      return late;
    },
    quietUntilMs: () => quietUntilMs,
  };
}

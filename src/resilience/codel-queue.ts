import type { ShedReason } from './search-error.ts';

/** The urgency of an engine call, most urgent first. A free slot goes to the first priority that has a waiter. */
export const PRIORITIES = ['interactive', 'refresh', 'warm-up', 'shadow'] as const;

export type Priority = (typeof PRIORITIES)[number];

export interface Waiter {
  readonly priority: Priority;
  readonly joinedAtMs: number;
  readonly deadlineAtMs: number;
  /** Not shed by age any more: it will be served. */
  kept: boolean;
  readonly admit: () => void;
  readonly refuse: (why: QueueRefusal) => void;
}

/** Ways to leave the queue without a slot. */
export type QueueRefusal = Extract<ShedReason, 'queue-full' | 'queue-expired'> | 'left';

interface CodelQueueOptions {
  readonly deadlineMs: number;
  /** Maximum time that a client waits in all. */
  readonly maxWaitMs: number;
  /** Estimated time until `waiting` more calls have all been answered. */
  readonly answeredMs: (waiting: number) => number;
}

/** Shares of the deadline. Target and interval together stay under a tenth: no shed reply comes later than that. */
const TARGET = 0.04;
const INTERVAL = 0.05;
/** Share of the deadline in which a burst's rate is measured: before its end no estimate of a call's duration is good. */
const MEASURED = 0.5;
/** A waiter is in time when the estimate of its answer is within this share of its remaining time. */
const PROMISED = 0.85;
/** Outside a grace period a waiter is in time when the estimate of its answer is within this share of the deadline. */
const GOOD = 0.4;
/** Number of `maxWaitMs` from an overload to the next grace period: the queue of a lasting load is empty at moments. */
const CALM = 5;

const NONE: readonly Waiter[] = [];

/**
 * Tells a standing queue from a burst that clears, by the wait of the oldest waiter (CoDel, ACM Queue 2012), and decides
 * which waiter is next and which are shed (adaptive LIFO, "Fail at Scale", ACM Queue 2015).
 *
 * - Flowing: oldest first. A burst begins when the oldest waiter has been older than the target for a whole interval.
 * - Burst: oldest first. Every waiter that will get its answer in time is kept, newcomers too. When one cannot be kept,
 *   overload begins. A burst begins with a grace period of one maximum wait, because a purge, after which the engine
 *   clears the queue, and a lasting overload look alike at first. In the grace period "in time" means within the waiter's
 *   own maximum wait: all are kept while the queue's rate is measured, and then as many as that rate serves. After it,
 *   and for a while after an overload, "in time" means within a share of the engine's deadline.
 * - Overload: kept waiters go first; after them newest first, and a waiter older than the target is shed. Answers are then
 *   within the engine's deadline or refused early.
 *
 * Burst and overload end when a slot is free and the queue is empty.
 *
 * A shed waiter has waited at most target plus interval, or the time in which the rate was measured. A longer wait ends
 * with a slot, unless the engine becomes slower meanwhile.
 */
export function createCodelQueue({ deadlineMs, maxWaitMs, answeredMs }: CodelQueueOptions) {
  const targetMs = TARGET * deadlineMs;
  const intervalMs = INTERVAL * deadlineMs;
  let state: 'flowing' | 'burst' | 'overload' = 'flowing';
  /** The grace period of a burst: when it began and ends, the slots given since, and whether the waiters were reviewed. */
  let grace: { readonly sinceMs: number; readonly untilMs: number; served: number; reviewed: boolean } | undefined;
  let overloadedAtMs = Number.NEGATIVE_INFINITY;
  /** Since this time there has always been a waiter older than the target. */
  let standingSinceMs: number | undefined;

  /** The waiters that are not kept and are older than the target. */
  const expired = (line: readonly Waiter[], nowMs: number): readonly Waiter[] => {
    const from = line.findIndex((waiter) => !waiter.kept);
    if (from < 0) return NONE;
    const to = line.findIndex((waiter, at) => at >= from && nowMs - waiter.joinedAtMs < targetMs);
    return line.slice(from, to < 0 ? line.length : to);
  };

  /** The oldest waiter has been older than the target for an interval. */
  const isStanding = (line: readonly Waiter[], nowMs: number): boolean => {
    const oldest = line[0];
    if (oldest === undefined || nowMs - oldest.joinedAtMs < targetMs) {
      standingSinceMs = undefined;
      return false;
    }
    standingSinceMs ??= oldest.joinedAtMs + targetMs;
    return nowMs - standingSinceMs >= intervalMs;
  };

  /** @param position in the line, from 1 */
  const isInTime = (waiter: Waiter, position: number, nowMs: number): boolean => {
    if (grace === undefined || nowMs >= grace.untilMs) return answeredMs(position) <= GOOD * deadlineMs;
    const elapsedMs = nowMs - grace.sinceMs;
    if (elapsedMs < MEASURED * deadlineMs) return true;
    // One more than was served, because the elapsed time includes a part of the wait for the next slot.
    const slotMs = (position * elapsedMs) / (grace.served + 1);
    return slotMs + answeredMs(0) <= PROMISED * (waiter.deadlineAtMs - nowMs);
  };

  /** Keeps the waiters from index `from` up to the first that would be late. @returns whether all are kept */
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

  /** Once, when the rate is known: waiters that the rate does not reach are no longer kept. */
  const review = (line: readonly Waiter[], nowMs: number): void => {
    if (grace === undefined || grace.reviewed || nowMs - grace.sinceMs < MEASURED * deadlineMs) return;
    grace.reviewed = true;
    keepFrom(line, 0, nowMs);
  };

  /** Kept waiters are in front, so that a newcomer is checked without a scan of a long queue. */
  const keepNewcomers = (line: readonly Waiter[], nowMs: number): boolean => {
    let from = line.length;
    while (line[from - 1]?.kept === false) from -= 1;
    return from === line.length || keepFrom(line, from, nowMs);
  };

  return {
    overloaded: (): boolean => state === 'overload',
    /** The waiter of `line` (oldest first) that gets the next slot. */
    next: (line: readonly Waiter[]): Waiter | undefined =>
      state === 'overload' && line[0]?.kept === false ? line.at(-1) : line[0],
    /** Updates the state; returns the waiters of `line` to shed now. */
    update: (line: readonly Waiter[], nowMs: number): readonly Waiter[] => {
      if (state === 'flowing' && isStanding(line, nowMs)) {
        state = 'burst';
        const isCalm = nowMs - overloadedAtMs > CALM * maxWaitMs;
        grace = isCalm ? { sinceMs: nowMs, untilMs: nowMs + maxWaitMs, served: 0, reviewed: false } : undefined;
      }
      if (state === 'burst') review(line, nowMs);
      if (state === 'burst' && !keepNewcomers(line, nowMs)) state = 'overload';
      if (state !== 'overload') return NONE;
      overloadedAtMs = nowMs;
      return expired(line, nowMs);
    },
    /** When to call `update` again if nothing happens before; Infinity for never. */
    nextUpdateAtMs: (line: readonly Waiter[]): number => {
      switch (state) {
        case 'flowing':
          if (standingSinceMs !== undefined) return standingSinceMs + intervalMs;
          return line[0] === undefined ? Number.POSITIVE_INFINITY : line[0].joinedAtMs + targetMs;
        case 'burst':
          return grace === undefined || grace.reviewed
            ? Number.POSITIVE_INFINITY
            : grace.sinceMs + MEASURED * deadlineMs;
        case 'overload': {
          const oldest = line.find((waiter) => !waiter.kept);
          return oldest === undefined ? Number.POSITIVE_INFINITY : oldest.joinedAtMs + targetMs;
        }
      }
    },
    onServed: (): void => {
      if (grace !== undefined) grace.served += 1;
    },
    /** A slot is free and the queue is empty. */
    onEmpty: (): void => {
      grace = undefined;
      state = 'flowing';
      standingSinceMs = undefined;
    },
  };
}

/** The waiters of a limiter: one line per priority, each oldest first. */
export function createWaitingLines() {
  const lines: Readonly<Record<Priority, Waiter[]>> = { interactive: [], refresh: [], 'warm-up': [], shadow: [] };
  let size = 0;
  /** All waiters are checked only when this time has come, because the queue may be long. */
  let noDeadlineBeforeMs = Number.POSITIVE_INFINITY;
  return {
    size: (): number => size,
    line: (priority: Priority): readonly Waiter[] => lines[priority],
    add: (waiter: Waiter): void => {
      lines[waiter.priority].push(waiter);
      size += 1;
      noDeadlineBeforeMs = Math.min(noDeadlineBeforeMs, waiter.deadlineAtMs);
    },
    /** False when it has left already. */
    remove: (waiter: Waiter): boolean => {
      const line = lines[waiter.priority];
      // An admitted waiter is at either end of the line.
      const at = line.at(-1) === waiter ? line.length - 1 : line.indexOf(waiter);
      if (at < 0) return false;
      line.splice(at, 1);
      size -= 1;
      if (size === 0) noDeadlineBeforeMs = Number.POSITIVE_INFINITY;
      return true;
    },
    /** The waiters of every priority below `interactive`. */
    background: (): Waiter[] => PRIORITIES.flatMap((priority) => (priority === 'interactive' ? [] : lines[priority])),
    pastDeadline: (nowMs: number): readonly Waiter[] => {
      if (nowMs < noDeadlineBeforeMs) return NONE;
      const late: Waiter[] = [];
      noDeadlineBeforeMs = Number.POSITIVE_INFINITY;
      for (const waiter of PRIORITIES.flatMap((priority) => lines[priority])) {
        if (waiter.deadlineAtMs <= nowMs) late.push(waiter);
        else noDeadlineBeforeMs = Math.min(noDeadlineBeforeMs, waiter.deadlineAtMs);
      }
      return late;
    },
    /** No deadline passes before this time; Infinity when the lines are empty. */
    noDeadlineBeforeMs: (): number => noDeadlineBeforeMs,
  };
}

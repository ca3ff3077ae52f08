import type { Waiter } from './waiting.ts';

/**
 * Tells a queue that stands from a burst that clears, by how long the oldest has waited (CoDel, ACM Queue 2012), and says
 * who goes first and who is shed (adaptive LIFO, "Fail at Scale", ACM Queue 2015).
 *
 * Normal: oldest first. Once the oldest has been older than the target for a whole interval there is a verdict: if all who
 * wait would be served soon they are kept, whatever comes; otherwise it is overload: as many of the oldest as can be served
 * well before their deadline are kept, once, and go first; from then on newest first, and who is older than the target is shed
 * at once. So a cache that is lost at one blow has what its engine can do answered, and not only what runs already; whoever
 * is shed has waited no longer than target and interval together, and a wait longer than that ends with a place, unless the
 * engine becomes slower meanwhile. Overload ends when a place is free and nobody waits.
 */
export interface StandingQueue {
  readonly overloaded: () => boolean;
  /** Who of a line, oldest first, goes next. */
  readonly next: (line: readonly Waiter[]) => Waiter | undefined;
  /** Who of the line is to be shed now. */
  readonly judge: (line: readonly Waiter[], nowMs: number) => readonly Waiter[];
  /** When to judge again, should nothing happen before: Infinity for never. */
  readonly judgeAtMs: (line: readonly Waiter[]) => number;
  /** A place is free and nobody waits for it. */
  readonly over: () => void;
}

export interface StandingQueueOptions {
  readonly deadlineMs: number;
  /** Until so many would all have been served. */
  readonly clearingMs: (waiting: number) => number;
  /** The same, taken carefully. */
  readonly promisedMs: (waiting: number) => number;
}

/** Parts of the deadline. Target and interval together stay under a tenth: no shed reply comes later than that. */
const TARGET = 0.04;
const INTERVAL = 0.05;
/** A queue that clears in this time harms nobody. */
const PATIENCE = 0.25;
/** Who starts by then has as much time again for the engine's answer. */
const PROMISED = 0.5;

const NOBODY: readonly Waiter[] = [];

export function createStandingQueue({ deadlineMs, clearingMs, promisedMs }: StandingQueueOptions): StandingQueue {
  const targetMs = TARGET * deadlineMs;
  const intervalMs = INTERVAL * deadlineMs;
  let overloaded = false;
  /** Since when there was always somebody older than the target. */
  let sinceMs: number | undefined;

  const older = (line: readonly Waiter[], nowMs: number): readonly Waiter[] => {
    const from = line.findIndex((waiter) => !waiter.kept);
    if (from < 0) return NOBODY;
    const to = line.findIndex((waiter, at) => at >= from && nowMs - waiter.joinedAtMs < targetMs);
    return line.slice(from, to < 0 ? line.length : to);
  };

  return {
    overloaded: () => overloaded,
    next: (line) => (overloaded && line[0]?.kept === false ? line.at(-1) : line[0]),
    judge: (line, nowMs) => {
      if (overloaded) return older(line, nowMs);
      const oldest = line.find((waiter) => !waiter.kept);
      if (oldest === undefined || nowMs - oldest.joinedAtMs < targetMs) {
        sinceMs = undefined;
        return NOBODY;
      }
      sinceMs ??= oldest.joinedAtMs + targetMs;
      if (nowMs - sinceMs < intervalMs) return NOBODY;
      sinceMs = undefined;
      if (clearingMs(line.length) <= PATIENCE * deadlineMs) {
        for (const waiter of line) waiter.kept = true;
        return NOBODY;
      }
      overloaded = true;
      for (const [at, waiter] of line.entries()) waiter.kept ||= promisedMs(at + 1) <= PROMISED * deadlineMs;
      return older(line, nowMs);
    },
    judgeAtMs: (line) => {
      if (sinceMs !== undefined) return sinceMs + intervalMs;
      const oldest = line.find((waiter) => !waiter.kept);
      return oldest === undefined ? Number.POSITIVE_INFINITY : oldest.joinedAtMs + targetMs;
    },
    over: () => {
      overloaded = false;
      sinceMs = undefined;
    },
  };
}

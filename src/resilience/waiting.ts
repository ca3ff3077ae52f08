import { PRIORITIES, type Priority } from './priority.ts';

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

const NOBODY: readonly Waiter[] = [];

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

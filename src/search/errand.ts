import { PRIORITIES, type Priority } from '../resilience/priority.ts';

/**
 * What a flight wants at present. It changes under way: a person who joins a refresh makes it urgent at once; and when
 * its turn in the queue has expired, it takes another one if somebody has joined since, because under overload the newest
 * is served first and a flight is as new as its latest follower.
 */
export interface Errand {
  readonly priority: () => Priority;
  /** Monotonic; past it nobody waits for the flight any more. */
  readonly deadlineAtMs: () => number;
  /** Begins a turn; aborted when it is to be taken anew or not at all. */
  readonly turn: () => AbortSignal;
  /** Somebody joined since the turn began. */
  readonly renewed: () => boolean;
  readonly press: (priority: Priority, deadlineAtMs: number) => void;
  /** The engine is asked now, by this process or by another one that holds the lease. */
  readonly ask: () => void;
  /** Resolved by the first `ask`. */
  readonly asked: Promise<void>;
  /** The answer came from elsewhere. */
  readonly leave: () => void;
  readonly left: () => boolean;
}

export function createErrand(first: Priority, firstDeadlineAtMs: number): Errand {
  let priority = first;
  let deadlineAtMs = firstDeadlineAtMs;
  let left = false;
  let renewed = false;
  let turn = new AbortController();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  return {
    priority: () => priority,
    deadlineAtMs: () => deadlineAtMs,
    turn: () => {
      renewed = false;
      if (!left) turn = new AbortController();
      return turn.signal;
    },
    renewed: () => renewed,
    press: (wanted, wantedAtMs) => {
      deadlineAtMs = Math.max(deadlineAtMs, wantedAtMs);
      renewed = true;
      if (PRIORITIES.indexOf(wanted) >= PRIORITIES.indexOf(priority)) return;
      priority = wanted;
      turn.abort();
    },
    ask,
    asked,
    leave: () => {
      left = true;
      turn.abort();
    },
    left: () => left,
  };
}

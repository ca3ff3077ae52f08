import { PRIORITIES, type Priority } from '../resilience/codel-queue.ts';
import type { Span } from './trace.ts';

/**
 * The priority and the deadline of a load. Both change while it runs: a client that joins a refresh raises its priority
 * at once. When an attempt to get a permit has expired, the load makes another one if a caller has joined since: under
 * overload the newest waiter is served first, and a load is as new as its latest client.
 */
export interface LoadContext {
  readonly priority: () => Priority;
  /** Monotonic time: the latest deadline of the clients. */
  readonly deadlineAtMs: () => number;
  /** Begins an attempt to get a permit. The signal ends the attempt: another one is due, or the load is cancelled. */
  readonly attempt: () => AbortSignal;
  /** Whether a caller has joined since the attempt began. */
  readonly hasNewWaiters: () => boolean;
  /** Another caller joins. A higher priority ends the attempt. */
  readonly escalate: (priority: Priority, deadlineAtMs: number) => void;
  /** Called when the engine call begins, in this process or in the one that holds the lease. */
  readonly begin: (where: 'here' | 'elsewhere') => void;
  /** Resolved by the first `begin`. */
  readonly begun: Promise<void>;
  readonly begunHere: () => boolean;
  /** The page came from elsewhere: the load gives up. */
  readonly cancel: () => void;
  readonly cancelled: () => boolean;
  /** The load's span, from its start on. */
  span?: Span | undefined;
}

export function createLoadContext(firstPriority: Priority, firstDeadlineAtMs: number): LoadContext {
  let priority = firstPriority;
  let deadlineAtMs = firstDeadlineAtMs;
  let cancelled = false;
  let joined = false;
  let begunHere = false;
  let attempt = new AbortController();
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  return {
    priority: () => priority,
    deadlineAtMs: () => deadlineAtMs,
    attempt: () => {
      joined = false;
      if (!cancelled) attempt = new AbortController();
      return attempt.signal;
    },
    hasNewWaiters: () => joined,
    escalate: (wanted, wantedAtMs) => {
      deadlineAtMs = Math.max(deadlineAtMs, wantedAtMs);
      joined = true;
      if (PRIORITIES.indexOf(wanted) >= PRIORITIES.indexOf(priority)) return;
      priority = wanted;
      attempt.abort();
    },
    begin: (where) => {
      begunHere ||= where === 'here';
      resolve();
    },
    begun,
    begunHere: () => begunHere,
    cancel: () => {
      cancelled = true;
      attempt.abort();
    },
    cancelled: () => cancelled,
  };
}

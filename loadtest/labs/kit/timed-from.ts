/** How late a timer of one millisecond may be: below it, waiting for the timer is no latency of what is measured. */
const TIMER_MS = 2.5;

/**
 * From when on what is sent at a rate is timed: from when it was due, so that a standstill is seen by everything that was
 * due meanwhile, and not only by the one that was under way.
 */
export function timedFrom(dueMs: number, nowMs: number): number {
  return nowMs - dueMs < TIMER_MS ? nowMs : dueMs;
}

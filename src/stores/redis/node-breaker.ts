import type { StoreNode } from '../../cache/store.ts';
import type { Clock } from '../../clock.ts';

/**
 * One node's breaker: open, it costs the node's keys a miss in ~0 ms and the other nodes nothing. Our own rather than
 * opossum, measured on Node 24 around a bare async call: 33 ns more per call against 400 ns, under 0.1 µs per refusal
 * against 4 µs, because there is no promise, timer or error object in it.
 */
export interface NodeBreaker {
  readonly state: () => StoreNode['breaker'];
  /** Whether a command would be refused now; spends nothing. */
  readonly refuses: () => boolean;
  /** Leave to send one command; to be booked exactly once. Undefined when refused. */
  readonly enter: () => Pass | undefined;
  /** `unknown`: it says nothing about the node (our own stall, no room). */
  readonly book: (pass: Pass, outcome: 'answered' | 'failed' | 'unknown') => void;
  /** What the node says cannot be trusted: opens without waiting for more. */
  readonly trip: () => void;
  /** The node has just proved to be alive (a new connection is ready): probe now rather than later. */
  readonly revive: () => void;
}

/** The era it was given in: a command begun before a change of state says nothing about the state after it. */
export type Pass = number;

export interface NodeBreakerOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly onState: (state: StoreNode['breaker']) => void;
}

/** So many failures in a row open it, however slow the traffic. */
const CONSECUTIVE_FAILURES = 5;
/** Or this share of at least so many commands in the last one to two windows: a node that answers every other read. */
const FAILURE_RATIO = 0.5;
const MIN_VOLUME = 20;
const WINDOW_MS = 1000;
/** A probe costs one reader one deadline, so it is cheap to look often. ±25 %, so that a fleet does not look at once. */
const RESET_MS = 1000;

export function createNodeBreaker({ clock, random, onState }: NodeBreakerOptions): NodeBreaker {
  let state: StoreNode['breaker'] = 'closed';
  let era = 1;
  let probing = false;
  let probeAtMs = 0;
  let revivedMs = Number.NEGATIVE_INFINITY;
  let inARow = 0;
  let windowEndMs = 0;
  let current = { total: 0, failed: 0 };
  let previous = { total: 0, failed: 0 };

  const enterState = (next: StoreNode['breaker']): void => {
    state = next;
    era += 1;
    probing = false;
    inARow = 0;
    current = { total: 0, failed: 0 };
    previous = { total: 0, failed: 0 };
    if (next === 'open') probeAtMs = clock.monotonicMs() + RESET_MS * (0.75 + random() / 2);
    onState(next);
  };

  const tooManyFailures = (failed: boolean): boolean => {
    const nowMs = clock.monotonicMs();
    if (nowMs >= windowEndMs) {
      previous = nowMs < windowEndMs + WINDOW_MS ? current : { total: 0, failed: 0 };
      current = { total: 0, failed: 0 };
      windowEndMs = nowMs + WINDOW_MS;
    }
    current.total += 1;
    if (failed) current.failed += 1;
    inARow = failed ? inARow + 1 : 0;
    if (!failed) return false;
    const total = current.total + previous.total;
    return (
      inARow >= CONSECUTIVE_FAILURES ||
      (total >= MIN_VOLUME && current.failed + previous.failed >= total * FAILURE_RATIO)
    );
  };

  const refuses = (): boolean => {
    if (state === 'closed') return false;
    return state === 'half-open' ? probing : clock.monotonicMs() < probeAtMs;
  };

  return {
    state: () => state,
    refuses,
    enter() {
      if (refuses()) return undefined;
      if (state === 'open') enterState('half-open');
      if (state === 'half-open') probing = true;
      return era;
    },
    book(pass, outcome) {
      if (pass !== era) return;
      if (state === 'half-open') {
        if (outcome === 'unknown') probing = false;
        else enterState(outcome === 'answered' ? 'closed' : 'open');
        return;
      }
      if (outcome !== 'unknown' && tooManyFailures(outcome === 'failed')) enterState('open');
    },
    trip() {
      if (state !== 'open') enterState('open');
    },
    revive() {
      const nowMs = clock.monotonicMs();
      // A node whose every connection breaks at its first command would be probed, and connected to, without a pause.
      if (state === 'open' && nowMs - revivedMs >= RESET_MS) {
        probeAtMs = nowMs;
        revivedMs = nowMs;
      }
    },
  };
}

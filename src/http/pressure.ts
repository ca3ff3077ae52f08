import type { Clock } from '../clock.ts';
import { createLoopDelay } from './loop-delay.ts';

/**
 * What the process can take. `@fastify/under-pressure` is not used: it is a hook of Fastify, and a hit is answered before
 * Fastify is asked; it looks once a second, knows nothing of searches in flight, and refuses hits as well, which cost no
 * more than the refusal.
 */
export interface Pressure {
  /** A place for a search that memory cannot answer; false: shed it. Whoever got one leaves it. */
  readonly enter: () => boolean;
  readonly leave: () => void;
  /** The event loop is past its bound: whatever costs more than its refusal is to be shed, hits too. */
  readonly isLate: () => boolean;
  readonly status: () => PressureStatus;
  readonly close: () => void;
}

export interface PressureStatus {
  readonly inFlight: number;
  readonly maxInFlight: number;
  readonly loopDelayMs: number;
  readonly maxLoopDelayMs: number;
  /** `degraded`: near its bounds for a while now. `down`: past them, so that only what memory holds is answered. */
  readonly state: 'ok' | 'degraded' | 'down';
  /** False: a balancer should look elsewhere. A burst of a moment is shed without that. */
  readonly ready: boolean;
}

export interface PressureOptions {
  readonly clock: Clock;
  readonly maxInFlight: number;
  readonly maxLoopDelayMs: number;
}

/** Degraded from these shares of the bounds, so that a balancer looks elsewhere before anybody is refused. */
const WARN_IN_FLIGHT = 0.75;
const WARN_LOOP_DELAY = 0.5;
/** A batch or a collection passes in less, and a balancer should not hear of it. */
const SUSTAINED_MS = 500;

export function createPressure({ clock, maxInFlight, maxLoopDelayMs }: PressureOptions): Pressure {
  let inFlight = 0;
  /** When a sample first was above the warning, without one below since. */
  let warnedSinceMs: number | undefined;
  const delay = createLoopDelay(clock, (nowMs) => {
    const isHigh = inFlight >= maxInFlight * WARN_IN_FLIGHT || delay.currentMs() >= maxLoopDelayMs * WARN_LOOP_DELAY;
    warnedSinceMs = isHigh ? (warnedSinceMs ?? nowMs) : undefined;
  });

  const isLate = (): boolean => delay.currentMs() > maxLoopDelayMs;
  const isFull = (): boolean => inFlight >= maxInFlight || isLate();
  const isReady = (): boolean => warnedSinceMs === undefined || clock.monotonicMs() - warnedSinceMs < SUSTAINED_MS;

  return {
    enter: () => {
      if (isFull()) return false;
      inFlight += 1;
      return true;
    },
    leave: () => {
      inFlight -= 1;
    },
    isLate,
    status: () => {
      const ready = isReady();
      const state = isFull() ? 'down' : ready ? 'ok' : 'degraded';
      return { inFlight, maxInFlight, loopDelayMs: delay.currentMs(), maxLoopDelayMs, state, ready };
    },
    close: delay.close,
  };
}

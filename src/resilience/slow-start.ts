/**
 * The way back of an engine that was away: a part of the limit that climbs from a tenth to the whole, so that what waited
 * for it does not throw it down again.
 */
export interface Ramp {
  /** The breaker has closed again. Begins anew when it was under way. */
  readonly begin: () => void;
  /** 0.1–1; 1 when nothing happened. */
  readonly factor: () => number;
}

export interface RampOptions {
  readonly monotonicMs: () => number;
  /** Default 5 s: longer than the window of the breaker, so that an engine that is still ill is seen before it gets all. */
  readonly rampMs?: number;
}

const FIRST = 0.1;

export function createRamp({ monotonicMs, rampMs = 5000 }: RampOptions): Ramp {
  let beganAtMs = Number.NEGATIVE_INFINITY;
  return {
    begin: () => {
      beganAtMs = monotonicMs();
    },
    factor: () => Math.min(1, FIRST + (1 - FIRST) * Math.max(0, (monotonicMs() - beganAtMs) / rampMs)),
  };
}

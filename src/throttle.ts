/** At most so many lines per second; the first one let through afterwards tells how many were not. */
export interface Throttle {
  /** How many were held back since the last one let through, or undefined when this one is held back too. */
  readonly pass: () => number | undefined;
}

export function createThrottle(options: { readonly perSecond: number; readonly monotonicMs: () => number }): Throttle {
  let windowStartMs = Number.NEGATIVE_INFINITY;
  let passed = 0;
  let heldBack = 0;
  return {
    pass: () => {
      const nowMs = options.monotonicMs();
      if (nowMs - windowStartMs >= 1000) {
        windowStartMs = nowMs;
        passed = 0;
      }
      if (passed >= options.perSecond) {
        heldBack += 1;
        return undefined;
      }
      passed += 1;
      const before = heldBack;
      heldBack = 0;
      return before;
    },
  };
}

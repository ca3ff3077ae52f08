import type { StepLimits } from './step.ts';

/** Of steps in which nothing is meant to happen: as on the rungs of x-load, but for the hit ratio. */
export const CALM_LIMITS: StepLimits = {
  maxErrorRate: 0.001,
  abortErrorRate: 0.05,
  maxP99Ms: 500,
  shedsAllowed: false,
};

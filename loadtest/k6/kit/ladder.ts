import type { StepLimits, StepWish } from './step.ts';

export interface LadderOptions {
  readonly baseRps: number;
  readonly multipliers: readonly number[];
  readonly rampSeconds: number;
  readonly holdSeconds: number;
  readonly limits: StepLimits;
}

/** Rungs `x1`, `x1.5`, `x3` …: the same stretch at a growing rate. */
export function ladder({ baseRps, multipliers, rampSeconds, holdSeconds, limits }: LadderOptions): readonly StepWish[] {
  return multipliers.map((multiplier) => ({
    // k6 takes no dots in the names of scenarios.
    name: `x${String(multiplier).replace('.', '-')}`,
    title: `${multiplier} times the base rate`,
    rampSeconds,
    holdSeconds,
    ratePerSecond: baseRps * multiplier,
    multiplier,
    limits,
  }));
}

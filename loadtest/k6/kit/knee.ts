import type { Knee, StepSummary } from './summary.ts';

/** The steps of a ladder: each with more than all before it. A way back down is no rung. */
export function rungsOf(steps: readonly StepSummary[]): readonly StepSummary[] {
  let highest = 0;
  return steps.filter(({ step: { multiplier, limits } }) => {
    if (multiplier === undefined || limits === undefined || multiplier <= highest) return false;
    highest = multiplier;
    return true;
  });
}

/** Where a ladder stopped to hold: undefined where no step is a rung. */
export function kneeOf(steps: readonly StepSummary[]): Knee | undefined {
  const rungs = rungsOf(steps);
  if (rungs.length === 0) return undefined;
  const end = rungs.findIndex(({ result }) => result !== 'held');
  const held = rungs[(end === -1 ? rungs.length : end) - 1]?.step.name;
  // A rung that was never reached says nothing, and neither does what is above it.
  const broke = rungs[end]?.result === 'broke' ? rungs[end].step.name : undefined;
  return { ...(held === undefined ? {} : { held }), ...(broke === undefined ? {} : { broke }) };
}

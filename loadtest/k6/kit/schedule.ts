import { holdOf, type Step } from './step.ts';
import type { Stint } from './stint.ts';

/** The step whose rate holds at that moment of the run; undefined during ramps. */
export function stepAt(steps: readonly Step[], elapsedSeconds: number): Step | undefined {
  return steps.find((step) => {
    const [from, to] = holdOf(step);
    return elapsedSeconds >= from && elapsedSeconds < to;
  });
}

/** The number of a stint's first search, by its name: no two of them ask with the same number. */
export function firstNumbers(stints: readonly Stint[]): ReadonlyMap<string, number> {
  let next = 0;
  return new Map(
    stints.map(({ name, steps }) => {
      const first = next;
      const rate = Math.max(...steps.map((step) => step.ratePerSecond * step.searchesPerRequest));
      // A ramp sends less than its end, so this is more than there will be.
      next += Math.ceil(steps.reduce((sum, step) => sum + step.rampSeconds + step.holdSeconds + 1, 0) * rate);
      return [name, first];
    }),
  );
}

export function lastSecond(steps: readonly Step[]): number {
  return steps.reduce((last, step) => Math.max(last, holdOf(step)[1]), 0);
}

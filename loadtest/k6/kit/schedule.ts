import { holdOf, type Step } from './step.ts';

/** The step whose rate holds at that moment of the run; undefined during ramps. */
export function stepAt(steps: readonly Step[], elapsedSeconds: number): Step | undefined {
  return steps.find((step) => {
    const [from, to] = holdOf(step);
    return elapsedSeconds >= from && elapsedSeconds < to;
  });
}

/** The number of a step's first search: no two steps ask with the same number. */
export function firstNumbers(steps: readonly Step[]): ReadonlyMap<string, number> {
  let next = 0;
  return new Map(
    steps.map(({ name, rampSeconds, holdSeconds, ratePerSecond, searchesPerRequest }) => {
      const first = next;
      // A ramp sends less than its end, so this is more than there will be.
      next += Math.ceil((rampSeconds + holdSeconds + 1) * ratePerSecond * searchesPerRequest);
      return [name, first];
    }),
  );
}

export function lastSecond(steps: readonly Step[]): number {
  return steps.reduce((last, step) => Math.max(last, holdOf(step)[1]), 0);
}

import { holdOf, type Step } from './step.ts';

/**
 * Steps without a break between them, sent by the same virtual users: one scenario of k6, named for its first step. Two
 * scenarios that touch would each want all their users at once, and the second would connect anew.
 */
export interface Stint {
  readonly name: string;
  readonly steps: readonly Step[];
}

export function stintsOf(steps: readonly Step[]): readonly Stint[] {
  const stints: { name: string; steps: Step[] }[] = [];
  for (const step of steps) {
    const current = stints[stints.length - 1];
    if (step.goesOn === true && current !== undefined) current.steps.push(step);
    else stints.push({ name: step.name, steps: [step] });
  }
  return stints;
}

/** Its step at that time since its start, and whether the rate holds then. What comes late belongs to the last one. */
export function momentOf({ steps }: Stint, sinceStartMs: number): { readonly step: Step; readonly holds: boolean } {
  const [first] = steps;
  if (first === undefined) throw new Error('a stint without a step');
  const seconds = first.startSeconds + sinceStartMs / 1000;
  const step = steps.findLast(({ startSeconds }) => startSeconds <= seconds) ?? first;
  const [from, to] = holdOf(step);
  return { step, holds: seconds >= from && seconds < to };
}

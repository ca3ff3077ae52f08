import { holdOf } from '../k6/kit/step.ts';
import type { ScriptSummary, StepSummary } from '../k6/kit/summary.ts';
import type { Sample } from '../sample/sample.ts';

/** Wall clock, ms. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** While the step's rate held: shorter than planned where the run ended in it, of no length where it ended before. */
export function holdWindow({ startedAtMs }: ScriptSummary, { step, seconds }: StepSummary): Stretch {
  const [fromSeconds] = holdOf(step);
  const fromMs = startedAtMs + fromSeconds * 1000;
  return { fromMs, toMs: fromMs + Math.max(0, Math.min(step.holdSeconds, seconds)) * 1000 };
}

export function samplesIn(samples: readonly Sample[], { fromMs, toMs }: Stretch): readonly Sample[] {
  return samples.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
}

import { figuresBetween } from '../meter/figures.ts';
import type { Figures } from '../meter/reading.ts';
import { brokenHypothesis } from './guard-values.ts';
import { type Readings, shareInFlight } from './lookout.ts';
import type { GuardRule } from './plan.ts';

/** One stretch from a moment on, as a whole: the baseline, or the time after the cache was restored. */
export interface PhaseMeasure {
  readonly add: (nowMs: number, readings: Readings, sinceLast: Figures | undefined) => void;
  readonly figures: () => Figures | undefined;
  /** What of the steady-state hypothesis does not hold over it, in words. */
  readonly broken: (rules: readonly GuardRule[], baseline: Figures | undefined) => readonly string[];
}

export function createPhaseMeasure(fromMs: number): PhaseMeasure {
  let first: Readings | undefined;
  let latest: Readings | undefined;
  let shares = 0;
  let looks = 0;
  const figures = (): Figures | undefined =>
    first === undefined || latest === undefined || first === latest ? undefined : figuresBetween(first, latest);
  return {
    add: (nowMs, readings, sinceLast) => {
      if (nowMs < fromMs) return;
      latest = readings;
      first ??= readings;
      if (sinceLast === undefined || first === readings) return;
      for (const share of shareInFlight(sinceLast)) {
        shares += share;
        looks += 1;
      }
    },
    figures,
    broken: (rules, baseline) => {
      const measured = figures();
      if (measured === undefined) return [];
      return brokenHypothesis(rules, measured, looks === 0 ? undefined : shares / looks, baseline);
    },
  };
}

import type { CohortFigures, Figures } from '../../meter/reading.ts';
import type { GuardFigure } from '../plan.ts';
import { durationText, percentText, pointsText, timesText } from './number-text.ts';

/** How a guard's figure is called, shown and computed. */
export interface GuardWords {
  readonly name: string;
  readonly unit: string;
  readonly text: (value: number | undefined) => string;
}

export const GUARD_WORDS: Readonly<Record<GuardFigure, GuardWords>> = {
  errorRate: { name: 'Failed searches', unit: '% of searches', text: percentText },
  shedRate: { name: 'Shed searches', unit: '% of searches', text: percentText },
  p99Ms: { name: 'p99 of searches', unit: 'time', text: durationText },
  engineInFlightShare: { name: 'Engine places taken', unit: "% of the fleet's places", text: percentText },
  engineRateFactor: { name: 'Engine calls', unit: 'times the baseline', text: timesText },
  hitRatioDrop: { name: 'Hit ratio lost by the control cohort', unit: 'points', text: pointsText },
};

/** A cache that hits always has no engine calls to multiply: guards count the factor from one a second. */
const LEAST_CALLS_PER_SECOND = 1;
/** The control cohort is small: with fewer searches its ratio wavers, and guards do not look at it. */
const ENOUGH_CONTROL = 100;

/** The value of a guard's figure over a longer time; undefined where it cannot be told. */
export function guardValue(figure: GuardFigure, figures: Figures, baseline: Figures): number | undefined {
  switch (figure) {
    case 'errorRate':
      return figures.errorRate;
    case 'shedRate':
      return figures.shedRate;
    case 'p99Ms':
      return figures.p99Ms;
    case 'engineInFlightShare':
      return figures.engineCeiling > 0 ? figures.engineInFlight / figures.engineCeiling : undefined;
    case 'engineRateFactor':
      return figures.engineCallsPerSecond / Math.max(LEAST_CALLS_PER_SECOND, baseline.engineCallsPerSecond);
    case 'hitRatioDrop': {
      const [past, now] = [baseline.cohorts[0]?.hitRatio, enoughOf(figures)?.hitRatio];
      return past === undefined || now === undefined ? undefined : Math.max(0, (past - now) * 100);
    }
  }
}

function enoughOf({ cohorts: [control] }: Figures): CohortFigures | undefined {
  return control !== undefined && control.searches >= ENOUGH_CONTROL ? control : undefined;
}

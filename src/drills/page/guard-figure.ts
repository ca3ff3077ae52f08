import { durationText, percentText, pointsText, timesText } from '../../report/number-text.ts';
import type { GuardFigure } from '../plan.ts';

/** How a guard's figure is called and shown. */
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

import type { GuardFigure } from '../../drills/plan.ts';
import { percent } from '../admin/format.ts';

/** The value of a guard's figure in its own unit. */
export function guardValue(figure: GuardFigure, value: number): string {
  switch (figure) {
    case 'errorRate':
    case 'shedRate':
    case 'engineInFlightShare':
      return percent(value);
    case 'p99Ms':
      return `${Math.round(value)} ms`;
    case 'engineRateFactor':
      return `${value.toFixed(1)}×`;
    case 'hitRatioDrop':
      return `${value.toFixed(1)} points`;
  }
}

import type { Circle } from './circle.ts';
import type { Plan } from './plan.ts';

/** With fewer searches a cohort has no hit ratio to speak of: of three, one more miss is a third. */
export const ENOUGH_OF_COHORT = 20;
/** A baseline waits no longer for that many searches, and neither does a recovery: the rest cannot be expected. */
export const LONGEST_WAIT_MS = 60_000;

/** The expected traffic of a cohort: a mean over all cohorts that could be drawn. The one that is drawn may get less. */
export interface CohortForecast {
  /** The cohort's share of the keys, 0–1. */
  readonly share: number;
  /** Undefined without any traffic. */
  readonly searchesPerSecond?: number;
  /** Until there are `ENOUGH_OF_COHORT`. */
  readonly enoughMs?: number;
}

export interface CohortForecasts {
  readonly control: CohortForecast;
  /** By stage. */
  readonly stages: readonly CohortForecast[];
  /** Every stage together: the verdict rests on them. */
  readonly flushed: CohortForecast;
}

export function forecastCohorts(
  { stages, holdout }: Pick<Plan, 'stages' | 'holdout'>,
  circle: Pick<Circle, 'cohortShareOf'>,
  searchesPerSecond: number | undefined,
): CohortForecasts {
  const of = (share: number): CohortForecast => {
    const rate = (searchesPerSecond ?? 0) * share;
    if (rate <= 0) return { share };
    return { share, searchesPerSecond: rate, enoughMs: Math.ceil((ENOUGH_OF_COHORT * 1000) / rate) };
  };
  const shares = stages.map((_, place) => circle.cohortShareOf(place));
  const isOfFractions = stages.some(({ kind }) => kind === 'fraction');
  const flushed = isOfFractions ? shares.reduce((sum, share) => sum + share, 0) : (shares.at(-1) ?? 0);
  return { control: of(holdout), stages: shares.map(of), flushed: of(flushed) };
}

/** The cohorts that the verdict rests on, by their places: nodes and blackouts have one for all their stages. */
export function flushedCohorts({ stages }: Pick<Plan, 'stages'>): readonly number[] {
  const fractions = stages.flatMap(({ kind }, place) => (kind === 'fraction' ? [place + 1] : []));
  return fractions.length > 0 ? fractions : [stages.length];
}

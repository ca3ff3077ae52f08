import { BUCKETS } from '../../cache/invalidation.ts';
import { arc, type BucketRange } from '../../control/document.ts';
import type { Plan, Stage } from './plan.ts';

/** How far a fraction reaches: the holdout is never touched. */
export function widthOfFraction(fraction: number, holdout: number): number {
  const wanted = Math.max(1, Math.round(fraction * BUCKETS));
  return Math.min(wanted, BUCKETS - widthOfHoldout(holdout));
}

function widthOfHoldout(holdout: number): number {
  return Math.max(1, Math.round(holdout * BUCKETS));
}

/** How a drill divides the circle of buckets: stages from the offset on, the holdout last. */
export interface CohortLayout {
  /** What the stage flushes, all that stages before it flushed included. Empty for a blackout before any other stage. */
  readonly flushedBy: (stage: number) => readonly BucketRange[];
  /** The control cohort, then the cohort of each stage: what no stage before it touched. */
  readonly cohorts: readonly (readonly BucketRange[])[];
  /** The share of the keys that the stage flushes, 0–1; for a node its share of the store. */
  readonly shareOf: (stage: number) => number;
  /** The share of the keys in the stage's own cohort, 0–1. */
  readonly cohortShareOf: (stage: number) => number;
}

export function createCohortLayout(
  plan: Pick<Plan, 'stages' | 'holdout'>,
  offset: number,
  nodes: number,
): CohortLayout {
  const { stages, holdout } = plan;
  const kept = widthOfHoldout(holdout);
  const widthAfter = (stage: Stage, before: number): number => {
    switch (stage.kind) {
      case 'fraction':
        return widthOfFraction(stage.fraction, holdout);
      case 'node':
        return BUCKETS - kept;
      case 'blackout':
        return before;
    }
  };
  const widths: number[] = [];
  for (const stage of stages) widths.push(widthAfter(stage, widths.at(-1) ?? 0));
  const cohortOf = (stage: Stage, place: number): readonly BucketRange[] => {
    if (stage.kind !== 'fraction') return arc(offset, BUCKETS - kept);
    const before = widths[place - 1] ?? 0;
    return arc(offset + before, (widths[place] ?? 0) - before);
  };
  const cohorts = [arc(offset + BUCKETS - kept, kept), ...stages.map(cohortOf)];
  return {
    flushedBy: (stage) => arc(offset, widths[stage] ?? 0),
    cohorts,
    cohortShareOf: (stage) => (cohorts[stage + 1] ?? []).reduce((sum, { from, to }) => sum + to - from, 0) / BUCKETS,
    shareOf: (place) => {
      const lost = stages.slice(0, place + 1).filter(({ kind }) => kind === 'node').length;
      const ofNodes = lost > 0 && nodes > 0 ? Math.min(1, lost / nodes) : 1;
      return ((widths[place] ?? 0) / BUCKETS) * ofNodes;
    },
  };
}

/** The nodes whose keys the stage flushes, those of stages before it included; undefined: of all. */
export function nodesLostBy(
  stages: readonly Stage[],
  place: number,
  nodes: readonly string[],
): readonly string[] | undefined {
  const lost = stages.slice(0, place + 1).filter((stage) => stage.kind === 'node');
  if (lost.length === 0) return undefined;
  return lost.flatMap(({ node }) => nodes[node] ?? []);
}

export function stageTitle(plan: Pick<Plan, 'stages'>, place: number): string {
  const stage = plan.stages[place];
  if (stage?.title !== undefined) return stage.title;
  switch (stage?.kind) {
    case undefined:
      return `stage ${place + 1}`;
    case 'fraction':
      return stage.fraction === 1
        ? 'all but the holdout'
        : `${Number((stage.fraction * 100).toPrecision(4))} % of the keys`;
    case 'node':
      return `node ${stage.node + 1}`;
    case 'blackout':
      return 'engine away';
  }
}

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
  circle: Pick<CohortLayout, 'cohortShareOf'>,
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

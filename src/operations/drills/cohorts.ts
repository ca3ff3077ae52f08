import Type from 'typebox';
import { BUCKETS } from '../../cache/invalidation.ts';
import { arc, type BucketRange } from '../../control/document.ts';
import type { Decoded } from '../../schema/fields.ts';
import type { Plan, PlanStage } from './plan.ts';

/** Number of buckets that a fraction flushes: never those of the holdout. */
export function widthOfFraction(fraction: number, holdout: number): number {
  const wanted = Math.max(1, Math.round(fraction * BUCKETS));
  return Math.min(wanted, BUCKETS - widthOfHoldout(holdout));
}

function widthOfHoldout(holdout: number): number {
  return Math.max(1, Math.round(holdout * BUCKETS));
}

/** The division of the ring of buckets by a drill: the stages begin at the offset, and the holdout comes last. */
export type CohortLayout = ReturnType<typeof createCohortLayout>;

export function createCohortLayout(plan: Pick<Plan, 'stages' | 'holdout'>, offset: number, nodes: number) {
  const { stages, holdout } = plan;
  const holdoutWidth = widthOfHoldout(holdout);
  const widthAfter = (stage: PlanStage, before: number): number => {
    switch (stage.kind) {
      case 'fraction':
        return widthOfFraction(stage.fraction, holdout);
      case 'node':
        return BUCKETS - holdoutWidth;
      case 'blackout':
        return before;
    }
  };
  const widths: number[] = [];
  for (const stage of stages) widths.push(widthAfter(stage, widths.at(-1) ?? 0));
  const cohortOf = (stage: PlanStage, index: number): readonly BucketRange[] => {
    if (stage.kind !== 'fraction') return arc(offset, BUCKETS - holdoutWidth);
    const before = widths[index - 1] ?? 0;
    return arc(offset + before, (widths[index] ?? 0) - before);
  };
  const cohorts = [arc(offset + BUCKETS - holdoutWidth, holdoutWidth), ...stages.map(cohortOf)];
  return {
    /** Ranges that are flushed after the stage, earlier stages included. Empty for a blackout before any other stage. */
    flushedBy: (stage: number): readonly BucketRange[] => arc(offset, widths[stage] ?? 0),
    /** The control cohort, then the cohort of each stage: the keys that no earlier stage touched. */
    cohorts,
    /** Share of the keys in the stage's own cohort, 0–1. */
    cohortShareOf: (stage: number) =>
      (cohorts[stage + 1] ?? []).reduce((sum, { from, to }) => sum + to - from, 0) / BUCKETS,
    /** Share of the keys that the stage flushes, 0–1; for a node its share of the store. */
    shareOf: (index: number): number => {
      const lost = stages.slice(0, index + 1).filter(({ kind }) => kind === 'node').length;
      const nodeShare = lost > 0 && nodes > 0 ? Math.min(1, lost / nodes) : 1;
      return ((widths[index] ?? 0) / BUCKETS) * nodeShare;
    },
  };
}

/** The nodes whose keys are flushed after the stage, earlier stages included. Undefined: all nodes. */
export function nodesLostBy(
  stages: readonly PlanStage[],
  index: number,
  nodes: readonly string[],
): readonly string[] | undefined {
  const lost = stages.slice(0, index + 1).filter((stage) => stage.kind === 'node');
  if (lost.length === 0) return undefined;
  return lost.flatMap(({ node }) => nodes[node] ?? []);
}

export function stageTitle(plan: Pick<Plan, 'stages'>, index: number): string {
  const stage = plan.stages[index];
  if (stage?.title !== undefined) return stage.title;
  switch (stage?.kind) {
    case undefined:
      return `stage ${index + 1}`;
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

/** With fewer searches the hit ratio of a cohort means nothing: with three, one more miss is a third. */
export const MIN_COHORT_SEARCHES = 20;
/** Maximum time that a baseline or a recovery waits for these searches. */
export const MAX_COHORT_WAIT_MS = 60_000;

/** Expected traffic of a cohort: the mean over all cohorts that could be drawn. The drawn cohort may get less. */
const FORECAST = Type.Object({
  share: Type.Number({ description: 'Share of the keys, 0–1.' }),
  searchesPerSecond: Type.Optional(Type.Number()),
  enoughMs: Type.Optional(Type.Number({ description: 'Time until there are enough searches for a result.' })),
});
export type CohortForecast = Decoded<typeof FORECAST>;

/** `stages`: one each. `flushed`: all stages together, on which the verdict is based. */
export const COHORT_FORECASTS = Type.Object(
  { control: FORECAST, stages: Type.Array(FORECAST), flushed: FORECAST },
  { description: 'Expected searches of each cohort, on average, from the latest searches of this process.' },
);
export type CohortForecasts = Decoded<typeof COHORT_FORECASTS>;

export function forecastCohorts(
  { stages, holdout }: Pick<Plan, 'stages' | 'holdout'>,
  layout: Pick<CohortLayout, 'cohortShareOf'>,
  searchesPerSecond: number | undefined,
): CohortForecasts {
  const forecast = (share: number): CohortForecast => {
    const rate = (searchesPerSecond ?? 0) * share;
    if (rate <= 0) return { share };
    return { share, searchesPerSecond: rate, enoughMs: Math.ceil((MIN_COHORT_SEARCHES * 1000) / rate) };
  };
  const shares = stages.map((_, index) => layout.cohortShareOf(index));
  const hasFractions = stages.some(({ kind }) => kind === 'fraction');
  const flushed = hasFractions ? shares.reduce((sum, share) => sum + share, 0) : (shares.at(-1) ?? 0);
  return { control: forecast(holdout), stages: shares.map(forecast), flushed: forecast(flushed) };
}

/** Indexes of the cohorts that the verdict is based on. Stages of nodes and blackouts share one cohort. */
export function flushedCohorts({ stages }: Pick<Plan, 'stages'>): readonly number[] {
  const fractions = stages.flatMap(({ kind }, index) => (kind === 'fraction' ? [index + 1] : []));
  return fractions.length > 0 ? fractions : [stages.length];
}

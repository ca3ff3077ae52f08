import { BUCKETS } from '../cache/rules.ts';
import type { BucketRange } from '../control/document.ts';
import { arc } from '../control/ranges.ts';
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
export interface Circle {
  /** What the stage flushes, all that stages before it flushed included. Empty for a blackout before any other stage. */
  readonly flushedBy: (stage: number) => readonly BucketRange[];
  /** The control cohort, then the cohort of each stage: what no stage before it touched. */
  readonly cohorts: readonly (readonly BucketRange[])[];
  /** The share of the keys that the stage flushes, 0–1; for a node its share of the store. */
  readonly shareOf: (stage: number) => number;
  /** The share of the keys in the stage's own cohort, 0–1. */
  readonly cohortShareOf: (stage: number) => number;
}

export function createCircle(plan: Pick<Plan, 'stages' | 'holdout'>, offset: number, nodes: number): Circle {
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

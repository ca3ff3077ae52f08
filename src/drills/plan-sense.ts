import { BUCKETS } from '../cache/rules.ts';
import { widthOfFraction } from './circle.ts';
import type { GuardFigure, Plan } from './plan.ts';
import type { PlanFault } from './plan-fault.ts';

/** What each figure can be at most; a guard beyond it would never break. */
const MOST: Readonly<Partial<Record<GuardFigure, number>>> = {
  errorRate: 1,
  shedRate: 1,
  engineInFlightShare: 1,
  hitRatioDrop: 100,
};

/** Faults of a plan whose members are right one by one. */
export function contradictions(plan: Plan): readonly PlanFault[] {
  return [...ofStages(plan), ...ofErasing(plan), ...ofGuards(plan)];
}

function ofStages({ stages, holdout }: Plan): readonly PlanFault[] {
  const faults: PlanFault[] = [];
  let reached = 0;
  let node = -1;
  for (const [place, stage] of stages.entries()) {
    const fault = (member: string, value: number, allowed: string): void => {
      faults.push({ path: ['stages', place, member], value: String(value), allowed });
    };
    if (stage.kind === 'fraction') {
      const { fraction } = stage;
      const reach = widthOfFraction(fraction, holdout) / BUCKETS;
      if (reach <= reached) fault('fraction', fraction, `more than the ${reached} that the stage before reaches`);
      if (node >= 0) fault('fraction', fraction, 'fractions or nodes in one plan, not both');
      reached = Math.max(reached, reach);
    }
    if (stage.kind === 'node') {
      if (stage.node <= node) fault('node', stage.node, `a later place than the ${node} of the stage before`);
      if (reached > 0) fault('node', stage.node, 'fractions or nodes in one plan, not both');
      node = Math.max(node, stage.node);
    }
  }
  return faults;
}

/** A whole node can be emptied; a part of it cannot, other than key by key. */
function ofErasing({ mode, eraseBy, stages }: Plan): readonly PlanFault[] {
  if (mode !== 'erase' || eraseBy !== 'flushall') return [];
  return stages.flatMap((stage, place) =>
    stage.kind === 'fraction' && stage.fraction < 1
      ? [
          {
            path: ['stages', place, 'fraction'],
            value: String(stage.fraction),
            allowed: '1, as FLUSHALL empties whole nodes',
          },
        ]
      : [],
  );
}

function ofGuards({ guards }: Plan): readonly PlanFault[] {
  return guards.flatMap(({ figure, max, follows }, place) => {
    if (follows !== undefined && figure !== 'p99Ms') {
      return [{ path: ['guards', place, 'max'], value: follows, allowed: `a number, for ${figure}` }];
    }
    const most = MOST[figure] ?? Number.POSITIVE_INFINITY;
    // The baseline itself has the factor 1.
    const least = figure === 'engineRateFactor' ? 1 : 0;
    if (max <= most && max >= least) return [];
    const allowed = max > most ? `at most ${most}, for ${figure}` : `at least ${least}, for ${figure}`;
    return [{ path: ['guards', place, 'max'], value: String(max), allowed }];
  });
}

import type { Guarded } from './drill-guards.ts';
import type { DrillRoom } from './drill-room.ts';
import { holdOf } from './step.ts';

/** Of a plan, all that has to fit. */
export interface PlanTimes {
  readonly baselineMs: number;
  readonly afterMs: number;
  readonly minSearches: number;
  readonly recovery: { readonly withinPoints: number; readonly timeoutMs: number };
  readonly stages: readonly { readonly holdMs: number }[];
}

export interface FittedPlan<Plan> {
  readonly plan: Plan;
  /** Since the start of the run: its first stage begins when the step does. */
  readonly startSeconds: number;
  /** Whether something is shorter than it was written down; not the longest wait for the recovery. */
  readonly isShortened: boolean;
}

/** Until every process has heard of it: before the baseline, and before what is measured afterwards. */
const SETTLE_MS = 1500;
/** A drill looks twice a second. */
const TICK_MS = 500;
/** The least a plan may hold anything. */
const LEAST_MS = 1000;

/**
 * The same plan in the time there is: as written where the steps are as long as it needs, and in proportion where somebody
 * wanted them shorter. What it waits for the cache to come back ends with the step it has for that.
 */
export function fitPlan<Plan extends PlanTimes>(plan: Plan, { calm, loss, recovery }: DrillRoom): FittedPlan<Plan> {
  const calmMs = calm.holdSeconds * 1000;
  const recoveryMs = recovery.holdSeconds * 1000;
  const baselineMs = atMost(plan.baselineMs, calmMs - SETTLE_MS - TICK_MS);
  const stagesMs = plan.stages.reduce((sum, { holdMs }) => sum + holdMs, 0);
  const roomMs = loss.holdSeconds * 1000 - TICK_MS * (plan.stages.length + 1);
  const share = Math.min(1, Math.max(0, roomMs) / stagesMs);
  const stages = plan.stages.map((stage) => ({ ...stage, holdMs: atMost(stage.holdMs, stage.holdMs * share) }));
  const afterMs = atMost(plan.afterMs, recoveryMs / 3);
  const waitMs = recoveryMs - afterMs - SETTLE_MS - 2 * TICK_MS;
  const fitted = {
    ...plan,
    baselineMs,
    stages,
    afterMs,
    minSearches: Math.max(1, Math.round((plan.minSearches * baselineMs) / plan.baselineMs)),
    recovery: { ...plan.recovery, timeoutMs: atMost(plan.recovery.timeoutMs, waitMs) },
  };
  const [calmFrom] = holdOf(calm);
  const [lossFrom] = holdOf(loss);
  return {
    plan: fitted,
    startSeconds: Math.max(calmFrom, lossFrom - (baselineMs + SETTLE_MS) / 1000),
    isShortened: baselineMs < plan.baselineMs || afterMs < plan.afterMs || share < 1,
  };
}

function atMost(ms: number, most: number): number {
  return Math.max(LEAST_MS, Math.floor(Math.min(ms, most)));
}

export function isPlan(body: unknown): body is PlanTimes & Guarded {
  if (typeof body !== 'object' || body === null) return false;
  const { baselineMs, afterMs, minSearches, recovery, stages, guards } = body as Partial<PlanTimes & Guarded>;
  const numbers = [baselineMs, afterMs, minSearches, recovery?.timeoutMs];
  return numbers.every((one) => typeof one === 'number') && Array.isArray(stages) && Array.isArray(guards);
}

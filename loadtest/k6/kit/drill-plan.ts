import { CALM_LIMITS, holdOf, type Step, type StepWish } from './step.ts';

/** The ends of a drill: the verdicts of the service, and two that only the script knows. */
export const DRILL_ENDS = [
  'passed',
  'failed',
  'refused',
  'aborted',
  'lost',
  'not-measured',
  /** The service refused to begin it, or did not answer. */
  'not-started',
  /** It was not over at the end of its last step, or the run ended before it. */
  'unfinished',
] as const;

export type DrillEnd = (typeof DRILL_ENDS)[number];

/** The value of the metric `drill_end`. The first code is 1, because a k6 metric without a sample is 0. */
export function codeOfEnd(end: DrillEnd): number {
  return DRILL_ENDS.indexOf(end) + 1;
}

export function endOfCode(code: number | undefined): DrillEnd {
  return DRILL_ENDS[(code ?? 0) - 1] ?? 'unfinished';
}

/** The three steps of a drill: steady traffic, the loss, and the recovery, all at one rate. */
export interface DrillWindow {
  /** The drill takes its baseline at the end of this step. */
  readonly calm: Step;
  /** Contains all stages. */
  readonly loss: Step;
  readonly recovery: Step;
}

interface DrillWindowOptions {
  /** `x3-`: the prefix of the names of its steps. */
  readonly prefix?: string;
  readonly lossName: string;
  readonly lossTitle: string;
  readonly lossSeconds: number;
  readonly ratePerSecond: number;
  readonly stepSeconds: (otherwise: number) => number;
}

const RAMP_SECONDS = 5;
const CALM_SECONDS = 30;
/** For the return of the cohort and the last measurement. */
const RECOVERY_SECONDS = 60;

/** While entries are missing the engine may refuse, but honestly, and every other answer is a page. */
const LOSS_LIMITS = { maxErrorRate: 0.001, abortErrorRate: 0.05, shedsAllowed: true };

/** The steps of one drill window, each as long as the defaults of the plan need. */
export function drillSteps(options: DrillWindowOptions): readonly StepWish[] {
  const { prefix = '', lossName, lossTitle, lossSeconds, ratePerSecond, stepSeconds } = options;
  const after = { goesOn: true, rampSeconds: 0, ratePerSecond } as const;
  return [
    {
      name: `${prefix}steady`,
      title: 'before: the baseline',
      rampSeconds: RAMP_SECONDS,
      holdSeconds: stepSeconds(CALM_SECONDS),
      ratePerSecond,
      limits: CALM_LIMITS,
    },
    {
      ...after,
      name: `${prefix}${lossName}`,
      title: lossTitle,
      holdSeconds: stepSeconds(lossSeconds),
      limits: { ...LOSS_LIMITS, drillPasses: true },
    },
    {
      ...after,
      name: `${prefix}recovery`,
      title: 'the cache comes back',
      holdSeconds: stepSeconds(RECOVERY_SECONDS),
      limits: LOSS_LIMITS,
    },
  ];
}

/** Each step in which a drill has to pass, with its neighbours. */
export function drillWindows(steps: readonly Step[]): readonly DrillWindow[] {
  return steps.flatMap((loss, at) => {
    const calm = steps[at - 1];
    const recovery = steps[at + 1];
    return loss.limits?.drillPasses === true && calm !== undefined && recovery !== undefined
      ? [{ calm, loss, recovery }]
      : [];
  });
}

/** The members of a plan that are read here. */
export interface DrillPlan {
  readonly baselineMs: number;
  readonly afterMs: number;
  readonly minSearches: number;
  readonly recovery: { readonly withinPoints: number; readonly timeoutMs: number };
  readonly stages: readonly { readonly holdMs: number }[];
  readonly guards: readonly { readonly figure: string; readonly max: number }[];
}

/** Time until every process follows the drill, before the baseline and before the last measurement. */
const SETTLE_MS = 1500;
/** A drill checks its state twice a second. */
const TICK_MS = 500;
/** The shortest duration that a plan may have. */
const MIN_MS = 1000;

/**
 * The plan with durations that fit into the window: unchanged where the steps are long enough, else shortened in
 * proportion. The wait for the recovery of the cache ends with the recovery step.
 */
export function fitPlan<Plan extends DrillPlan>(plan: Plan, { calm, loss, recovery }: DrillWindow) {
  const calmMs = calm.holdSeconds * 1000;
  const recoveryMs = recovery.holdSeconds * 1000;
  const baselineMs = bounded(plan.baselineMs, calmMs - SETTLE_MS - TICK_MS);
  const stagesMs = plan.stages.reduce((sum, { holdMs }) => sum + holdMs, 0);
  const availableMs = loss.holdSeconds * 1000 - TICK_MS * (plan.stages.length + 1);
  const share = Math.min(1, Math.max(0, availableMs) / stagesMs);
  const afterMs = bounded(plan.afterMs, recoveryMs / 3);
  const waitMs = recoveryMs - afterMs - SETTLE_MS - 2 * TICK_MS;
  const [calmFrom] = holdOf(calm);
  const [lossFrom] = holdOf(loss);
  return {
    plan: {
      ...plan,
      baselineMs,
      stages: plan.stages.map((stage) => ({ ...stage, holdMs: bounded(stage.holdMs, stage.holdMs * share) })),
      afterMs,
      minSearches: Math.max(1, Math.round((plan.minSearches * baselineMs) / plan.baselineMs)),
      recovery: { ...plan.recovery, timeoutMs: bounded(plan.recovery.timeoutMs, waitMs) },
    },
    /** Start of the drill since the start of the run. Its first stage begins with the step of the loss. */
    startSeconds: Math.max(calmFrom, lossFrom - (baselineMs + SETTLE_MS) / 1000),
    /** Whether a duration other than the maximum wait for the recovery is shorter than in the plan. */
    isShortened: baselineMs < plan.baselineMs || afterMs < plan.afterMs || share < 1,
  };
}

function bounded(ms: number, maxMs: number): number {
  return Math.max(MIN_MS, Math.floor(Math.min(ms, maxMs)));
}

/**
 * The plan with guards that allow more sheds than in daily operation, because the refusals are what these scripts measure.
 * All other guards end the drill as usual, first of all that of errors.
 */
export function withSheds<Plan extends Pick<DrillPlan, 'guards'>>(plan: Plan, maxShed: number): Plan {
  const guards = plan.guards.map((guard) =>
    guard.figure === 'shedRate' ? { ...guard, max: Math.max(guard.max, maxShed) } : guard,
  );
  return { ...plan, guards };
}

/** The members of a drill's journal that are read here. */
export interface DrillJournal {
  readonly id: string;
  readonly reason: string;
  readonly state: { readonly kind: 'running' | 'ending' | 'over' };
  /** `atMs` since the start of the drill. */
  readonly marks: readonly {
    readonly kind: string;
    readonly atMs: number;
    readonly title?: string;
    readonly why?: string;
  }[];
  readonly verdict?: { readonly kind: Exclude<DrillEnd, 'not-started' | 'unfinished'>; readonly detail: string };
}

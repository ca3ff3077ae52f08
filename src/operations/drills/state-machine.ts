import { MAX_COHORT_WAIT_MS, MIN_COHORT_SEARCHES } from './cohorts.ts';
import { figureText, type GuardState } from './guards.ts';
import type { Verdict } from './journal.ts';
import type { Plan } from './plan.ts';
import type { Recovery } from './result.ts';

/** The state of a drill of one domain. Times are of the monotonic clock. */
export type MachineState =
  | { readonly kind: 'baseline'; readonly sinceMs: number }
  | { readonly kind: 'stage'; readonly stage: number; readonly sinceMs: number; readonly heldSinceMs?: number }
  | { readonly kind: 'recovery'; readonly sinceMs: number }
  /** The cache is restored. `ended`: the result, when it is known already. */
  | { readonly kind: 'after'; readonly sinceMs: number; readonly ended?: DrillEnding };

export type DrillEnding = Pick<Verdict, 'kind' | 'detail'>;

/** The input of one decision. */
export interface DrillObservation {
  readonly nowMs: number;
  /** Undefined: the fleet was not heard at this tick, so no guard is known to hold. */
  readonly guards: readonly GuardState[] | undefined;
  /** The limits of the hypothesis that the baseline, or the time afterwards, exceeds. */
  readonly broken: () => readonly string[];
  /** Number of searches in the baseline so far, or in the time afterwards; undefined: nothing was measured. */
  readonly searches: number | undefined;
  /** This stage has, and still gets, enough searches for its guards. */
  readonly hasEnoughSearches: () => boolean;
  /** Number of processes that report now, and of those that reported in the baseline. */
  readonly processes: () => { readonly heard: number; readonly before: number };
  /** Number of searches of the cohorts that stages flush, in this phase. */
  readonly cohortSearches: () => number;
  /** Whether the flushed cohorts are back. */
  readonly recovery: Recovery;
  /** An erasure is still running. */
  readonly erasing: boolean;
  /** Why an erasure failed. */
  readonly eraseFailed: string | undefined;
  /** The drill has lost its lock: another process took the overlay away, or the lease expired. */
  readonly lockLost: DrillEnding | undefined;
  /** A request to end the drill. `atOnce`: without a measurement afterwards. */
  readonly stop: (DrillEnding & { readonly atOnce: boolean }) | undefined;
  /** Time since the latest readings of the fleet. */
  readonly blindMs: number;
}

export type Decision =
  | { readonly kind: 'stay' }
  /** `sinceMs` undefined: the hold is over. */
  | { readonly kind: 'hold'; readonly sinceMs: number | undefined }
  | { readonly kind: 'stage'; readonly stage: number }
  | { readonly kind: 'recover' }
  /** Restores the cache and goes on measuring. */
  | { readonly kind: 'restore'; readonly ended?: DrillEnding }
  | { readonly kind: 'end'; readonly ended: DrillEnding };

/** A guard that does not hold again within this time ends the drill. */
const MAX_HOLD_MS = 300_000;
/** Without readings no guard works, so the drill ends after this time. */
const MAX_BLIND_MS = 5000;
/** Minimum number of searches after the cache is restored: fewer say nothing about that time. */
const MIN_SEARCHES_AFTERWARDS = 20;

const STAY: Decision = { kind: 'stay' };

/** The next step of a drill. Free of side effects, so that every transition can be tested. */
export function decide(plan: Plan, state: MachineState, firstStage: number, observed: DrillObservation): Decision {
  const { nowMs, guards, stop } = observed;
  const known = state.kind === 'after' ? state.ended : undefined;
  if (observed.lockLost !== undefined) return { kind: 'end', ended: known ?? observed.lockLost };
  if (stop !== undefined) {
    const ended = known ?? { kind: stop.kind, detail: stop.detail };
    // Before anything was flushed, and when the cache is restored already, there is nothing to measure.
    return stop.atOnce || state.kind === 'after' || state.kind === 'baseline'
      ? { kind: 'end', ended }
      : { kind: 'restore', ended };
  }
  if (observed.blindMs >= MAX_BLIND_MS) {
    const ended = notMeasured('The figures of the fleet could not be read, so nothing was guarded.');
    return { kind: 'end', ended: known ?? ended };
  }
  switch (state.kind) {
    case 'baseline':
      if (guards === undefined || nowMs - state.sinceMs < plan.baselineMs) return STAY;
      return afterBaseline(plan, state, firstStage, observed);
    case 'stage':
      return rollback(observed) ?? (guards === undefined ? STAY : inStage(plan, state, guards, observed));
    case 'recovery':
      if (observed.recovery === 'back' && guards !== undefined) return rollback(observed) ?? { kind: 'restore' };
      return rollback(observed) ?? inRecovery(plan, state, observed);
    case 'after':
      if (nowMs - state.sinceMs < plan.afterMs) return STAY;
      return { kind: 'end', ended: state.ended ?? finalEnding(plan, observed) };
  }
}

function afterBaseline(
  plan: Plan,
  { sinceMs }: { readonly sinceMs: number },
  firstStage: number,
  observed: DrillObservation,
): Decision {
  const refused = (detail: string): Decision => ({ kind: 'end', ended: { kind: 'refused', detail } });
  const { searches = 0 } = observed;
  if (searches < plan.minSearches) {
    return refused(`Only ${searches} searches in the baseline; the plan wants ${plan.minSearches}.`);
  }
  const broken = observed.broken();
  if (broken.length > 0) return refused(`The hypothesis fails before the first stage: ${broken.join('; ')}.`);
  const cohortSearches = observed.cohortSearches();
  if (cohortSearches >= MIN_COHORT_SEARCHES) return { kind: 'stage', stage: firstStage };
  // Keys without searches have no hit ratio to lose. That is known before anything is flushed.
  const waitedMs = observed.nowMs - sinceMs;
  if (waitedMs < MAX_COHORT_WAIT_MS) return STAY;
  const detail = `The keys to be flushed were searched for ${Math.round(cohortSearches)} times in ${Math.round(waitedMs / 1000)} s; ${MIN_COHORT_SEARCHES} are needed. A larger share or more traffic would tell. Nothing was flushed.`;
  return { kind: 'end', ended: notMeasured(detail) };
}

function notMeasured(detail: string): DrillEnding {
  return { kind: 'not-measured', detail };
}

function rollback({ guards, eraseFailed }: DrillObservation): Decision | undefined {
  if (eraseFailed !== undefined) {
    return { kind: 'restore', ended: { kind: 'failed', detail: `Not everything could be erased: ${eraseFailed}.` } };
  }
  const broken = guards?.find(({ breached, rule }) => breached && rule.then === 'rollback');
  if (broken === undefined) return undefined;
  const { figure, max } = broken.rule;
  return {
    kind: 'restore',
    ended: { kind: 'failed', detail: `A guard broke: ${figure} was ${figureText(broken.value ?? max)}, above ${max}.` },
  };
}

function inStage(
  plan: Plan,
  state: Extract<MachineState, { kind: 'stage' }>,
  guards: readonly GuardState[],
  observed: DrillObservation,
): Decision {
  const { stage, sinceMs, heldSinceMs } = state;
  const { nowMs } = observed;
  const isLast = stage + 1 >= plan.stages.length;
  const holding = guards.filter(({ rule }) => rule.then === 'hold');
  if (heldSinceMs === undefined) {
    if (holding.some(({ breached }) => breached)) return { kind: 'hold', sinceMs: nowMs };
  } else {
    const broken = holding.find((guard) => guard.broken);
    if (broken === undefined && (observed.hasEnoughSearches() || isLast)) return { kind: 'hold', sinceMs: undefined };
    if (nowMs - heldSinceMs < MAX_HOLD_MS) return STAY;
    const minutes = `${MAX_HOLD_MS / 60_000} minutes`;
    const ended: DrillEnding =
      broken === undefined
        ? notMeasured(`For ${minutes} there were too few searches to go on.`)
        : { kind: 'failed', detail: `${broken.rule.figure} did not hold again within ${minutes}.` };
    return { kind: 'restore', ended };
  }
  if (observed.erasing || nowMs - sinceMs < (plan.stages[stage]?.holdMs ?? 0)) return STAY;
  if (isLast) return { kind: 'recover' };
  // A guard that has just broken must hold again, or be breached, before the next stage.
  if (guards.some(({ broken, rule }) => broken && rule.then !== 'continue')) return STAY;
  // Without searches of the flushed keys nothing shows that the engine survives the stage.
  return observed.hasEnoughSearches() ? { kind: 'stage', stage: stage + 1 } : { kind: 'hold', sinceMs: nowMs };
}

function inRecovery(
  plan: Plan,
  { sinceMs }: { readonly sinceMs: number },
  { nowMs, recovery }: DrillObservation,
): Decision {
  const { withinPoints, timeoutMs } = plan.recovery;
  const waitMs = recovery === 'unseen' ? Math.min(MAX_COHORT_WAIT_MS, timeoutMs) : timeoutMs;
  if (nowMs - sinceMs < waitMs) return STAY;
  const seconds = waitMs / 1000;
  const unmeasured: Partial<Record<typeof recovery, string>> = {
    unseen: `For ${seconds} s the flushed keys were searched for too seldom to tell whether they came back.`,
    unclear: `After ${seconds} s there were too few searches of the flushed keys to tell a lower hit ratio from chance.`,
  };
  const why = unmeasured[recovery];
  if (why !== undefined) return { kind: 'restore', ended: notMeasured(why) };
  const detail = `Its hit ratio was not back within ${withinPoints} points of its past after ${seconds} s.`;
  return { kind: 'restore', ended: { kind: 'failed', detail } };
}

function finalEnding(plan: Plan, observed: DrillObservation): DrillEnding {
  const failed = (detail: string): DrillEnding => ({ kind: 'failed', detail });
  const { searches } = observed;
  if (searches === undefined) return notMeasured('It could not be measured afterwards: the fleet was not heard.');
  if (searches < Math.min(MIN_SEARCHES_AFTERWARDS, plan.minSearches)) {
    return notMeasured(`It could not be measured afterwards: there were only ${searches} searches.`);
  }
  const broken = observed.broken();
  if (broken.length > 0) return failed(`The hypothesis does not hold afterwards: ${broken.join('; ')}.`);
  const { heard, before } = observed.processes();
  if (heard < before) return failed(`Only ${heard} of ${before} processes were heard at the end.`);
  return { kind: 'passed', detail: 'Every stage was survived and the cache came back.' };
}

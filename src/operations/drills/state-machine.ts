import { ENOUGH_OF_COHORT, LONGEST_WAIT_MS } from './cohorts.ts';
import { figureText, type GuardState } from './guards.ts';
import type { Verdict } from './journal.ts';
import type { Plan } from './plan.ts';
import type { Recovery } from './result.ts';

/** Where a drill of one domain is. Times are of the monotonic clock. */
export type MachineState =
  | { readonly kind: 'baseline'; readonly sinceMs: number }
  | { readonly kind: 'stage'; readonly stage: number; readonly sinceMs: number; readonly heldSinceMs?: number }
  | { readonly kind: 'recovery'; readonly sinceMs: number }
  /** The cache is restored. `ended`: what the drill came to already; otherwise that is still to be told. */
  | { readonly kind: 'after'; readonly sinceMs: number; readonly ended?: Ending };

export type Ending = Pick<Verdict, 'kind' | 'detail'>;

/** All that decides how it goes on. */
export interface Observation {
  readonly nowMs: number;
  /** Undefined: the fleet was not heard just now, so nobody knows whether they hold. */
  readonly guards: readonly GuardState[] | undefined;
  /** What does not hold of the hypothesis over the baseline, or afterwards. */
  readonly broken: () => readonly string[];
  /** In the baseline so far, or afterwards; undefined: nothing was measured. */
  readonly searches: number | undefined;
  /** Enough is searched in this stage, and still is, for guards to see what it does. */
  readonly hasEnoughSearches: () => boolean;
  /** Heard of late; and over the baseline. */
  readonly processes: () => { readonly heard: number; readonly before: number };
  /** Searches of the cohorts that stages flush, in this phase. */
  readonly cohortSearches: () => number;
  /** Whether the flushed cohorts are back. */
  readonly recovery: Recovery;
  /** What it erases is not erased yet; or could not be. */
  readonly erasing: boolean;
  readonly eraseFailed: string | undefined;
  /** The overlay is not this drill's any more, or void. */
  readonly lockLost: Ending | undefined;
  /** Somebody wants it ended. `atOnce`: nothing is measured afterwards. */
  readonly stop: (Ending & { readonly atOnce: boolean }) | undefined;
  /** Since the fleet's figures were last heard. */
  readonly blindMs: number;
}

export type Decision =
  | { readonly kind: 'stay' }
  /** `since` undefined: it goes on. */
  | { readonly kind: 'hold'; readonly sinceMs: number | undefined }
  | { readonly kind: 'stage'; readonly stage: number }
  | { readonly kind: 'recover' }
  /** Gives the cache back and measures on. */
  | { readonly kind: 'restore'; readonly ended?: Ending }
  | { readonly kind: 'end'; readonly ended: Ending };

/** A guard that does not hold again by then will not. */
const MAX_HOLD_MS = 300_000;
/** Without figures nobody guards anything. */
const MAX_BLIND_MS = 5000;
/** One search more or less says nothing about the time afterwards. */
const ENOUGH_AFTERWARDS = 20;

const STAY: Decision = { kind: 'stay' };

/** What a drill does next: without effects, so that every turn of it can be tested. */
export function decide(plan: Plan, course: MachineState, firstStage: number, seen: Observation): Decision {
  const { nowMs, guards, stop } = seen;
  if (seen.lockLost !== undefined) {
    return { kind: 'end', ended: (course.kind === 'after' ? course.ended : undefined) ?? seen.lockLost };
  }
  if (stop !== undefined) {
    const ended = (course.kind === 'after' ? course.ended : undefined) ?? { kind: stop.kind, detail: stop.detail };
    // Before anything was flushed, and when it is restored already, there is nothing to measure.
    return stop.atOnce || course.kind === 'after' || course.kind === 'baseline'
      ? { kind: 'end', ended }
      : { kind: 'restore', ended };
  }
  if (seen.blindMs >= MAX_BLIND_MS) {
    const ended: Ending = {
      kind: 'not-measured',
      detail: 'The figures of the fleet could not be read, so nothing was guarded.',
    };
    return { kind: 'end', ended: (course.kind === 'after' ? course.ended : undefined) ?? ended };
  }
  switch (course.kind) {
    case 'baseline':
      if (guards === undefined || nowMs - course.sinceMs < plan.baselineMs) return STAY;
      return afterBaseline(plan, course, firstStage, seen);
    case 'stage':
      return breach(seen) ?? (guards === undefined ? STAY : inStage(plan, course, guards, seen));
    case 'recovery':
      if (seen.recovery === 'back' && guards !== undefined) return breach(seen) ?? { kind: 'restore' };
      return breach(seen) ?? inRecovery(plan, course, seen);
    case 'after':
      if (nowMs - course.sinceMs < plan.afterMs) return STAY;
      return { kind: 'end', ended: course.ended ?? judged(plan, seen) };
  }
}

function afterBaseline(
  plan: Plan,
  { sinceMs }: { readonly sinceMs: number },
  firstStage: number,
  seen: Observation,
): Decision {
  const refused = (detail: string): Decision => ({ kind: 'end', ended: { kind: 'refused', detail } });
  const { searches = 0 } = seen;
  if (searches < plan.minSearches) {
    return refused(`Only ${searches} searches in the baseline; the plan wants ${plan.minSearches}.`);
  }
  const broken = seen.broken();
  if (broken.length > 0) return refused(`The hypothesis fails before the first stage: ${broken.join('; ')}.`);
  const ofCohorts = seen.cohortSearches();
  if (ofCohorts >= ENOUGH_OF_COHORT) return { kind: 'stage', stage: firstStage };
  // What nobody asks for has no hit ratio to lose: that is known before anything is flushed.
  if (seen.nowMs - sinceMs < LONGEST_WAIT_MS) return STAY;
  return { kind: 'end', ended: notMeasured(`${tooFew(ofCohorts, seen.nowMs - sinceMs)} Nothing was flushed.`) };
}

function notMeasured(detail: string): Ending {
  return { kind: 'not-measured', detail };
}

function tooFew(searches: number, ms: number): string {
  const seconds = Math.round(ms / 1000);
  return `The keys to be flushed were searched for ${Math.round(searches)} times in ${seconds} s; ${ENOUGH_OF_COHORT} are needed. A larger share or more traffic would tell.`;
}

function breach({ guards, eraseFailed }: Observation): Decision | undefined {
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
  course: Extract<MachineState, { kind: 'stage' }>,
  guards: readonly GuardState[],
  seen: Observation,
): Decision {
  const { stage, sinceMs, heldSinceMs } = course;
  const { nowMs } = seen;
  const isLast = stage + 1 >= plan.stages.length;
  const holding = guards.filter(({ rule }) => rule.then === 'hold');
  if (heldSinceMs === undefined) {
    if (holding.some(({ breached }) => breached)) return { kind: 'hold', sinceMs: nowMs };
  } else {
    const broken = holding.find((guard) => guard.broken);
    if (broken === undefined && (seen.hasEnoughSearches() || isLast)) return { kind: 'hold', sinceMs: undefined };
    if (nowMs - heldSinceMs < MAX_HOLD_MS) return STAY;
    const minutes = `${MAX_HOLD_MS / 60_000} minutes`;
    const ended: Ending =
      broken === undefined
        ? notMeasured(`For ${minutes} there were too few searches to go on.`)
        : { kind: 'failed', detail: `${broken.rule.figure} did not hold again within ${minutes}.` };
    return { kind: 'restore', ended };
  }
  if (seen.erasing || nowMs - sinceMs < (plan.stages[stage]?.holdMs ?? 0)) return STAY;
  if (isLast) return { kind: 'recover' };
  // Before it goes further it waits for what has just broken to hold again, or to be breached.
  if (guards.some(({ broken, rule }) => broken && rule.then !== 'continue')) return STAY;
  // What nobody searches harms nobody: that a stage was survived is not seen without.
  return seen.hasEnoughSearches() ? { kind: 'stage', stage: stage + 1 } : { kind: 'hold', sinceMs: nowMs };
}

function inRecovery(plan: Plan, { sinceMs }: { readonly sinceMs: number }, { nowMs, recovery }: Observation): Decision {
  const { withinPoints, timeoutMs } = plan.recovery;
  const waitMs = recovery === 'unseen' ? Math.min(LONGEST_WAIT_MS, timeoutMs) : timeoutMs;
  if (nowMs - sinceMs < waitMs) return STAY;
  const seconds = waitMs / 1000;
  switch (recovery) {
    case 'unseen': {
      const detail = `For ${seconds} s the flushed keys were searched for too seldom to tell whether they came back.`;
      return { kind: 'restore', ended: notMeasured(detail) };
    }
    case 'unclear': {
      const detail = `After ${seconds} s there were too few searches of the flushed keys to tell a lower hit ratio from chance.`;
      return { kind: 'restore', ended: notMeasured(detail) };
    }
    default: {
      const detail = `Its hit ratio was not back within ${withinPoints} points of its past after ${seconds} s.`;
      return { kind: 'restore', ended: { kind: 'failed', detail } };
    }
  }
}

function judged(plan: Plan, seen: Observation): Ending {
  const failed = (detail: string): Ending => ({ kind: 'failed', detail });
  const { searches } = seen;
  if (searches === undefined) return notMeasured('It could not be measured afterwards: the fleet was not heard.');
  if (searches < Math.min(ENOUGH_AFTERWARDS, plan.minSearches)) {
    return notMeasured(`It could not be measured afterwards: there were only ${searches} searches.`);
  }
  const broken = seen.broken();
  if (broken.length > 0) return failed(`The hypothesis does not hold afterwards: ${broken.join('; ')}.`);
  const { heard, before } = seen.processes();
  if (heard < before) return failed(`Only ${heard} of ${before} processes were heard at the end.`);
  return { kind: 'passed', detail: 'Every stage was survived and the cache came back.' };
}

import { shown } from './guard-values.ts';
import type { GuardState } from './guard-watch.ts';
import type { Verdict } from './journal.ts';
import type { Plan } from './plan.ts';

/** Where a drill of one domain is. Times are of the monotonic clock. */
export type Course =
  | { readonly kind: 'baseline'; readonly sinceMs: number }
  | { readonly kind: 'stage'; readonly stage: number; readonly sinceMs: number; readonly heldSinceMs?: number }
  | { readonly kind: 'recovery'; readonly sinceMs: number }
  /** The cache is restored. `ended`: what the drill came to already; otherwise that is still to be told. */
  | { readonly kind: 'after'; readonly sinceMs: number; readonly ended?: Ending };

export type Ending = Pick<Verdict, 'kind' | 'detail'>;

/** All that decides how it goes on. */
export interface Seen {
  readonly nowMs: number;
  readonly guards: readonly GuardState[];
  /** What does not hold of the hypothesis over the baseline, or afterwards. */
  readonly broken: () => readonly string[];
  /** In the baseline so far. */
  readonly searches: number;
  readonly recovered: boolean;
  /** What it erases is not erased yet; or could not be. */
  readonly erasing: boolean;
  readonly eraseFailed: string | undefined;
  /** The overlay is not this drill's any more, or void. */
  readonly gone: Ending | undefined;
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
export const MAX_BLIND_MS = 5000;

/** What a drill does next: without effects, so that every turn of it can be tested. */
export function decide(plan: Plan, course: Course, firstStage: number, seen: Seen): Decision {
  const { nowMs, stop } = seen;
  if (seen.gone !== undefined) {
    return { kind: 'end', ended: (course.kind === 'after' ? course.ended : undefined) ?? seen.gone };
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
      kind: 'failed',
      detail: 'The figures of the fleet could not be read, so nothing was guarded.',
    };
    return { kind: 'end', ended: (course.kind === 'after' ? course.ended : undefined) ?? ended };
  }
  switch (course.kind) {
    case 'baseline':
      return nowMs - course.sinceMs < plan.baselineMs ? { kind: 'stay' } : afterBaseline(plan, firstStage, seen);
    case 'stage':
      return breach(seen) ?? inStage(plan, course, seen);
    case 'recovery':
      if (seen.recovered) return breach(seen) ?? { kind: 'restore' };
      return breach(seen) ?? inRecovery(plan, course, seen);
    case 'after':
      return nowMs - course.sinceMs < plan.afterMs
        ? { kind: 'stay' }
        : { kind: 'end', ended: course.ended ?? judged(seen) };
  }
}

function afterBaseline(plan: Plan, firstStage: number, seen: Seen): Decision {
  const refused = (detail: string): Decision => ({ kind: 'end', ended: { kind: 'refused', detail } });
  if (seen.searches < plan.minSearches) {
    return refused(`Only ${seen.searches} searches in the baseline; the plan wants ${plan.minSearches}.`);
  }
  const broken = seen.broken();
  if (broken.length > 0) return refused(`The hypothesis fails before the first stage: ${broken.join('; ')}.`);
  return { kind: 'stage', stage: firstStage };
}

function breach({ guards, eraseFailed }: Seen): Decision | undefined {
  if (eraseFailed !== undefined) {
    return { kind: 'restore', ended: { kind: 'failed', detail: `Not everything could be erased: ${eraseFailed}.` } };
  }
  const broken = guards.find(({ breached, rule }) => breached && rule.then === 'rollback');
  if (broken === undefined) return undefined;
  const { figure, max } = broken.rule;
  return {
    kind: 'restore',
    ended: { kind: 'failed', detail: `A guard broke: ${figure} was ${shown(broken.value ?? max)}, above ${max}.` },
  };
}

function inStage(plan: Plan, course: Extract<Course, { kind: 'stage' }>, seen: Seen): Decision {
  const { stage, sinceMs, heldSinceMs } = course;
  const { nowMs, guards } = seen;
  const holding = guards.filter(({ rule }) => rule.then === 'hold');
  if (heldSinceMs === undefined) {
    if (holding.some(({ breached }) => breached)) return { kind: 'hold', sinceMs: nowMs };
  } else {
    const broken = holding.find((guard) => guard.broken);
    if (broken === undefined) return { kind: 'hold', sinceMs: undefined };
    if (nowMs - heldSinceMs < MAX_HOLD_MS) return { kind: 'stay' };
    const detail = `${broken.rule.figure} did not hold again within ${MAX_HOLD_MS / 60_000} minutes.`;
    return { kind: 'restore', ended: { kind: 'failed', detail } };
  }
  if (seen.erasing || nowMs - sinceMs < (plan.stages[stage]?.holdMs ?? 0)) return { kind: 'stay' };
  return stage + 1 < plan.stages.length ? { kind: 'stage', stage: stage + 1 } : { kind: 'recover' };
}

function inRecovery(plan: Plan, { sinceMs }: { readonly sinceMs: number }, { nowMs }: Seen): Decision {
  const { withinPoints, timeoutMs } = plan.recovery;
  if (nowMs - sinceMs < timeoutMs) return { kind: 'stay' };
  const detail = `Its hit ratio was not back within ${withinPoints} points of its past after ${timeoutMs / 1000} s.`;
  return { kind: 'restore', ended: { kind: 'failed', detail } };
}

function judged(seen: Seen): Ending {
  const broken = seen.broken();
  if (broken.length === 0) return { kind: 'passed', detail: 'Every stage was survived and the cache came back.' };
  return { kind: 'failed', detail: `The hypothesis does not hold afterwards: ${broken.join('; ')}.` };
}

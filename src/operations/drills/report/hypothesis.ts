import type { Figures } from '../../meter/figures.ts';
import { shareAtEnd, valueOver } from '../guards.ts';
import type { GuardRule, Plan } from '../plan.ts';
import { lastStage, samplesOf, type Track } from './track.ts';

/** One guard over the drill: what it saw before, at the worst, and after. */
export interface Tested {
  readonly guard: GuardRule;
  readonly before?: number;
  readonly worst?: number;
  readonly after?: number;
  /** `passing`: above the limit during the stages, for less time than the guard allows. */
  readonly held: 'held' | 'passing' | 'broken' | 'failed before' | 'failed after' | 'not tested' | 'not measured';
  /** When it broke first. */
  readonly brokenAtMs?: number;
}

export function testedGuards(track: Track, plan: Plan): readonly Tested[] {
  return plan.guards.map((guard) => tested(track, guard));
}

function tested(track: Track, guard: GuardRule): Tested {
  const { learned } = track;
  const seen = samplesOf(track).flatMap(({ atMs, phase, guards }) =>
    guards.filter(({ figure }) => figure === guard.figure).map((one) => ({ ...one, atMs, phase })),
  );
  const values = (phases: readonly string[]): readonly number[] =>
    seen.flatMap(({ phase, value }) => (phases.includes(phase) && isKnown(value) ? [value] : []));
  const over = (figures: Figures, baseline: Figures): number | undefined =>
    valueOver(guard.figure, figures, baseline, shareAtEnd(figures));
  const during = values(['stage', 'hold', 'recovery']);
  const before = learned === undefined ? values(['baseline']).at(-1) : over(learned.baseline, learned.baseline);
  const after = learned?.after === undefined ? values(['after']).at(-1) : over(learned.after, learned.baseline);
  const worst = during.length === 0 ? undefined : Math.max(...during);
  // Several guards may watch one figure with different limits: a mark names its own.
  const mark = track.marks.find((one) => one.kind === 'guard' && one.figure === guard.figure && one.max === guard.max);
  const brokenAtMs = mark?.atMs;
  const isAbove = (value: number | undefined): boolean => isKnown(value) && value > guard.max;
  const heldWhere = (): Tested['held'] => {
    if (mark !== undefined) return 'broken';
    if (isAbove(before)) return 'failed before';
    if (isAbove(after)) return 'failed after';
    if (isAbove(worst)) return 'passing';
    if (worst !== undefined) return 'held';
    return lastStage(track) === undefined ? 'not tested' : 'not measured';
  };
  return {
    guard,
    ...(isKnown(before) && { before }),
    ...(worst !== undefined && { worst }),
    ...(isKnown(after) && { after }),
    held: heldWhere(),
    ...(brokenAtMs !== undefined && { brokenAtMs }),
  };
}

function isKnown(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value);
}

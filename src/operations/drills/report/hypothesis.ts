import { percentText } from '../../../report/format.ts';
import { SIGNS, type VerdictWords } from '../../../report/markup.ts';
import type { Figures } from '../../meter/figures.ts';
import { shareAtEnd, valueOver } from '../guards.ts';
import type { Journal, Verdict } from '../journal.ts';
import type { GuardRule, Plan, Stage } from '../plan.ts';
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

const STILL: Readonly<Record<Journal['state']['kind'], string>> = {
  running: 'Running',
  ending: 'Restored',
  over: 'Over',
};

/** How a drill ended. */
export function verdictWords({ verdict, state, plan, domains }: Journal): VerdictWords {
  if (verdict === undefined && state.kind === 'ending' && state.ended !== undefined) {
    const { kind, detail } = state.ended;
    return { ...endWords(kind), detail: `${detail} The cache is restored; the last figures are being taken.` };
  }
  if (verdict === undefined) {
    const detail = stillText(state, plan, domains.length > 1);
    return { word: STILL[state.kind], detail, tone: 'open', sign: SIGNS.wait };
  }
  return { ...endWords(verdict.kind), detail: verdict.detail };
}

function endWords(kind: Verdict['kind']): Omit<VerdictWords, 'detail'> {
  switch (kind) {
    case 'passed':
      return { word: 'Passed', tone: 'good', sign: SIGNS.check };
    case 'failed':
      return { word: 'Failed', tone: 'bad', sign: SIGNS.cross };
    case 'not-measured':
      return { word: 'Not measured', tone: 'warn', sign: SIGNS.question };
    case 'aborted':
      return { word: 'Aborted', tone: 'warn', sign: SIGNS.stop };
    case 'refused':
      return { word: 'Refused', tone: 'warn', sign: SIGNS.bar };
    case 'lost':
      return { word: 'Lost', tone: 'bad', sign: SIGNS.question };
  }
}

function stillText(state: Journal['state'], plan: Journal['plan'], many: boolean): string {
  switch (state.kind) {
    case 'running': {
      const where = many ? ` of ${state.domain}` : '';
      return `It is still going on: ${state.phase === 'stage' ? stageTitle(plan, state.stage) : state.phase}${where}. These are the figures so far.`;
    }
    case 'ending':
      return 'The cache is restored already; the last figures are being taken.';
    case 'over':
      return 'It ended without a verdict.';
  }
}

/** What a stage loses, short enough for a band of a plot: `25 %`, `node 2`, `blackout`. */
export function stageName(plan: Plan, stage: number): string {
  const planned = plan.stages[stage];
  return planned === undefined ? `stage ${stage + 1}` : lossText(planned);
}

/** `Stage 3: 25 %`, with the plan's own title where it says something else. */
export function stageTitle(plan: Plan, stage: number, ownTitle?: string): string {
  const name = stageName(plan, stage);
  const title = ownTitle ?? plan.stages[stage]?.title;
  const numbered = `Stage ${stage + 1}`;
  if (plan.stages[stage] === undefined) return title === undefined ? numbered : `${numbered}: ${title}`;
  return `${numbered}: ${withLoss(title, name)}`;
}

/** The largest share of the keys that a stage up to this one has flushed; undefined of nodes and of a blackout. */
export function shareFlushed(plan: Plan, stage: number): number | undefined {
  return plan.stages
    .slice(0, stage + 1)
    .reduce<number | undefined>(
      (most, planned) => (planned.kind === 'fraction' ? Math.max(most ?? 0, planned.fraction) : most),
      undefined,
    );
}

function lossText(stage: Stage): string {
  switch (stage.kind) {
    case 'fraction':
      return percentText(stage.fraction);
    case 'node':
      return `node ${Number.isFinite(stage.node) ? stage.node + 1 : '?'}`;
    case 'blackout':
      return 'blackout';
  }
}

/** A title that names the loss already needs no more. */
function withLoss(title: string | undefined, name: string): string {
  if (title === undefined) return name;
  return letters(title).includes(letters(name)) ? title : `${title} (${name})`;
}

function letters(text: string): string {
  return text.replaceAll(/\s/g, '').toLowerCase();
}

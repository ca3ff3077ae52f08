import { durationText, percentText, pointsText, timesText } from '../../../report/format.ts';
import { SIGNS, type VerdictWords } from '../../../report/markup.ts';
import type { Journal, Verdict } from '../journal.ts';
import type { GuardFigure, Plan, Stage } from '../plan.ts';

/** Name, unit and number format of a guard's figure. */
interface GuardWords {
  readonly name: string;
  readonly unit: string;
  readonly text: (value: number | undefined) => string;
}

export const GUARD_WORDS: Readonly<Record<GuardFigure, GuardWords>> = {
  errorRate: { name: 'Failed searches', unit: '% of searches', text: percentText },
  shedRate: { name: 'Shed searches', unit: '% of searches', text: percentText },
  p99Ms: { name: 'p99 of searches', unit: 'time', text: durationText },
  engineInFlightShare: { name: 'Engine places taken', unit: "% of the fleet's places", text: percentText },
  engineRateFactor: { name: 'Engine calls', unit: 'times the baseline', text: timesText },
  hitRatioDrop: { name: 'Hit ratio lost by the control cohort', unit: 'points', text: pointsText },
};

const STATE_WORDS: Readonly<Record<Journal['state']['kind'], string>> = {
  running: 'Running',
  ending: 'Restored',
  over: 'Over',
};

/** The verdict of a drill, or its state while it runs. */
export function verdictWords({ verdict, state, plan, domains }: Journal): VerdictWords {
  if (verdict === undefined && state.kind === 'ending' && state.ended !== undefined) {
    const { kind, detail } = state.ended;
    return { ...endWords(kind), detail: `${detail} The cache is restored; the last figures are being taken.` };
  }
  if (verdict === undefined) {
    const detail = runningText(state, plan, domains.length > 1);
    return { word: STATE_WORDS[state.kind], detail, tone: 'open', sign: SIGNS.wait };
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

function runningText(state: Journal['state'], plan: Journal['plan'], many: boolean): string {
  switch (state.kind) {
    case 'running': {
      const where = many ? ` of ${state.domain}` : '';
      return `It is still going on: ${state.phase === 'stage' ? stageHeading(plan, state.stage) : state.phase}${where}. These are the figures so far.`;
    }
    case 'ending':
      return 'The cache is restored already; the last figures are being taken.';
    case 'over':
      return 'It ended without a verdict.';
  }
}

/** The loss of a stage, short enough for a band of a plot: `25 %`, `node 2`, `blackout`. */
export function lossName(plan: Plan, stage: number): string {
  const planned = plan.stages[stage];
  return planned === undefined ? `stage ${stage + 1}` : lossText(planned);
}

/** `Stage 3: 25 %`, with the plan's own title when it differs. */
export function stageHeading(plan: Plan, stage: number, ownTitle?: string): string {
  const name = lossName(plan, stage);
  const title = ownTitle ?? plan.stages[stage]?.title;
  const numbered = `Stage ${stage + 1}`;
  if (plan.stages[stage] === undefined) return title === undefined ? numbered : `${numbered}: ${title}`;
  return `${numbered}: ${withLoss(title, name)}`;
}

/** The largest share of the keys that a stage up to this one flushed; undefined for nodes and blackouts. */
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

/** The title with the loss, unless the title already names it. */
function withLoss(title: string | undefined, name: string): string {
  if (title === undefined) return name;
  return letters(title).includes(letters(name)) ? title : `${title} (${name})`;
}

function letters(text: string): string {
  return text.replaceAll(/\s/g, '').toLowerCase();
}

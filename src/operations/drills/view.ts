import {
  countText,
  durationText,
  percentText,
  perSecondText,
  pointsText,
  rangeText,
  timesText,
  UNKNOWN,
} from '../../report/format.ts';
import type { DomainResult, DrillPhase, Journal, Mark, Range, Verdict } from './journal.ts';
import type { GuardFigure, GuardRule, Plan } from './plan.ts';

/**
 * A drill as text: what the report page, the console and the CLI show of a plan and its journal. The browser loads this
 * file too. A journal may come from a process of another version, so an unknown name is shown and never throws.
 */

type Tone = 'good' | 'warn' | 'bad' | 'open';

/** A verdict as a word and a sentence. */
interface VerdictView {
  /** `not measured` */
  readonly word: string;
  readonly detail: string;
  /** `open`: the drill is not over, or ended without a verdict. */
  readonly tone: Tone;
  readonly kind?: Verdict['kind'];
}

/** Explanations of the three figures that a drill is run for, for tooltips. */
export const MEANINGS = {
  headroom:
    'H: what the engine can do ÷ what it was asked, from its permits, the time of a call and the number of calls',
  amplification: 'A: engine calls with nothing cached ÷ engine calls before, in proportion to the share that was lost',
  survivable:
    'f* = (H − 1) ÷ (A − 1): the share of the keys that may be lost at once before the engine has more to do than it can',
};

type GuardView = {
  readonly name: string;
  readonly unit: string;
  readonly text: (value: number | undefined) => string;
};

export const GUARDS: Readonly<Record<GuardFigure, GuardView>> = {
  errorRate: { name: 'Failed searches', unit: '% of searches', text: percentText },
  shedRate: { name: 'Shed searches', unit: '% of searches', text: percentText },
  p99Ms: { name: 'p99 of searches', unit: 'time', text: durationText },
  engineInFlightShare: { name: 'Engine permits taken', unit: "% of the fleet's permits", text: percentText },
  engineRateFactor: { name: 'Engine calls', unit: 'times the baseline', text: timesText },
  hitRatioDrop: { name: 'Hit ratio lost by the control cohort', unit: 'points', text: pointsText },
};

export function guardName(figure: GuardFigure): string {
  return GUARDS[figure]?.name ?? figure;
}

export function guardText(figure: GuardFigure, value: number | undefined): string {
  return GUARDS[figure]?.text(value) ?? UNKNOWN;
}

/** `p99 of searches: 800 ms, for 2 s` */
export function guardRuleText({ figure, max, forMs }: GuardRule): string {
  return `${guardName(figure)}: ${guardText(figure, max)}${forMs > 0 ? `, for ${durationText(forMs)}` : ''}`;
}

export const GUARD_ACTION_WORDS: Readonly<Record<GuardRule['then'], string>> = {
  rollback: 'roll back',
  hold: 'hold the stage',
  continue: 'write it down',
};

export const VERDICT_TONES: Readonly<Record<Verdict['kind'], 'good' | 'warn' | 'bad'>> = {
  passed: 'good',
  failed: 'bad',
  'not-measured': 'warn',
  refused: 'warn',
  aborted: 'warn',
  lost: 'bad',
};

/** `not measured` */
export function drillVerdictWord(kind: string): string {
  return kind.replaceAll('-', ' ');
}

/** The verdict of a drill, or its state while it runs. */
export function drillVerdict(journal: Pick<Journal, 'verdict' | 'state' | 'plan'>): VerdictView {
  const { verdict, state } = journal;
  const view = ({ kind, detail }: Pick<Verdict, 'kind' | 'detail'>): VerdictView => ({
    kind,
    word: drillVerdictWord(kind),
    detail,
    tone: VERDICT_TONES[kind] ?? 'open',
  });
  if (verdict !== undefined) return view(verdict);
  switch (state.kind) {
    case 'running': {
      const detail = `It is still going on: ${stateText(journal)}. These are the figures so far.`;
      return { word: 'running', detail, tone: 'open' };
    }
    case 'ending': {
      const { ended } = state;
      if (ended === undefined) {
        const detail = 'The cache is restored already; the last figures are being taken.';
        return { word: 'restored', detail, tone: 'open' };
      }
      const detail = `${ended.detail} The cache is restored; the last figures are being taken.`;
      return view({ kind: ended.kind, detail });
    }
    case 'over':
      return { word: 'over', detail: 'It ended without a verdict.', tone: 'open' };
    default:
      return { word: unknownKind(state), detail: 'This version does not know the state.', tone: 'open' };
  }
}

/** The kind of a state or mark that only a later version writes. */
function unknownKind({ kind }: { readonly kind: string }): string {
  return kind;
}

export const PHASES: Readonly<Record<DrillPhase, string>> = {
  baseline: 'baseline',
  stage: 'flushed',
  hold: 'on hold',
  recovery: 'recovering',
  after: 'restored',
};

/** `goods: flushed, stage 2 of 4 (5 %)` */
export function stateText({ state, plan }: Pick<Journal, 'state' | 'plan'>): string {
  switch (state.kind) {
    case 'running': {
      const title = stageTitles(plan)[state.stage] ?? stageName(plan, state.stage);
      return `${state.domain}: ${PHASES[state.phase] ?? state.phase}, stage ${state.stage + 1} of ${plan.stages.length} (${title})`;
    }
    case 'ending':
      return endingText(state);
    case 'over':
      return 'over';
    default:
      return unknownKind(state);
  }
}

/** The state of a drill whose cache is restored already. */
export function endingText({ ended }: { readonly ended?: Pick<Verdict, 'kind'> }): string {
  const result = ended === undefined ? 'every stage is over' : drillVerdictWord(ended.kind);
  return `${result}: cache restored, taking the last figures`;
}

/** The loss of a stage, short enough for a band of a plot: `25 %`, `node 2`, `blackout`. */
export function stageName({ stages }: Pick<Plan, 'stages'>, at: number): string {
  const stage = stages[at];
  switch (stage?.kind) {
    case 'fraction':
      return percentText(stage.fraction);
    case 'node':
      return `node ${Number.isFinite(stage.node) ? stage.node + 1 : '?'}`;
    case 'blackout':
      return 'blackout';
    default:
      return `stage ${at + 1}`;
  }
}

/** The plan's own title of each stage, or its loss. */
export function stageTitles(plan: Pick<Plan, 'stages'>): readonly string[] {
  return plan.stages.map(({ title }, at) => title ?? stageName(plan, at));
}

/** `Stage 3: 25 %`, with the plan's own title unless the title already names the loss. */
export function stageHeading(plan: Pick<Plan, 'stages'>, at: number, ownTitle = plan.stages[at]?.title): string {
  const numbered = `Stage ${at + 1}`;
  const name = plan.stages[at] === undefined ? undefined : stageName(plan, at);
  if (ownTitle === undefined) return name === undefined ? numbered : `${numbered}: ${name}`;
  const isNamed = name === undefined || letters(ownTitle).includes(letters(name));
  return `${numbered}: ${isNamed ? ownTitle : `${ownTitle} (${name})`}`;
}

function letters(text: string): string {
  return text.replaceAll(/\s/g, '').toLowerCase();
}

const MODES: Readonly<Record<Plan['mode'], string>> = {
  refresh: 'Pages of the keys chosen are served as stale while they are computed again.',
  drop: 'Pages of the keys chosen are misses until they are computed again. They stay where they are, so the end brings them back.',
  erase:
    'Pages of the keys chosen are removed from the store. The end cannot bring them back: it can only stop more from going.',
};

export function modeText(plan: Plan): string {
  if (isBlackout(plan)) return 'The engine is taken for dead: its breakers are forced open. No page is flushed.';
  return MODES[plan.mode] ?? plan.mode;
}

export function isBlackout({ stages }: Pick<Plan, 'stages'>): boolean {
  return stages.every(({ kind }) => kind === 'blackout');
}

/** The minimum duration of the plan. */
export function planDurationMs({
  baselineMs,
  stages,
  afterMs,
}: Pick<Plan, 'baselineMs' | 'stages' | 'afterMs'>): number {
  return baselineMs + stages.reduce((sum, { holdMs }) => sum + holdMs, 0) + afterMs;
}

/** The three figures that a drill is run for, with their names and meanings. */
export function survivalFigures(result: DomainResult | undefined) {
  const survival = result?.survival;
  const figure = (name: string, meaning: string, range: Range | undefined, text: (value: number) => string) => {
    // A journal of an old version has no ranges, which is different from a range that could not be measured.
    return { name, meaning, text: survival === undefined ? UNKNOWN : rangeText(range, text) };
  };
  const { headroomLeft, amplification, survivable } = survival ?? {};
  return {
    headroomLeft: figure('headroom left', MEANINGS.headroom, headroomLeft, timesText),
    amplification: figure('amplification', MEANINGS.amplification, amplification, timesText),
    survivable: figure('survivable f*', MEANINGS.survivable, survivable, percentText),
  };
}

export const STAGE_COLUMNS = [
  'Stage',
  'Before',
  'Lowest',
  'At its end',
  'Control then',
  'Refilled in',
  'Engine, 2 s peak',
];

/**
 * The result of each stage, in `STAGE_COLUMNS`: hit ratio of its cohort and of the control cohort, and the load of the
 * engine.
 */
export function stageRows(result: DomainResult | undefined, plan: Plan): readonly (readonly string[])[] {
  return (result?.stages ?? []).map((one) => [
    stageHeading(plan, one.stage, one.title),
    percentText(one.before),
    percentText(one.lowest),
    percentText(one.end),
    percentText(one.control),
    one.refillMs === undefined ? 'not seen' : durationText(one.refillMs),
    perSecondText(one.peakEngineCallsPerSecond),
  ]);
}

const PHASE_SENTENCES: Readonly<Record<DrillPhase, string>> = {
  baseline: 'Baseline: nothing is flushed yet',
  stage: 'The stage goes on',
  hold: 'On hold: no further stage until the guard holds again',
  recovery: 'Recovery: waits until the cohort is back at its own past',
  after: 'After: the cache is restored, the hypothesis must hold again',
};

/** Number of buckets: the denominator of a stage's ranges. */
const BUCKETS = 10_000;

/** An event of the timeline: `lead` in the colour of its tone, then `text`. */
export function markOf(mark: Mark, plan: Plan): { readonly tone?: Tone; readonly lead: string; readonly text: string } {
  switch (mark.kind) {
    case 'phase':
      return { lead: '', text: PHASE_SENTENCES[mark.phase] ?? mark.phase };
    case 'stage': {
      const buckets = mark.ranges.reduce((sum, { from, to }) => sum + to - from, 0);
      const share = `${countText(buckets)} of ${countText(BUCKETS)} buckets, ${percentText(buckets / BUCKETS)} of the keys`;
      const lead = stageHeading(plan, mark.stage, mark.title);
      return { lead, text: ` (stage ${mark.stage + 1} of ${plan.stages.length}${buckets > 0 ? `; ${share}` : ''})` };
    }
    case 'guard': {
      const { figure, value, max, then } = mark;
      const text = ` ${guardName(figure)}: ${guardText(figure, value)}, limit ${guardText(figure, max)}; then ${then}`;
      return { tone: 'bad', lead: '✕ Guard broken', text };
    }
    case 'guard-holds':
      return { tone: 'good', lead: '✓ Guard holds again', text: ` ${guardName(mark.figure)}` };
    case 'recovered': {
      const text = ` ${stageHeading(plan, mark.stage)}, after ${durationText(mark.afterMs)}`;
      return { tone: 'good', lead: '● Recovered', text };
    }
    case 'restored':
      return { lead: '◆ Cache restored', text: `: ${mark.why}` };
    default:
      return { lead: '', text: unknownKind(mark) };
  }
}

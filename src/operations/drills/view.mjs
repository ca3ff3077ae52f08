// @ts-check
/**
 * A drill as text: what the report page, the console and the CLI show of a plan and its journal. The browser loads this
 * file as it is. A journal may come from a process of another version, so an unknown name is shown and never throws.
 * @typedef {import('./journal.ts').DrillPhase} DrillPhase
 * @typedef {import('./journal.ts').DomainResult} DomainResult
 * @typedef {import('./journal.ts').Journal} Journal
 * @typedef {import('./journal.ts').Mark} Mark
 * @typedef {import('./journal.ts').Verdict} Verdict
 * @typedef {import('./plan.ts').GuardFigure} GuardFigure
 * @typedef {import('./plan.ts').GuardRule} GuardRule
 * @typedef {import('./plan.ts').Plan} Plan
 * @typedef {import('./plan.ts').PlanStage} Stage
 * @typedef {'good' | 'warn' | 'bad' | 'open'} Tone
 *
 * @typedef {object} VerdictView A verdict as a word and a sentence.
 * @property {string} word `not measured`
 * @property {string} detail
 * @property {Tone} tone `open`: the drill is not over, or ended without a verdict.
 * @property {Verdict['kind']} [kind]
 *
 * @typedef {object} MarkView An event of the timeline: `lead` in the colour of its tone, then `text`.
 * @property {Tone} [tone]
 * @property {string} lead
 * @property {string} text
 */

import {
  countText,
  durationText,
  percentText,
  perSecondText,
  pointsText,
  rangeText,
  timesText,
  UNKNOWN,
} from '../../report/format.mjs';

/** Explanations of the three figures that a drill is run for, for tooltips. */
export const MEANINGS = {
  headroom:
    'H: what the engine can do ÷ what it was asked, from its permits, the time of a call and the number of calls',
  amplification: 'A: engine calls with nothing cached ÷ engine calls before, in proportion to the share that was lost',
  survivable:
    'f* = (H − 1) ÷ (A − 1): the share of the keys that may be lost at once before the engine has more to do than it can',
};

/** @type {Readonly<Record<GuardFigure, { name: string, unit: string, text: (value: number | undefined) => string }>>} */
export const GUARDS = {
  errorRate: { name: 'Failed searches', unit: '% of searches', text: percentText },
  shedRate: { name: 'Shed searches', unit: '% of searches', text: percentText },
  p99Ms: { name: 'p99 of searches', unit: 'time', text: durationText },
  engineInFlightShare: { name: 'Engine permits taken', unit: "% of the fleet's permits", text: percentText },
  engineRateFactor: { name: 'Engine calls', unit: 'times the baseline', text: timesText },
  hitRatioDrop: { name: 'Hit ratio lost by the control cohort', unit: 'points', text: pointsText },
};

/** @param {GuardFigure} figure */
export function guardName(figure) {
  return GUARDS[figure]?.name ?? figure;
}

/**
 * @param {GuardFigure} figure
 * @param {number | undefined} value
 */
export function guardText(figure, value) {
  return GUARDS[figure]?.text(value) ?? UNKNOWN;
}

/**
 * `p99 of searches: 800 ms, for 2 s`
 * @param {GuardRule} rule
 */
export function guardRuleText({ figure, max, forMs }) {
  return `${guardName(figure)}: ${guardText(figure, max)}${forMs > 0 ? `, for ${durationText(forMs)}` : ''}`;
}

/** @type {Readonly<Record<GuardRule['then'], string>>} */
export const GUARD_ACTION_WORDS = { rollback: 'roll back', hold: 'hold the stage', continue: 'write it down' };

/** @type {Readonly<Record<Verdict['kind'], 'good' | 'warn' | 'bad'>>} */
export const VERDICT_TONES = {
  passed: 'good',
  failed: 'bad',
  'not-measured': 'warn',
  refused: 'warn',
  aborted: 'warn',
  lost: 'bad',
};

/**
 * `not measured`
 * @param {string} kind of a verdict.
 */
export function drillVerdictWord(kind) {
  return kind.replaceAll('-', ' ');
}

/**
 * The verdict of a drill, or its state while it runs.
 * @param {Pick<Journal, 'verdict' | 'state' | 'plan'>} journal
 * @returns {VerdictView}
 */
export function drillVerdict(journal) {
  const { verdict, state } = journal;
  /** @param {Pick<Verdict, 'kind' | 'detail'>} ended */
  const view = ({ kind, detail }) => ({
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

/**
 * The kind of a state or mark that only a later version writes.
 * @param {{ readonly kind: string }} written
 */
function unknownKind({ kind }) {
  return kind;
}

/** @type {Readonly<Record<DrillPhase, string>>} */
export const PHASES = {
  baseline: 'baseline',
  stage: 'flushed',
  hold: 'on hold',
  recovery: 'recovering',
  after: 'restored',
};

/**
 * `goods: flushed, stage 2 of 4 (5 %)`
 * @param {Pick<Journal, 'state' | 'plan'>} journal
 */
export function stateText({ state, plan }) {
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

/**
 * The state of a drill whose cache is restored already.
 * @param {{ readonly ended?: Pick<Verdict, 'kind'> }} ending
 */
export function endingText({ ended }) {
  const result = ended === undefined ? 'every stage is over' : drillVerdictWord(ended.kind);
  return `${result}: cache restored, taking the last figures`;
}

/**
 * The loss of a stage, short enough for a band of a plot: `25 %`, `node 2`, `blackout`.
 * @param {Pick<Plan, 'stages'>} plan
 * @param {number} at
 */
export function stageName({ stages }, at) {
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

/**
 * The plan's own title of each stage, or its loss.
 * @param {Pick<Plan, 'stages'>} plan
 */
export function stageTitles(plan) {
  return plan.stages.map(({ title }, at) => title ?? stageName(plan, at));
}

/**
 * `Stage 3: 25 %`, with the plan's own title unless the title already names the loss.
 * @param {Pick<Plan, 'stages'>} plan
 * @param {number} at
 * @param {string} [ownTitle]
 */
export function stageHeading(plan, at, ownTitle = plan.stages[at]?.title) {
  const numbered = `Stage ${at + 1}`;
  const name = plan.stages[at] === undefined ? undefined : stageName(plan, at);
  if (ownTitle === undefined) return name === undefined ? numbered : `${numbered}: ${name}`;
  const isNamed = name === undefined || letters(ownTitle).includes(letters(name));
  return `${numbered}: ${isNamed ? ownTitle : `${ownTitle} (${name})`}`;
}

/** @param {string} text */
function letters(text) {
  return text.replaceAll(/\s/g, '').toLowerCase();
}

/** @type {Readonly<Record<Plan['mode'], string>>} */
const MODES = {
  refresh: 'Pages of the keys chosen are served as stale while they are computed again.',
  drop: 'Pages of the keys chosen are misses until they are computed again. They stay where they are, so the end brings them back.',
  erase:
    'Pages of the keys chosen are removed from the store. The end cannot bring them back: it can only stop more from going.',
};

/**
 * @param {Plan} plan
 * @returns {string}
 */
export function modeText(plan) {
  if (isBlackout(plan)) return 'The engine is taken for dead: its breakers are forced open. No page is flushed.';
  return MODES[plan.mode] ?? plan.mode;
}

/** @param {Pick<Plan, 'stages'>} plan */
export function isBlackout({ stages }) {
  return stages.every(({ kind }) => kind === 'blackout');
}

/**
 * The minimum duration of the plan.
 * @param {Pick<Plan, 'baselineMs' | 'stages' | 'afterMs'>} plan
 */
export function planDurationMs({ baselineMs, stages, afterMs }) {
  return baselineMs + stages.reduce((sum, { holdMs }) => sum + holdMs, 0) + afterMs;
}

/**
 * The three figures that a drill is run for, with their names and meanings.
 * @param {DomainResult | undefined} result
 */
export function survivalFigures(result) {
  const survival = result?.survival;
  /**
   * A journal of an old version has no ranges, which is different from a range that could not be measured.
   * @param {import('./journal.ts').Range | undefined} range
   * @param {(value: number) => string} text
   */
  const measured = (range, text) => (survival === undefined ? UNKNOWN : rangeText(range, text));
  return {
    headroomLeft: {
      name: 'headroom left',
      meaning: MEANINGS.headroom,
      text: measured(survival?.headroomLeft, timesText),
    },
    amplification: {
      name: 'amplification',
      meaning: MEANINGS.amplification,
      text: measured(survival?.amplification, timesText),
    },
    survivable: {
      name: 'survivable f*',
      meaning: MEANINGS.survivable,
      text: measured(survival?.survivable, percentText),
    },
  };
}

export const STAGE_COLUMNS = ['Stage', 'Before', 'Lowest', 'At its end', 'Control then', 'Refilled in', 'Engine, peak'];

/**
 * The result of each stage, in `STAGE_COLUMNS`: hit ratio of its cohort and of the control cohort, and the load of the
 * engine.
 * @param {DomainResult | undefined} result
 * @param {Plan} plan
 */
export function stageRows(result, plan) {
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

/** @type {Readonly<Record<DrillPhase, string>>} */
const PHASE_SENTENCES = {
  baseline: 'Baseline: nothing is flushed yet',
  stage: 'The stage goes on',
  hold: 'On hold: no further stage until the guard holds again',
  recovery: 'Recovery: waits until the cohort is back at its own past',
  after: 'After: the cache is restored, the hypothesis must hold again',
};

/** Number of buckets: the denominator of a stage's ranges. */
const BUCKETS = 10_000;

/**
 * @param {Mark} mark
 * @param {Plan} plan
 * @returns {MarkView}
 */
export function markOf(mark, plan) {
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

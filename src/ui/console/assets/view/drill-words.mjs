import { duration, number, percent, times, UNKNOWN } from './format.mjs';

/**
 * @typedef {import('../../../../operations/drills/plan.ts').GuardFigure} GuardFigure
 * @typedef {import('../data/shapes.mjs').Journal} Journal
 * @typedef {import('../data/shapes.mjs').Plan} Plan
 */

/** @type {Readonly<Record<GuardFigure, string>>} */
export const GUARD_NAMES = {
  errorRate: 'error rate',
  shedRate: 'shed rate',
  p99Ms: 'p99',
  engineInFlightShare: 'engine in flight',
  engineRateFactor: 'engine rate against the baseline',
  hitRatioDrop: 'loss of the control cohort',
};

/** @type {Readonly<Record<import('../../../../operations/drills/plan.ts').GuardRule['then'], string>>} */
export const THEN_WORDS = { rollback: 'roll back', hold: 'hold the stage', continue: 'write it down' };

/**
 * @param {GuardFigure} figure
 * @param {number | undefined} value
 */
export function guardValue(figure, value) {
  if (value === undefined) return UNKNOWN;
  switch (figure) {
    case 'errorRate':
    case 'shedRate':
    case 'engineInFlightShare':
      return percent(value);
    case 'p99Ms':
      return duration(value);
    case 'engineRateFactor':
      return times(value);
    case 'hitRatioDrop':
      return `${number(value, Number.isInteger(value) ? 0 : 1)} points`;
  }
}

/** @type {Readonly<Record<import('../../../../operations/drills/journal.ts').DrillPhase, string>>} */
const PHASES = {
  baseline: 'measuring the baseline',
  stage: 'stage',
  hold: 'on hold at stage',
  recovery: 'recovering',
  after: 'measuring afterwards',
};

/**
 * What is known of a drill whose cache is restored already.
 * @param {NonNullable<import('../data/shapes.mjs').DrillSummary['ending']>} ending
 */
export function endingWords({ ended }) {
  const what = ended === undefined ? 'every stage is over' : verdictWord(ended.kind);
  return `${what}: cache restored, taking the last figures`;
}

/** @param {import('../../../../operations/drills/journal.ts').Verdict['kind']} kind */
export function verdictWord(kind) {
  return kind.replaceAll('-', ' ');
}

/** @param {Journal} journal */
export function stateWords({ state, plan, domains }) {
  switch (state.kind) {
    case 'running': {
      const where = domains.length > 1 ? `${state.domain}: ` : '';
      const stage =
        state.phase === 'stage' || state.phase === 'hold' ? ` ${state.stage + 1} of ${plan.stages.length}` : '';
      return `${where}${PHASES[state.phase]}${stage}`;
    }
    case 'ending':
      return endingWords(state);
    case 'over':
      return 'over';
  }
}

/** @type {Readonly<Record<import('../../../../operations/drills/journal.ts').Verdict['kind'], 'good' | 'warn' | 'bad'>>} */
export const VERDICT_LEVELS = {
  passed: 'good',
  failed: 'bad',
  'not-measured': 'warn',
  refused: 'warn',
  aborted: 'warn',
  lost: 'bad',
};

/** What the three figures mean, as tooltips. */
export const MEANINGS = {
  headroom:
    'H: what the engine can do ÷ what it was asked, from its places, the time of a call and the number of calls',
  amplification: 'A: engine calls with nothing cached ÷ engine calls before, in proportion to the share that was lost',
  survivable:
    'f* = (H − 1) ÷ (A − 1): the share of the keys that may be lost at once before the engine has more to do than it can',
};

/** @param {import('../../../../operations/drills/plan.ts').Stage} stage */
export function stageTitle(stage) {
  if (stage.title !== undefined) return stage.title;
  switch (stage.kind) {
    case 'fraction':
      return `${Number((stage.fraction * 100).toFixed(2))} %`;
    case 'node':
      return `node ${stage.node + 1}`;
    case 'blackout':
      return 'engine blackout';
  }
}

/** @type {Readonly<Record<Plan['mode'], string>>} */
const MODES = {
  refresh: 'Pages of the keys chosen are served as stale while they are computed anew.',
  drop: 'Pages of the keys chosen are misses until they are computed anew. They stay where they are, so the end brings them back.',
  erase:
    'Pages of the keys chosen are removed from the store. The end cannot bring them back: it can only stop more from going.',
};

/** @param {Plan} plan */
export function isBlackout({ stages }) {
  return stages.every(({ kind }) => kind === 'blackout');
}

/**
 * @param {Plan} plan
 * @returns {string}
 */
export function modeWords(plan) {
  if (isBlackout(plan)) return 'The engine is taken for dead: its breakers are forced open. No page is flushed.';
  return MODES[plan.mode];
}

/** @param {Plan} plan */
export function planMs({ baselineMs, stages, afterMs }) {
  return baselineMs + stages.reduce((sum, { holdMs }) => sum + holdMs, 0) + afterMs;
}

/**
 * The texts of the console about a drill's plan and journal, and the hit ratios of the cohorts.
 * @typedef {import('../../../../operations/drills/plan.ts').GuardFigure} GuardFigure
 * @typedef {import('../../../../operations/drills/journal.ts').Verdict} Verdict
 * @typedef {import('../api.mjs').Journal} Journal
 * @typedef {import('../api.mjs').Plan} Plan
 * @typedef {import('../api.mjs').Sample} Sample
 */

import { duration, number, percent, times, UNKNOWN } from './format.mjs';

/** @type {Readonly<Record<GuardFigure, string>>} */
export const GUARD_LABELS = {
  errorRate: 'error rate',
  shedRate: 'shed rate',
  p99Ms: 'p99',
  engineInFlightShare: 'engine in flight',
  engineRateFactor: 'engine rate against the baseline',
  hitRatioDrop: 'loss of the control cohort',
};

/** @type {Readonly<Record<import('../api.mjs').GuardRule['then'], string>>} */
export const GUARD_ACTION_LABELS = { rollback: 'roll back', hold: 'hold the stage', continue: 'write it down' };

/** @type {Readonly<Record<Verdict['kind'], 'good' | 'warn' | 'bad'>>} */
export const VERDICT_LEVELS = {
  passed: 'good',
  failed: 'bad',
  'not-measured': 'warn',
  refused: 'warn',
  aborted: 'warn',
  lost: 'bad',
};

/** Explanations of the three figures, for tooltips. A test keeps them equal to those of the report. */
export const MEANINGS = {
  headroom:
    'H: what the engine can do ÷ what it was asked, from its places, the time of a call and the number of calls',
  amplification: 'A: engine calls with nothing cached ÷ engine calls before, in proportion to the share that was lost',
  survivable:
    'f* = (H − 1) ÷ (A − 1): the share of the keys that may be lost at once before the engine has more to do than it can',
};

/** @type {Readonly<Record<import('../../../../operations/drills/journal.ts').DrillPhase, string>>} */
const PHASES = {
  baseline: 'measuring the baseline',
  stage: 'stage',
  hold: 'on hold at stage',
  recovery: 'recovering',
  after: 'measuring afterwards',
};

/** @type {Readonly<Record<Plan['mode'], string>>} */
const MODES = {
  refresh: 'Pages of the keys chosen are served as stale while they are computed anew.',
  drop: 'Pages of the keys chosen are misses until they are computed anew. They stay where they are, so the end brings them back.',
  erase:
    'Pages of the keys chosen are removed from the store. The end cannot bring them back: it can only stop more from going.',
};

/** A hit ratio of fewer searches is not shown: with three searches, one more miss changes it by a third. */
export const MIN_SEARCHES = 25;
/**
 * A hit ratio is measured over at least 2 s, and for a cohort with few searches over up to 10 s. Samples are 0.5 s
 * apart.
 */
const MIN_SAMPLES = 4;
const MAX_SAMPLES = 20;

/** A plan has at most sixteen stages, each with a cohort. The colours repeat; the table below the plot has the names. */
const COHORT_COLOURS = /** @type {const} */ (['engine', 'stale', 'store', 'shed', 'lifeboat', 'collapsed']);

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

/** @param {Journal} journal */
export function stateText({ state, plan, domains }) {
  switch (state.kind) {
    case 'running': {
      const domain = domains.length > 1 ? `${state.domain}: ` : '';
      const isStage = state.phase === 'stage' || state.phase === 'hold';
      const stage = isStage ? ` ${state.stage + 1} of ${plan.stages.length}` : '';
      return `${domain}${PHASES[state.phase]}${stage}`;
    }
    case 'ending':
      return endingText(state);
    case 'over':
      return 'over';
  }
}

/**
 * The state of a drill whose cache is restored already.
 * @param {NonNullable<import('../api.mjs').DrillSummary['ending']>} ending
 */
export function endingText({ ended }) {
  const result = ended === undefined ? 'every stage is over' : verdictText(ended.kind);
  return `${result}: cache restored, taking the last figures`;
}

/** @param {Verdict['kind']} kind */
export function verdictText(kind) {
  return kind.replaceAll('-', ' ');
}

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

/** @param {Plan} plan */
export function isBlackout({ stages }) {
  return stages.every(({ kind }) => kind === 'blackout');
}

/**
 * @param {Plan} plan
 * @returns {string}
 */
export function modeText(plan) {
  if (isBlackout(plan)) return 'The engine is taken for dead: its breakers are forced open. No page is flushed.';
  return MODES[plan.mode];
}

/**
 * The minimum duration of the plan.
 * @param {Plan} plan
 */
export function planDurationMs({ baselineMs, stages, afterMs }) {
  return baselineMs + stages.reduce((sum, { holdMs }) => sum + holdMs, 0) + afterMs;
}

/**
 * The domain that the drill works on, or the last one it worked on.
 * @param {Journal} journal
 */
export function drilledDomain({ state, samples, domains }) {
  return state.kind === 'running' ? state.domain : (samples.at(-1)?.domain ?? domains[0]);
}

/**
 * The hit ratio of each cohort now and in the baseline, control first. Undefined after too few searches.
 * @param {Journal} journal
 * @returns {readonly { readonly name: string, readonly before: number | undefined, readonly now: number | undefined }[]}
 */
export function cohortsOf(journal) {
  const { samples, plan } = journal;
  const domain = drilledDomain(journal);
  const own = samples.filter((sample) => sample.domain === domain);
  const baseline = own.filter(({ phase }) => phase === 'baseline');
  return Array.from({ length: cohortCount(own) }, (_, at) => {
    const stage = plan.stages[at - 1];
    return {
      name: at === 0 ? 'control' : stage === undefined ? `stage ${at}` : stageTitle(stage),
      before: ratioOver(baseline, at, baseline.length - 1, baseline.length, baseline.length),
      now: recentRatio(own, at, own.length - 1),
    };
  });
}

/** @param {readonly Sample[]} samples */
export function cohortCount(samples) {
  return samples.reduce((most, { figures }) => Math.max(most, figures.cohorts.length), 0);
}

/**
 * The hit ratio of a cohort at a sample, over the shortest time before it that has enough searches.
 * @param {readonly Sample[]} samples
 * @param {number} at The cohort; 0 is the control.
 * @param {number} until The sample.
 */
export function recentRatio(samples, at, until) {
  return ratioOver(samples, at, until, MIN_SAMPLES, MAX_SAMPLES);
}

/**
 * @param {number} at The cohort; 0 is the control.
 * @returns {import('../plot/charts.mjs').Colour}
 */
export function cohortColour(at) {
  return at === 0 ? 'memory' : (COHORT_COLOURS[(at - 1) % COHORT_COLOURS.length] ?? 'engine');
}

/**
 * @param {readonly Sample[]} samples
 * @param {number} at
 * @param {number} until
 * @param {number} minSamples
 * @param {number} maxSamples
 */
function ratioOver(samples, at, until, minSamples, maxSamples) {
  let searches = 0;
  let hits = 0;
  for (let back = 0; back < maxSamples && back <= until; back += 1) {
    if (back >= minSamples && searches >= MIN_SEARCHES) break;
    const cohort = samples[until - back]?.figures.cohorts[at];
    if (cohort?.hitRatio === undefined) continue;
    searches += cohort.searches;
    hits += cohort.searches * cohort.hitRatio;
  }
  return searches < MIN_SEARCHES ? undefined : hits / searches;
}

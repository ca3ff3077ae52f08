/**
 * The hit ratios of a drill's cohorts while it runs.
 * @typedef {import('../api.mjs').Journal} Journal
 * @typedef {import('../api.mjs').Sample} Sample
 */

import { stageTitles } from '../../../../operations/drills/view.mjs';

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
  const titles = stageTitles(plan);
  const domain = drilledDomain(journal);
  const own = samples.filter((sample) => sample.domain === domain);
  const baseline = own.filter(({ phase }) => phase === 'baseline');
  return Array.from({ length: cohortCount(own) }, (_, at) => ({
    name: at === 0 ? 'control' : (titles[at - 1] ?? `stage ${at}`),
    before: ratioOver(baseline, at, baseline.length - 1, baseline.length, baseline.length),
    now: recentRatio(own, at, own.length - 1),
  }));
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

import { stageTitle } from './drill-words.mjs';

/**
 * @typedef {import('../data/shapes.mjs').Journal} Journal
 * @typedef {import('../data/shapes.mjs').Sample} Sample
 */

/** Of three searches one more miss is a third: with fewer than these nothing is said. */
export const LEAST_SEARCHES = 25;
/** At least four samples, two seconds, are taken together; for a cohort that is hardly asked for at most ten seconds. */
const LEAST_SAMPLES = 4;
const MOST_SAMPLES = 20;

/**
 * Each cohort now and in the baseline, control first. Undefined where too little was searched to tell.
 * @param {Journal} journal
 * @returns {readonly { readonly name: string, readonly before: number | undefined, readonly now: number | undefined }[]}
 */
export function cohortsOf({ samples, plan, state, domains }) {
  const domain = state.kind === 'running' ? state.domain : (samples.at(-1)?.domain ?? domains[0]);
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
 * The hit ratio of a cohort at a sample, over as short a time before it as tells something.
 * @param {readonly Sample[]} samples
 * @param {number} at Of the cohort.
 * @param {number} until
 */
export function recentRatio(samples, at, until) {
  return ratioOver(samples, at, until, LEAST_SAMPLES, MOST_SAMPLES);
}

/**
 * @param {readonly Sample[]} samples
 * @param {number} at
 * @param {number} until
 * @param {number} least
 * @param {number} most
 */
function ratioOver(samples, at, until, least, most) {
  let searches = 0;
  let hits = 0;
  for (let back = 0; back < most && back <= until; back += 1) {
    if (back >= least && searches >= LEAST_SEARCHES) break;
    const cohort = samples[until - back]?.figures.cohorts[at];
    if (cohort?.hitRatio === undefined) continue;
    searches += cohort.searches;
    hits += cohort.searches * cohort.hitRatio;
  }
  return searches < LEAST_SEARCHES ? undefined : hits / searches;
}

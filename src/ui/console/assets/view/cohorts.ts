import type { Journal, Sample } from '../../../../operations/drills/journal.ts';
import { stageTitles } from '../../../../operations/drills/view.ts';
import type { PointRun } from '../../../../report/plot/curve.ts';

/** The hit ratios of a drill's cohorts while it runs. */

/** A hit ratio of fewer searches is not shown: with three searches, one more miss changes it by a third. */
export const MIN_SEARCHES = 25;
/**
 * A hit ratio is measured over at least 2 s, and for a cohort with few searches over up to 10 s. Samples are 0.5 s
 * apart.
 */
const MIN_SAMPLES = 4;
const MAX_SAMPLES = 20;

/**
 * The colours of cohorts, as names of `LINE_INKS`. A plan has at most sixteen stages, each with a cohort. The colours
 * repeat; the legend and the table have the names.
 */
const COHORT_INKS = ['flushed', 'queued', 'p50', 'broken', 'recovered', 'noted'] as const;

/** The rules of `cohortStyle`. */
export const COHORT_STYLE = COHORT_INKS.map((name, i) => `.cohort-${i + 1}{--own:var(--line-${name})}`).join('\n');

/** The domain that the drill works on, or the last one it worked on. */
export function drilledDomain({ state, samples, domains }: Journal) {
  return state.kind === 'running' ? state.domain : (samples.at(-1)?.domain ?? domains[0]);
}

/** The hit ratio of each cohort now and in the baseline, control first. Undefined after too few searches. */
export function cohortRatios(journal: Journal) {
  const own = ownSamples(journal);
  const baseline = own.filter(({ phase }) => phase === 'baseline');
  return cohortNames(journal, own).map((name, at) => ({
    name,
    before: ratioOver(baseline, at, baseline.length - 1, baseline.length, baseline.length),
    now: recentRatio(own, at, own.length - 1),
  }));
}

/**
 * The hit ratio of each cohort over time. A small cohort is not searched every half second: its line joins the samples
 * that have a ratio.
 */
export function cohortRuns(journal: Journal): readonly { readonly name: string; readonly runs: readonly PointRun[] }[] {
  const own = ownSamples(journal);
  return cohortNames(journal, own).map((name, at) => {
    const points = own.flatMap(({ atMs }, i) => {
      const value = recentRatio(own, at, i);
      if (value === undefined) return [];
      return [{ fromMs: own[i - 1]?.atMs ?? atMs, toMs: atMs, value, low: value, high: value, weight: 1 }];
    });
    return { name, runs: points.length === 0 ? [] : [points] };
  });
}

/** @param at The cohort; 0 is the control. */
export function cohortStyle(at: number): string {
  return at === 0 ? 'control' : `cohort-${((at - 1) % COHORT_INKS.length) + 1}`;
}

function ownSamples(journal: Journal): readonly Sample[] {
  const domain = drilledDomain(journal);
  return journal.samples.filter((sample) => sample.domain === domain);
}

function cohortNames({ plan }: Journal, samples: readonly Sample[]): readonly string[] {
  const titles = stageTitles(plan);
  const count = samples.reduce((most, { figures }) => Math.max(most, figures.cohorts.length), 0);
  return Array.from({ length: count }, (_, at) => (at === 0 ? 'control' : (titles[at - 1] ?? `stage ${at}`)));
}

/** The hit ratio of a cohort at a sample, over the shortest time before it that has enough searches. */
function recentRatio(samples: readonly Sample[], at: number, until: number): number | undefined {
  return ratioOver(samples, at, until, MIN_SAMPLES, MAX_SAMPLES);
}

function ratioOver(samples: readonly Sample[], at: number, until: number, minSamples: number, maxSamples: number) {
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

import type { CohortFigures } from '../../meter/reading.ts';
import { countText, pointsText, UNKNOWN } from '../../report/number-text.ts';
import { chancePoints } from '../learner.ts';
import type { Plan } from '../plan.ts';
import type { Lesson } from './lessons.ts';
import { samplesOf, type Track } from './track.ts';

interface Ratio {
  readonly searches: number;
  readonly hitRatio: number;
}

/** A stage in which the control cohort was asked for less often is told together with the others. */
const ENOUGH_SEARCHES = 100;

/**
 * Whether the loss reached keys that nobody flushed. From all samples of a stage: the cohort is small, and its ratio at
 * one moment says little.
 */
export function controlLesson(track: Track, plan: Plan): readonly Lesson[] {
  const past = ratioOf([track.learned?.baseline.cohorts[0]]);
  const lowest = lowestStage(track);
  if (past === undefined || lowest === undefined) return [];
  const lost = Math.max(0, (past.hitRatio - lowest.hitRatio) * 100);
  const chance = chancePoints(past, lowest);
  const { withinPoints } = plan.recovery;
  const asFar = chance > withinPoints ? `, as far as ${countText(lowest.searches)} searches can tell` : '';
  const words =
    lost <= Math.max(withinPoints, chance)
      ? `The control cohort, which nobody flushed, did as well as before${asFar}: the loss stayed where it was made.`
      : 'The control cohort, which nobody flushed, lost hits too: the loss reached keys outside of the stages.';
  return [{ name: 'Lost by the control cohort', measured: pointsText(lost), foretold: UNKNOWN, words }];
}

function lowestStage(track: Track): Ratio | undefined {
  const during = samplesOf(track).filter(({ phase }) => phase !== 'baseline' && phase !== 'after');
  const control = (samples: typeof during): Ratio | undefined =>
    ratioOf(samples.map(({ figures }) => figures.cohorts[0]));
  const stages = [...Map.groupBy(during, ({ stage }) => stage).values()].flatMap((samples) => control(samples) ?? []);
  const told = stages.filter(({ searches }) => searches >= ENOUGH_SEARCHES);
  return told.length === 0 ? control(during) : told.toSorted((a, b) => a.hitRatio - b.hitRatio)[0];
}

function ratioOf(cohorts: readonly (CohortFigures | undefined)[]): Ratio | undefined {
  const searches = cohorts.reduce((sum, cohort) => sum + (cohort?.searches || 0), 0);
  const hits = cohorts.reduce((sum, cohort) => sum + (cohort?.searches || 0) * (cohort?.hitRatio || 0), 0);
  return searches > 0 ? { searches, hitRatio: hits / searches } : undefined;
}

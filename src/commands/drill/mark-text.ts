import type { DrillPhase, Mark } from '../../drills/journal.ts';
import type { Plan } from '../../drills/plan.ts';
import { duration, percent } from '../admin/format.ts';
import { guardValue } from './guard-text.ts';

const PHASES: Readonly<Record<DrillPhase, string>> = {
  baseline: 'measuring the baseline',
  stage: 'flushing',
  hold: 'on hold until the guards hold again and enough is searched',
  recovery: 'waiting for the flushed keys to be filled again',
  after: 'the cache is restored; measuring once more',
};

/** One thing that happened in a drill, in a sentence. */
export function markText(mark: Mark, plan: Plan): string {
  switch (mark.kind) {
    case 'phase':
      return `${mark.domain}: ${PHASES[mark.phase]}`;
    case 'stage': {
      const share = mark.ranges.reduce((sum, { from, to }) => sum + to - from, 0) / 10_000;
      const what = mark.ranges.length === 0 ? '' : ` (${percent(share)} of the keys)`;
      return `${mark.domain}: stage ${mark.stage + 1} of ${plan.stages.length}, ${mark.title}${what}`;
    }
    case 'guard':
      return `${mark.domain}: guard broken, ${mark.figure} ${guardValue(mark.figure, mark.value)} above ${guardValue(mark.figure, mark.max)}: ${mark.then}`;
    case 'guard-holds':
      return `${mark.domain}: ${mark.figure} holds again`;
    case 'recovered':
      return `${mark.domain}: stage ${mark.stage + 1} recovered after ${duration(mark.afterMs)}`;
    case 'restored':
      return `${mark.domain}: the cache is restored (${mark.why})`;
  }
}

import type { DrillPhase, Journal, Sample } from '../../drills/journal.ts';
import { elapsed, figure, milliseconds, percent } from '../admin/format.ts';

const PHASES: Readonly<Record<DrillPhase, string>> = {
  baseline: 'baseline',
  stage: 'flushed',
  hold: 'on hold',
  recovery: 'recovering',
  after: 'restored',
};

/** The line that is drawn over and over: where the drill is, and what it does to the domain. */
export function followLine({ atMs, domain, phase, stage, figures, guards }: Sample, { plan }: Journal): string {
  const [control, ...cohorts] = figures.cohorts;
  const flushed = cohorts[stage]?.hitRatio;
  const broken = guards.filter((guard) => guard.broken).map((guard) => guard.figure);
  const place = phase === 'baseline' ? '' : ` stage ${stage + 1}/${plan.stages.length}`;
  const hits = [
    `hits ${percent(figures.hitRatio)}`,
    ...(flushed === undefined || phase === 'baseline' ? [] : [`flushed ${percent(flushed)}`]),
    ...(control?.hitRatio === undefined ? [] : [`control ${percent(control.hitRatio)}`]),
  ].join(', ');
  return [
    `${elapsed(atMs).padStart(9)}  ${domain}${place} ${PHASES[phase]}`,
    // First, as a narrow terminal cuts off the rest.
    ...(broken.length === 0 ? [] : [`BROKEN: ${broken.join(', ')}`]),
    hits,
    `engine ${figure(figures.engineCallsPerSecond)}/s, ${figures.engineInFlight} of ${figures.engineCeiling}`,
    `p99 ${milliseconds(figures.p99Ms)}`,
    ...(figures.shedRate ? [`shed ${percent(figures.shedRate)}`] : []),
    ...(figures.errorRate ? [`errors ${percent(figures.errorRate)}`] : []),
  ].join('  ');
}

import type { DomainResult, DrillPhase, Journal, Mark, Survival } from '../../operations/drills/journal.ts';
import type { GuardFigure, Plan } from '../../operations/drills/plan.ts';
import { percentText, rangeText, timesText } from '../../report/format.ts';
import { columns, duration, figure, indented, milliseconds, moment, percent, verdictWords } from '../admin/format.ts';

/** A drill in a screenful: its verdict and what was learned. */
export function journalText(journal: Journal): string {
  const { id, plan, domains, verdict, startedAtMs, endedAtMs, by, reason, learned } = journal;
  const ended = endedAtMs === undefined ? 'not over yet' : `took ${duration(endedAtMs - startedAtMs)}`;
  const lines = [
    `${id}  ${plan.name} on ${domains.join(', ')}`,
    `started ${moment(startedAtMs)} by ${by}: ${reason}; ${ended}`,
    ...(verdict === undefined ? [stateText(journal)] : [`${verdictWords(verdict.kind)}: ${verdict.detail}`]),
    ...learned.map(learnedText),
  ];
  if (verdict?.resumable !== undefined) lines.push(`go on with it: serpcache drill resume ${id} --reason …`);
  if (verdict !== undefined) lines.push(`its report: serpcache drill report ${id} --out ${id}.html`);
  return lines.join('\n');
}

function stateText({ state, plan }: Journal): string {
  switch (state.kind) {
    case 'running':
      return `${state.domain}: ${state.phase}, stage ${state.stage + 1} of ${plan.stages.length}`;
    case 'ending':
      return `${state.ended === undefined ? 'every stage was survived' : verdictWords(state.ended.kind)}; the cache is restored, the last figures are being taken`;
    case 'over':
      return 'over';
  }
}

/** The same figures as on the page. */
function survivalTexts(survival: Survival | undefined): readonly string[] {
  if (survival === undefined) return [];
  return [
    `headroom left ${rangeText(survival.headroomLeft, timesText)}`,
    `amplification ${rangeText(survival.amplification, timesText)}`,
    `survivable f* ${rangeText(survival.survivable, percentText)}`,
  ];
}

function learnedText({ domain, baseline, after, stages, survival }: DomainResult): string {
  const head = ['', 'hits before', 'lowest', 'at the end', 'control', 'refilled in', 'engine peak'];
  const rows = stages.map(({ title, before, lowest, end, control, refillMs, peakEngineCallsPerSecond }) => [
    title,
    percent(before),
    percent(lowest),
    percent(end),
    percent(control),
    refillMs === undefined ? '–' : duration(refillMs),
    `${figure(peakEngineCallsPerSecond)}/s`,
  ]);
  const sums = [
    ...survivalTexts(survival),
    `p99 ${milliseconds(baseline.p99Ms)} before, ${milliseconds(after?.p99Ms)} after`,
  ];
  const table = rows.length === 0 ? [] : [indented(columns(rows, head))];
  return [domain, ...table, indented(sums.join(', '))].join('\n');
}

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

/** The value of a guard's figure in its own unit. */
export function guardValue(figure: GuardFigure, value: number): string {
  switch (figure) {
    case 'errorRate':
    case 'shedRate':
    case 'engineInFlightShare':
      return percent(value);
    case 'p99Ms':
      return `${Math.round(value)} ms`;
    case 'engineRateFactor':
      return `${value.toFixed(1)}×`;
    case 'hitRatioDrop':
      return `${value.toFixed(1)} points`;
  }
}

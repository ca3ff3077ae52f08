import type { Journal, Learned } from '../../drills/journal.ts';
import type { Survival } from '../../drills/survivable.ts';
import { percentText, rangeText, timesText } from '../../report/number-text.ts';
import { columns, indented } from '../admin/columns.ts';
import { duration, figure, milliseconds, moment, percent, verdictWords } from '../admin/format.ts';

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

function learnedText({ domain, baseline, after, stages, survival }: Learned): string {
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

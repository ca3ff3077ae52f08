import type { Journal, Learned } from '../../drills/journal.ts';
import { columns, indented } from '../admin/columns.ts';
import { duration, figure, milliseconds, moment, percent } from '../admin/format.ts';

/** A drill in a screenful: its verdict and what was learned. */
export function journalText(journal: Journal): string {
  const { id, plan, domains, verdict, state, startedAtMs, endedAtMs, by, reason, learned } = journal;
  const ended = endedAtMs === undefined ? 'running' : `took ${duration(endedAtMs - startedAtMs)}`;
  const where =
    state.kind === 'running'
      ? `${state.domain}: ${state.phase}, stage ${state.stage + 1} of ${plan.stages.length}`
      : '';
  const lines = [
    `${id}  ${plan.name} on ${domains.join(', ')}`,
    `started ${moment(startedAtMs)} by ${by}: ${reason}; ${ended}`,
    ...(verdict === undefined ? [where || state.kind] : [`${verdict.kind}: ${verdict.detail}`]),
    ...learned.map(learnedText),
  ];
  if (verdict?.resumable !== undefined) lines.push(`go on with it: serpcache drill resume ${id} --reason …`);
  if (verdict !== undefined) lines.push(`its report: serpcache drill report ${id} --out ${id}.html`);
  return lines.join('\n');
}

function learnedText({ domain, baseline, after, stages, ...learned }: Learned): string {
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
    `headroom left ${figure(learned.headroomLeft)}`,
    `amplification ${figure(learned.amplification)}`,
    `survivable f* ${percent(learned.survivable)}`,
    `p99 ${milliseconds(baseline.p99Ms)} before, ${milliseconds(after?.p99Ms)} after`,
  ];
  const table = rows.length === 0 ? [] : [indented(columns(rows, head))];
  return [domain, ...table, indented(sums.join(', '))].join('\n');
}

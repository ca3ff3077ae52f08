import { writeFileSync } from 'node:fs';
import type { DrillSummary, UnreadableReport } from '../../operations/drills/drills.ts';
import {
  type DomainResult,
  type DrillPhase,
  type Journal,
  MAX_SAMPLES,
  type Mark,
  type Survival,
} from '../../operations/drills/journal.ts';
import type { GuardFigure, Plan } from '../../operations/drills/plan.ts';
import { percentText, rangeText, timesText } from '../../report/format.mjs';
import type { AdminClient } from '../admin-client.ts';
import { UsageError } from '../arguments.ts';
import type { Command } from '../command.ts';
import { operatorCommand } from '../operator-command.ts';
import { columns, duration, figure, indented, milliseconds, moment, percent, verdictText } from '../terminal.ts';

interface Listed {
  readonly drills: readonly DrillSummary[];
  /** Absent in answers of older versions. */
  readonly unreadable?: readonly UnreadableReport[];
}

export const listDrills: Command = operatorCommand({
  name: 'drill list',
  usage: '',
  summary: 'running and finished drills, newest first',
  options: [],
  takes: { min: 0, max: 0 },
  run: async ({ client, output }) => {
    const found = await client.get<Listed>('/admin/drills');
    output.result(found, () => {
      const damaged = (found.unreadable ?? []).map(unreadableText);
      if (found.drills.length === 0) return ['there was no drill yet', ...damaged].join('\n');
      const rows = found.drills.map(({ id, plan, domains, startedAtMs, endedAtMs, ...drill }) => [
        id,
        plan,
        domains.join(','),
        moment(startedAtMs),
        endedAtMs === undefined ? '' : duration(endedAtMs - startedAtMs),
        summaryState(drill),
      ]);
      return [columns(rows, ['id', 'plan', 'domains', 'started', 'took', 'verdict']), ...damaged].join('\n');
    });
  },
});

function summaryState({
  running,
  ending,
  here,
  verdict,
}: Pick<DrillSummary, 'running' | 'ending' | 'here' | 'verdict'>) {
  const where = here ? '' : ' elsewhere';
  if (running) return `running${where}`;
  if (ending !== undefined) return `${verdictText(ending.ended?.kind ?? 'restored')}, measuring afterwards${where}`;
  return verdictText(verdict?.kind ?? 'over');
}

function unreadableText({ id, where, why }: UnreadableReport): string {
  return `unreadable${id === undefined ? '' : ` ${id}`}, in ${where}: ${why}`;
}

export const drillStatus: Command = operatorCommand({
  name: 'drill status',
  usage: '[id]',
  summary: 'the state of a drill, or its end; by default the running one, else the latest',
  options: [],
  takes: { min: 0, max: 1 },
  run: async ({ args, client, output }) => {
    const id = await whichDrill(args.positionals[0], client, 'latest');
    // Leaves the samples out: the state needs none of them.
    const query = [['samples', String(MAX_SAMPLES)]] as const;
    const journal = await client.get<Journal>(`/admin/drills/${encodeURIComponent(id)}`, { query });
    output.result(journal, () => journalText(journal));
  },
});

export const reportDrill: Command = operatorCommand({
  name: 'drill report',
  usage: '[id] [--out report.html]',
  summary: 'the course and the result of a drill; by default the latest; as JSON the whole journal',
  options: [{ name: 'out', takes: 'FILE', about: 'write a self-contained page with plots' }],
  takes: { min: 0, max: 1 },
  run: async ({ args, client, output }) => {
    const id = await whichDrill(args.positionals[0], client, 'latest');
    const path = `/admin/drills/${encodeURIComponent(id)}`;
    const file = args.text('out');
    if (file === undefined) {
      const journal = await client.get<Journal>(path);
      output.result(journal, () => journalText(journal));
      return;
    }
    const page = await client.page(`${path}/report`);
    writeFileSync(file, page);
    output.result({ id, file }, () => `the report of ${id} is in ${file}`);
  },
});

export const abortDrill: Command = operatorCommand({
  name: 'drill abort',
  usage: '[id] [--reason TEXT]',
  summary: 'end a drill and restore the cache at once; by default the running one',
  options: [],
  takes: { min: 0, max: 1 },
  run: async ({ args, client, output, reason }) => {
    const id = await whichDrill(args.positionals[0], client, 'running');
    const body = reason === undefined ? {} : { reason };
    const done = await client.post(`/admin/drills/${encodeURIComponent(id)}/abort`, body);
    output.result(done, () => `${id} is aborted, and the cache restored`);
  },
});

/** The id given; without one, the running drill or, with `latest`, the latest. @throws UsageError */
export async function whichDrill(
  given: string | undefined,
  client: AdminClient,
  among: 'running' | 'latest',
): Promise<string> {
  if (given !== undefined) return given;
  const { drills } = await client.get<{ drills: readonly DrillSummary[] }>('/admin/drills');
  const running = drills.filter((drill) => drill.running || drill.ending !== undefined);
  if (running.length > 1) throw new UsageError(`which drill? these run: ${running.map(({ id }) => id).join(', ')}`);
  const found = running[0] ?? (among === 'latest' ? drills[0] : undefined);
  if (found !== undefined) return found.id;
  throw new Error(among === 'running' ? 'no drill runs now' : 'there was no drill yet');
}

/** A drill on one screen: its verdict and its result. */
export function journalText(journal: Journal): string {
  const { id, plan, domains, verdict, startedAtMs, endedAtMs, by, reason, learned } = journal;
  const ended = endedAtMs === undefined ? 'not over yet' : `took ${duration(endedAtMs - startedAtMs)}`;
  const lines = [
    `${id}  ${plan.name} on ${domains.join(', ')}`,
    `started ${moment(startedAtMs)} by ${by}: ${reason}; ${ended}`,
    ...(verdict === undefined ? [stateText(journal)] : [`${verdictText(verdict.kind)}: ${verdict.detail}`]),
    ...learned.map(resultText),
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
      return `${state.ended === undefined ? 'every stage was survived' : verdictText(state.ended.kind)}; the cache is restored, the last figures are being taken`;
    case 'over':
      return 'over';
  }
}

/** The same figures as in the HTML report. */
function survivalTexts(survival: Survival | undefined): readonly string[] {
  if (survival === undefined) return [];
  return [
    `headroom left ${rangeText(survival.headroomLeft, timesText)}`,
    `amplification ${rangeText(survival.amplification, timesText)}`,
    `survivable f* ${rangeText(survival.survivable, percentText)}`,
  ];
}

function resultText({ domain, baseline, after, stages, survival }: DomainResult): string {
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

/** One event of a drill as a sentence. */
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

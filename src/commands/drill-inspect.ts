import type { DrillSummary, ListedDrills, UnreadableReport } from '../operations/drills/drills.ts';
import { type DomainResult, type Journal, MAX_SAMPLES } from '../operations/drills/journal.ts';
import type { Plan } from '../operations/drills/plan.ts';
import {
  drillVerdictWord,
  endingText,
  STAGE_COLUMNS,
  stageRows,
  stateText,
  survivalFigures,
} from '../operations/drills/view.ts';
import { durationText, utcText } from '../report/format.ts';
import type { AdminClient } from './admin-client.ts';
import { UsageError } from './arguments.ts';
import type { Command } from './command.ts';
import { operatorCommand, printReport, REPORT_FILE } from './operator-command.ts';
import { columns, indented } from './terminal.ts';

export const listDrills: Command = operatorCommand({
  name: 'drill list',
  usage: '',
  summary: 'running and finished drills, newest first',
  run: async ({ client, output }) => {
    const found = await client.get<ListedDrills>('/admin/drills');
    output.result(found, () => {
      const damaged = found.unreadable.map(unreadableText);
      if (found.drills.length === 0) return ['there was no drill yet', ...damaged].join('\n');
      const rows = found.drills.map((drill) => [
        drill.id,
        drill.plan,
        drill.domains.join(','),
        utcText(drill.startedAtMs),
        drill.endedAtMs === undefined ? '' : durationText(drill.endedAtMs - drill.startedAtMs),
        summaryState(drill),
      ]);
      return [columns(rows, ['id', 'plan', 'domains', 'started', 'took', 'verdict']), ...damaged].join('\n');
    });
  },
});

function summaryState({ running, ending, here, verdict }: Omit<DrillSummary, 'id'>): string {
  const where = here ? '' : ' elsewhere';
  if (running) return `running${where}`;
  if (ending !== undefined) return `${endingText(ending)}${where}`;
  return verdict === undefined ? 'over' : drillVerdictWord(verdict.kind);
}

function unreadableText({ id, where, why }: UnreadableReport): string {
  return `unreadable${id === undefined ? '' : ` ${id}`}, in ${where}: ${why}`;
}

export const drillStatus: Command = operatorCommand({
  name: 'drill status',
  usage: '[id]',
  summary: 'the state of a drill, or its end; by default the running one, else the latest',
  takes: { min: 0, max: 1 },
  run: async ({ args, client, output }) => {
    const id = await whichDrill(args.positionals[0], client, 'latest');
    // Leaves the samples out: the state needs none of them.
    const query = [['samples', MAX_SAMPLES]] as const;
    const journal = await client.get<Journal>(`/admin/drills/${encodeURIComponent(id)}`, { query });
    output.result(journal, () => journalText(journal));
  },
});

export const reportDrill: Command = operatorCommand({
  name: 'drill report',
  usage: '[id] [--out report.html]',
  summary: 'the course and the result of a drill; by default the latest; as JSON the whole journal',
  options: [REPORT_FILE],
  takes: { min: 0, max: 1 },
  run: async (context) => {
    const id = await whichDrill(context.args.positionals[0], context.client, 'latest');
    await printReport(context, id, `/admin/drills/${encodeURIComponent(id)}`, journalText);
  },
});

export const abortDrill: Command = operatorCommand({
  name: 'drill abort',
  usage: '[id] [--reason TEXT]',
  summary: 'end a drill and restore the cache at once; by default the running one',
  takes: { min: 0, max: 1 },
  run: async ({ args, client, output, reason }) => {
    const id = await whichDrill(args.positionals[0], client, 'running');
    const done = await client.post(`/admin/drills/${encodeURIComponent(id)}/abort`, { reason });
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
  const ended = endedAtMs === undefined ? 'not over yet' : `took ${durationText(endedAtMs - startedAtMs)}`;
  const lines = [
    `${id}  ${plan.name} on ${domains.join(', ')}`,
    `started ${utcText(startedAtMs)} by ${by}: ${reason}; ${ended}`,
    verdict === undefined ? stateText(journal) : `${drillVerdictWord(verdict.kind)}: ${verdict.detail}`,
    ...learned.map((result) => resultText(result, plan)),
  ];
  if (verdict?.resumable !== undefined) lines.push(`go on with it: serpcache drill resume ${id} --reason …`);
  if (verdict !== undefined) lines.push(`its report: serpcache drill report ${id} --out ${id}.html`);
  return lines.join('\n');
}

function resultText(result: DomainResult, plan: Plan): string {
  const { domain, baseline, after, survival } = result;
  const rows = stageRows(result, plan);
  const sums = [
    ...(survival === undefined
      ? []
      : Object.values(survivalFigures(result)).map(({ name, text }) => `${name} ${text}`)),
    `p99 ${durationText(baseline.p99Ms)} before, ${durationText(after?.p99Ms)} after`,
  ];
  // The report's caption names the figure; a terminal shows the table alone.
  const head = STAGE_COLUMNS.with(1, 'Hits before');
  const table = rows.length === 0 ? [] : [indented(columns(rows, head))];
  return [domain, ...table, indented(sums.join(', '))].join('\n');
}

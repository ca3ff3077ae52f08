import { writeFileSync } from 'node:fs';
import type { DrillSummary, UnreadableReport } from '../../operations/drills/drills.ts';
import { type Journal, MAX_SAMPLES } from '../../operations/drills/journal.ts';
import type { AdminClient } from '../admin/client.ts';
import { columns, duration, moment, verdictWords } from '../admin/format.ts';
import { operatorCommand } from '../admin/operator-command.ts';
import { UsageError } from '../arguments.ts';
import type { Command } from '../command.ts';
import { journalText } from './journal-text.ts';

interface Listed {
  readonly drills: readonly DrillSummary[];
  /** Absent in answers of older versions. */
  readonly unreadable?: readonly UnreadableReport[];
}

export const listDrills: Command = operatorCommand({
  name: 'drill list',
  usage: '',
  summary: 'drills that run and drills that ran, newest first',
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
        stateText(drill),
      ]);
      return [columns(rows, ['id', 'plan', 'domains', 'started', 'took', 'verdict']), ...damaged].join('\n');
    });
  },
});

function stateText({ running, ending, here, verdict }: Pick<DrillSummary, 'running' | 'ending' | 'here' | 'verdict'>) {
  const where = here ? '' : ' elsewhere';
  if (running) return `running${where}`;
  if (ending !== undefined) return `${verdictWords(ending.ended?.kind ?? 'restored')}, measuring afterwards${where}`;
  return verdictWords(verdict?.kind ?? 'over');
}

function unreadableText({ id, where, why }: UnreadableReport): string {
  return `unreadable${id === undefined ? '' : ` ${id}`}, in ${where}: ${why}`;
}

export const drillStatus: Command = operatorCommand({
  name: 'drill status',
  usage: '[id]',
  summary: 'where a drill is, or how it ended; the one that runs, or the latest',
  options: [],
  takes: { min: 0, max: 1 },
  run: async ({ words, client, output }) => {
    const id = await whichDrill(words.positionals[0], client, 'latest');
    // Not its samples: what is wanted is a glance.
    const query = [['samples', String(MAX_SAMPLES)]] as const;
    const journal = await client.get<Journal>(`/admin/drills/${encodeURIComponent(id)}`, { query });
    output.result(journal, () => journalText(journal));
  },
});

export const reportDrill: Command = operatorCommand({
  name: 'drill report',
  usage: '[id] [--out report.html]',
  summary: 'what a drill did and what was learned, of the latest unless named; as JSON the whole journal',
  options: [{ name: 'out', takes: 'FILE', about: 'write the page with its plots, which needs nothing from elsewhere' }],
  takes: { min: 0, max: 1 },
  run: async ({ words, client, output }) => {
    const id = await whichDrill(words.positionals[0], client, 'latest');
    const path = `/admin/drills/${encodeURIComponent(id)}`;
    const file = words.text('out');
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
  summary: 'end a drill and restore the cache at once; the one that runs, when there is one',
  options: [],
  takes: { min: 0, max: 1 },
  run: async ({ words, client, output, reason }) => {
    const id = await whichDrill(words.positionals[0], client, 'running');
    const body = reason === undefined ? {} : { reason };
    const done = await client.post(`/admin/drills/${encodeURIComponent(id)}/abort`, body);
    output.result(done, () => `${id} is aborted, and the cache restored`);
  },
});

/** The drill named; without a name the one that runs or, where that will do, the latest. @throws UsageError */
export async function whichDrill(
  given: string | undefined,
  client: AdminClient,
  among: 'running' | 'latest',
): Promise<string> {
  if (given !== undefined) return given;
  const { drills } = await client.get<{ drills: readonly DrillSummary[] }>('/admin/drills');
  const running = drills.filter((drill) => drill.running || drill.ending !== undefined);
  if (running.length > 1) throw new UsageError(`which? running are ${running.map(({ id }) => id).join(', ')}`);
  const found = running[0] ?? (among === 'latest' ? drills[0] : undefined);
  if (found !== undefined) return found.id;
  throw new Error(among === 'running' ? 'no drill runs now' : 'there was no drill yet');
}

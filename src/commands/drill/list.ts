import type { DrillSummary, UnreadableReport } from '../../drills/drills.ts';
import { columns } from '../admin/columns.ts';
import { duration, moment, verdictWords } from '../admin/format.ts';
import { operatorCommand } from '../admin/operator-command.ts';
import type { Command } from '../command.ts';

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

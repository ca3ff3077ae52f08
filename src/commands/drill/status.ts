import { type Journal, MAX_SAMPLES } from '../../drills/journal.ts';
import { operatorCommand } from '../admin/operator-command.ts';
import type { Command } from '../command.ts';
import { journalText } from './journal-text.ts';
import { whichDrill } from './which.ts';

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

import { type Journal, MAX_SAMPLES } from '../../drills/journal.ts';
import { operatorCommand } from '../admin/operator-command.ts';
import type { Command } from '../command.ts';
import { followDrill } from './follow.ts';
import { whichDrill } from './which.ts';

export const watchDrill: Command = operatorCommand({
  name: 'drill watch',
  usage: '[id]',
  summary: 'follow a drill to its end; Ctrl-C leaves it running',
  options: [],
  takes: { min: 0, max: 1 },
  details: [
    'Exit status 0: it passed. 1: it failed. 2: not measured, aborted or lost. 3: refused, or the watching ended before it.',
  ],
  run: async (desk) => {
    const id = await whichDrill(desk.words.positionals[0], desk.client, 'running');
    const query = [['samples', String(MAX_SAMPLES)]] as const;
    const journal = await desk.client.get<Journal>(`/admin/drills/${encodeURIComponent(id)}`, { query });
    await followDrill(desk, journal, 'leave');
  },
});

import { operatorCommand } from '../admin/operator-command.ts';
import type { Command } from '../command.ts';
import { whichDrill } from './which.ts';

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

import { writeFileSync } from 'node:fs';
import type { Journal } from '../../drills/journal.ts';
import { operatorCommand } from '../admin/operator-command.ts';
import type { Command } from '../command.ts';
import { journalText } from './journal-text.ts';
import { whichDrill } from './which.ts';

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

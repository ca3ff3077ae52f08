import { operatorCommand } from './admin/operator-command.ts';
import { type AffectedAnswer, affectedLines } from './admin/preview-text.ts';
import type { Command } from './command.ts';

interface PurgeAnswer {
  readonly domain: string;
  readonly text: string;
  readonly revision: number;
  readonly generation: number;
  readonly affected: AffectedAnswer;
}

export const purge: Command = operatorCommand({
  name: 'purge',
  usage: '<domain> <query> [--reason TEXT]',
  summary: 'flush every page of one query, whatever its filters and page numbers',
  options: [],
  takes: { min: 2, max: 2 },
  run: async ({ words, client, output, reason }) => {
    const [domain, q] = words.positionals;
    const body = { domain, q, ...(reason === undefined ? {} : { reason }) };
    const done = await client.post<PurgeAnswer>('/admin/purge', body);
    const said = `${done.domain}: every page of "${done.text}" is flushed, revision ${done.revision}`;
    output.result(done, () => [said, ...affectedLines(done.affected)].join('\n'));
  },
});

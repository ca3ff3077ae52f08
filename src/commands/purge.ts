import { operatorCommand } from './admin/operator-command.ts';
import type { Command } from './command.ts';

interface PurgeAnswer {
  readonly domain: string;
  readonly text: string;
  readonly revision: number;
  readonly generation: number;
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
    output.result(done, () => `${done.domain}: every page of "${done.text}" is flushed, revision ${done.revision}`);
  },
});

import type { QueryCount } from '../popularity/counter-store.ts';
import type { AdminClient } from './admin/client.ts';
import { columns } from './admin/columns.ts';
import { grouped } from './admin/format.ts';
import { operatorCommand } from './admin/operator-command.ts';
import type { Command } from './command.ts';

interface Popular {
  readonly domain: string;
  readonly source: 'fleet' | 'process';
  readonly queries: readonly QueryCount[];
}

export const popular: Command = operatorCommand({
  name: 'popular',
  usage: '[domain] [--limit 20]',
  summary: 'what is asked most, of one domain or of all',
  options: [{ name: 'limit', takes: 'N', about: 'queries per domain; 20 unless said' }],
  takes: { min: 0, max: 1 },
  details: ['Each query is printed as a file for serpcache warm may hold it: q=…&filter=…'],
  run: async ({ words, client, output }) => {
    const limit = words.number('limit', { least: 1, most: 100_000, whole: true }) ?? 20;
    const [named] = words.positionals;
    const ask = (domain: string) => {
      const query = [
        ['domain', domain],
        ['limit', String(limit)],
      ] as const;
      return client.get<Popular>('/admin/popular', { query });
    };
    if (named !== undefined) {
      const found = await ask(named);
      output.result(found, () => textOf(found));
      return;
    }
    const domains: Popular[] = [];
    for (const domain of await domainNames(client)) domains.push(await ask(domain));
    output.result({ domains }, () => domains.map(textOf).join('\n\n'));
  },
});

async function domainNames(client: AdminClient): Promise<readonly string[]> {
  const { domains } = await client.get<{ domains: readonly { readonly domain: string }[] }>('/admin/domains');
  return domains.map(({ domain }) => domain);
}

function textOf({ domain, source, queries }: Popular): string {
  const where = source === 'fleet' ? 'all processes, the last hour or so' : 'this process alone';
  const rows = queries.map(({ search, count }) => [grouped(count), search]);
  return `${domain} (${where})\n${rows.length === 0 ? 'nothing was asked yet' : columns(rows)}`;
}

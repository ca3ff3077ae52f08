import { columns } from './admin/columns.ts';
import { moment, plural } from './admin/format.ts';
import { operatorCommand } from './admin/operator-command.ts';
import { UsageError } from './arguments.ts';
import type { Command } from './command.ts';

interface SuppressAnswer {
  readonly domain: string;
  readonly suppressed: number;
  readonly revision: number;
}

interface Suppressed {
  readonly max: number;
  readonly suppressed: readonly { readonly id: string; readonly atMs: number }[];
}

export const suppress: Command = operatorCommand({
  name: 'suppress',
  usage: '<domain> <id>… [--lift] [--reason TEXT] | <domain> --list',
  summary: 'make documents vanish from every page of every replica at once, without a flush',
  options: [
    { name: 'lift', about: 'they may be seen again' },
    { name: 'list', about: 'those that are suppressed' },
  ],
  takes: { min: 1, max: 1025 },
  run: async ({ words, client, output, reason }) => {
    const [domain = '', ...ids] = words.positionals;
    if (words.has('list')) {
      if (ids.length > 0 || words.has('lift')) throw new UsageError('--list takes a domain and nothing else');
      const found = await client.get<Suppressed>('/admin/suppressed', { query: [['domain', domain]] });
      output.result(found, () => {
        const rows = found.suppressed.map(({ id, atMs }) => [id, moment(atMs)]);
        const sum = `${found.suppressed.length} of at most ${found.max} suppressed`;
        return rows.length === 0 ? sum : `${columns(rows, ['id', 'since'])}\n${sum}`;
      });
      return;
    }
    if (ids.length === 0) throw new UsageError('which documents? name their ids, or --list');
    const lift = words.has('lift');
    const body = { domain, ids, ...(reason === undefined ? {} : { reason }) };
    const done = await client.post<SuppressAnswer>(lift ? '/admin/unsuppress' : '/admin/suppress', body);
    const many = plural(ids.length, 'document');
    const what = lift ? `${many} may be seen again` : `${many} hidden`;
    output.result(done, () => `${domain}: ${what}; ${done.suppressed} suppressed in all, revision ${done.revision}`);
  },
});

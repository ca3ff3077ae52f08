import type { MostAsked } from '../popularity/shared.ts';
import { bytesText, countText, durationText } from '../report/format.ts';
import type { Explanation, TierExplanation } from '../search/explain.ts';
import { UsageError } from './arguments.ts';
import type { Command } from './command.ts';
import { domainNames, operatorCommand } from './operator-command.ts';
import { columns, indented } from './terminal.ts';

/** Shows the key of a search and the state of its answer in each tier. Changes nothing. */
export const explainCommand: Command = operatorCommand({
  name: 'explain',
  usage: '<domain> <query> [param=value…] [--header name=value…]',
  summary: 'show the cache key of a search, how it was made, and the state of its answer in each tier',
  options: [{ name: 'header', takes: 'NAME=VALUE', about: 'a declared context header', repeats: true }],
  takes: { min: 2, max: 66 },
  run: async ({ args, client, output }) => {
    const [domain = '', q = '', ...more] = args.positionals;
    const query = [['domain', domain], ['q', q], ...more.map((word) => parseAssignment(word, 'a parameter'))] as const;
    const headers = Object.fromEntries(args.texts('header').map((word) => parseAssignment(word, '--header')));
    const found = await client.get<Explanation>('/admin/explain', { query, headers });
    output.result(found, () => explanationText(found));
  },
});

export function parseAssignment(word: string, what: string): readonly [string, string] {
  const at = word.indexOf('=');
  if (at > 0 && !(what === '--header' && !/^[\w-]+=[ -~]*$/.test(word))) return [word.slice(0, at), word.slice(at + 1)];
  throw new UsageError(`${what} is name=value, not "${word}"`);
}

function explanationText(found: Explanation): string {
  const { rules, ignored, lastMiss, node, slot } = found;
  const facts = [
    ['canonical', found.canonical],
    ['key', found.key],
    ['bucket', String(found.bucket)],
    [
      'store name',
      `${found.storeName}${node === undefined ? '' : ` on ${node}`}${slot === undefined ? '' : ` (slot ${slot})`}`,
    ],
    ...rules.map(({ rule, before, after }) => ['rule', `${rule}: "${before}" → "${after}"`]),
    ...(ignored.length === 0 ? [] : [['ignored', ignored.join(', ')]]),
    ...(lastMiss === undefined
      ? []
      : [['last miss', `${lastMiss.reason}, ${durationText(lastMiss.secondsAgo * 1000)} ago`]]),
  ];
  const tiers = found.tiers.map((tier) => [tier.tier, tier.state, tierText(tier)]);
  return `${facts.map(([name = '', text]) => `${name.padEnd(10)}  ${text}`).join('\n')}\n${indented(columns(tiers))}`;
}

function tierText(tier: TierExplanation): string {
  const { detail, ageSeconds, freshForSeconds, generation, engineCostMs, results, coding } = tier;
  const seconds = (value: number): string => durationText(Math.abs(value) * 1000);
  return [
    detail,
    ageSeconds === undefined ? undefined : `computed ${seconds(ageSeconds)} ago`,
    freshForSeconds === undefined
      ? undefined
      : freshForSeconds >= 0
        ? `fresh for ${seconds(freshForSeconds)}`
        : `stale since ${seconds(freshForSeconds)}`,
    results === undefined ? undefined : `${results} results`,
    tier.bytes === undefined ? undefined : `${bytesText(tier.bytes)}${coding === undefined ? '' : ` ${coding}`}`,
    engineCostMs === undefined ? undefined : `cost ${Math.round(engineCostMs)} ms`,
    generation === undefined ? undefined : `generation ${generation}`,
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}

interface Popular extends MostAsked {
  readonly domain: string;
}

export const popular: Command = operatorCommand({
  name: 'popular',
  usage: '[domain] [--limit 20]',
  summary: 'the most frequent queries of one domain or of all',
  options: [{ name: 'limit', takes: 'N', about: 'queries per domain; 20 by default' }],
  takes: { min: 0, max: 1 },
  details: ['Each query is printed in the form that a file for serpcache warm may hold: q=…&filter=…'],
  run: async ({ args, client, output }) => {
    const limit = args.number('limit', { least: 1, most: 100_000, whole: true }) ?? 20;
    const [named] = args.positionals;
    const ask = (domain: string) => {
      const query = [
        ['domain', domain],
        ['limit', String(limit)],
      ] as const;
      return client.get<Popular>('/admin/popular', { query });
    };
    if (named !== undefined) {
      const found = await ask(named);
      output.result(found, () => popularText(found));
      return;
    }
    const domains: Popular[] = [];
    for (const domain of await domainNames(client)) domains.push(await ask(domain));
    output.result({ domains }, () => domains.map(popularText).join('\n\n'));
  },
});

function popularText({ domain, source, queries }: Popular): string {
  const where = source === 'fleet' ? 'all processes, the last hour or so' : 'this process alone';
  const rows = queries.map(({ search, count }) => [countText(count), search]);
  return `${domain} (${where})\n${rows.length === 0 ? 'nothing was asked yet' : columns(rows)}`;
}

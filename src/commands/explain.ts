import type { Explanation, TierExplanation } from '../search/explain.ts';
import { columns, indented } from './admin/columns.ts';
import { bytes, duration } from './admin/format.ts';
import { operatorCommand } from './admin/operator-command.ts';
import { UsageError } from './arguments.ts';
import type { Command } from './command.ts';

export const explain: Command = operatorCommand({
  name: 'explain',
  usage: '<domain> <query> [param=value…] [--header name=value…]',
  summary: 'why a search does or does not share an answer with another, and where its answer is now',
  options: [{ name: 'header', takes: 'NAME=VALUE', about: 'a declared context header', repeats: true }],
  takes: { min: 2, max: 66 },
  run: async ({ words, client, output }) => {
    const [domain = '', q = '', ...more] = words.positionals;
    const query = [['domain', domain], ['q', q], ...more.map((word) => assigned(word, 'a parameter'))] as const;
    const headers = Object.fromEntries(words.texts('header').map((word) => assigned(word, '--header')));
    const found = await client.get<Explanation>('/admin/explain', { query, headers });
    output.result(found, () => textOf(found));
  },
});

function assigned(word: string, what: string): readonly [string, string] {
  const at = word.indexOf('=');
  if (at > 0 && !(what === '--header' && !/^[\w-]+=[ -~]*$/.test(word))) return [word.slice(0, at), word.slice(at + 1)];
  throw new UsageError(`${what} is name=value, not "${word}"`);
}

function textOf(found: Explanation): string {
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
      : [['last miss', `${lastMiss.reason}, ${duration(lastMiss.secondsAgo * 1000)} ago`]]),
  ];
  const tiers = found.tiers.map((tier) => [tier.tier, tier.state, aboutTier(tier)]);
  return `${facts.map(([name = '', text]) => `${name.padEnd(10)}  ${text}`).join('\n')}\n${indented(columns(tiers))}`;
}

function aboutTier(tier: TierExplanation): string {
  const { detail, ageSeconds, freshForSeconds, generation, engineCostMs, results, coding } = tier;
  const seconds = (value: number): string => duration(Math.abs(value) * 1000);
  return [
    detail,
    ageSeconds === undefined ? undefined : `computed ${seconds(ageSeconds)} ago`,
    freshForSeconds === undefined
      ? undefined
      : freshForSeconds >= 0
        ? `fresh for ${seconds(freshForSeconds)}`
        : `stale since ${seconds(freshForSeconds)}`,
    results === undefined ? undefined : `${results} results`,
    tier.bytes === undefined ? undefined : `${bytes(tier.bytes)}${coding === undefined ? '' : ` ${coding}`}`,
    engineCostMs === undefined ? undefined : `cost ${Math.round(engineCostMs)} ms`,
    generation === undefined ? undefined : `generation ${generation}`,
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}

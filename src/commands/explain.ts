import type { MostAsked } from '../popularity/shared.ts';
import { bytesText, countText, durationText } from '../report/format.ts';
import type { Explanation, TierExplanation } from '../search/explain.ts';
import type { LiveTrace, RecordedSpan } from '../search/trace-recorder.ts';
import { type ParsedArguments, UsageError } from './arguments.ts';
import { type Command, NotPassed } from './command.ts';
import { domainNames, operatorCommand } from './operator-command.ts';
import { columns, indented } from './terminal.ts';

const HEADER = { name: 'header', takes: 'NAME=VALUE', about: 'a declared context header', repeats: true };

/** Shows the key of a search and the state of its answer in each tier. Changes nothing. */
export const explainCommand: Command = operatorCommand({
  name: 'explain',
  usage: '<domain> <query> [param=value…] [--header name=value…]',
  summary: 'show the cache key of a search, how it was made, and the state of its answer in each tier',
  options: [HEADER],
  takes: { min: 2, max: 66 },
  run: async ({ args, client, output }) => {
    const [domain = '', q = '', ...more] = args.positionals;
    const found = await client.get<Explanation>('/admin/explain', searchAsked(args, domain, q, more));
    output.result(found, () => explanationText(found));
  },
});

/** A search as a command names it: its words, further parameters, and `--header`. */
function searchAsked(args: ParsedArguments, domain: string, q: string, more: readonly string[]) {
  return {
    query: [['domain', domain], ['q', q], ...more.map((word) => parseAssignment(word, 'a parameter'))] as const,
    headers: Object.fromEntries(args.texts('header').map((word) => parseAssignment(word, '--header'))),
  };
}

function parseAssignment(word: string, what: string): readonly [string, string] {
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
  return `${columns(facts)}\n${indented(columns(tiers))}`;
}

function tierText(tier: TierExplanation): string {
  const { detail, ageSeconds, freshForSeconds, generation, engineCostMs, results, coding } = tier;
  const seconds = (value: number): string => durationText(Math.abs(value) * 1000);
  return said([
    detail,
    tier.change && changeText(tier.change),
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
  ]);
}

/** `changed 12 s ago: document 123`. */
function changeText({ kind, secondsAgo, document }: NonNullable<TierExplanation['change']>): string {
  if (kind === 'unknown') return 'it is not known what has changed since';
  const ago = secondsAgo === undefined ? '' : ` ${durationText(secondsAgo * 1000)} ago`;
  return `${kind}${ago}: ${document === undefined ? 'a document that is not on the page' : `document ${document}`}`;
}

function said(parts: readonly unknown[]): string {
  return parts.filter((part) => part !== undefined).join(', ');
}

/** Width of the part of a line that shows when a stage ran. */
const CHART_WIDTH = 40;

/** More than any search takes with its patience and its lifeboat: a process that hangs is told from one that is slow. */
const DEADLINE_MS = 15_000;

/** Runs one search as a client would, and prints when each stage ran and what it said. */
export const trace = operatorCommand({
  name: 'trace',
  usage: '<query> [param=value…] [--domain NAME] [--header name=value…]',
  summary: 'run one search now, and print the waterfall of its stages with what each tier said',
  options: [{ name: 'domain', takes: 'NAME', about: 'the first domain by default' }, HEADER],
  takes: { min: 1, max: 65 },
  details: [
    'The search is a real one: on a miss it asks the engine, and its page is stored. It is not counted as a request of a',
    'client. Without a page the exit status is 1. serpcache explain shows the state of the tiers without a search.',
  ],
  run: async ({ args, client, output }) => {
    const [q = '', ...more] = args.positionals;
    const domain = args.text('domain') ?? (await domainNames(client))[0] ?? '';
    const asked = searchAsked(args, domain, q, more);
    const found = await client.get<LiveTrace>('/admin/trace', { ...asked, deadlineMs: DEADLINE_MS });
    output.result(found, () => traceText(found));
    if (found.problem !== undefined) throw new NotPassed(`no page: ${found.problem.detail}`, 'failed');
  },
});

export function traceText({ domain, key, canonical, outcome, durationMs, spans, ...found }: LiveTrace): string {
  const facts = [
    ['search', `${domain}, key ${key}`],
    ['canonical', canonical],
    ['outcome', `${outcome}${found.reason === undefined ? '' : ` (${found.reason})`} in ${durationText(durationMs)}`],
    ...(found.cacheStatus === undefined ? [] : [['status', found.cacheStatus]]),
  ];
  // A stage that the answer did not wait for may end after the search.
  const endMs = Math.max(durationMs, ...spans.map(({ startMs, durationMs: ownMs = 0 }) => startMs + ownMs));
  const rows = spans.map((span) => [
    `${'  '.repeat(span.depth)}${span.stage}`,
    durationText(span.startMs),
    span.durationMs === undefined ? 'goes on' : durationText(span.durationMs),
    chartOf(span, endMs),
    saidBy(span),
  ]);
  const head = ['stage', 'begin', 'took', '', ''];
  return `${columns(facts)}\n\n${indented(columns(rows, head))}`;
}

/** A bar from the begin to the end of a stage; every stage shows at least one mark. */
function chartOf({ startMs, durationMs }: RecordedSpan, endMs: number): string {
  const at = (ms: number): number => (endMs > 0 ? Math.round((ms / endMs) * CHART_WIDTH) : 0);
  const from = Math.min(at(startMs), CHART_WIDTH - 1);
  const to = durationMs === undefined ? CHART_WIDTH : Math.max(at(startMs + durationMs), from + 1);
  return `│${' '.repeat(from)}${'█'.repeat(to - from)}${' '.repeat(CHART_WIDTH - to)}│`;
}

/** The prefix of the names that are this service's own. */
const OWN = 'serpcache.';

function saidBy({ facts, error, isShared }: RecordedSpan): string {
  // The key of the load is the key of the search.
  const { [`${OWN}result`]: result, [`${OWN}key`]: _, ...others } = facts;
  return said([
    error === undefined ? undefined : `failed: ${error}`,
    result,
    ...Object.entries(others).map(([name, value]) => `${name.replace(OWN, '')} ${value}`),
    isShared === true ? "waits for another search's load" : undefined,
  ]);
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
    const ask = (domain: string) => client.get<Popular>('/admin/popular', { query: Object.entries({ domain, limit }) });
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

import { durationText } from '../report/format.ts';
import type { LiveTrace, RecordedSpan } from '../search/trace-recorder.ts';
import { NotPassed } from './command.ts';
import { parseAssignment } from './explain.ts';
import { domainNames, operatorCommand } from './operator-command.ts';
import { columns, indented } from './terminal.ts';

/** Width of the part of a line that shows when a stage ran. */
const CHART_WIDTH = 40;

/** More than any search takes with its patience and its lifeboat: a process that hangs is told from one that is slow. */
const DEADLINE_MS = 15_000;

/** Runs one search as a client would, and prints when each stage ran and what it said. */
export const trace = operatorCommand({
  name: 'trace',
  usage: '<query> [param=value…] [--domain NAME] [--header name=value…]',
  summary: 'run one search now, and print the waterfall of its stages with what each tier said',
  options: [
    { name: 'domain', takes: 'NAME', about: 'the first domain by default' },
    { name: 'header', takes: 'NAME=VALUE', about: 'a declared context header', repeats: true },
  ],
  takes: { min: 1, max: 65 },
  details: [
    'The search is a real one: on a miss it asks the engine, and its page is stored. It is not counted as a request of a',
    'client. Without a page the exit status is 1. serpcache explain shows the state of the tiers without a search.',
  ],
  run: async ({ args, client, output }) => {
    const [q = '', ...more] = args.positionals;
    const domain = args.text('domain') ?? (await domainNames(client))[0] ?? '';
    const query = [['domain', domain], ['q', q], ...more.map((word) => parseAssignment(word, 'a parameter'))] as const;
    const headers = Object.fromEntries(args.texts('header').map((word) => parseAssignment(word, '--header')));
    const found = await client.get<LiveTrace>('/admin/trace', { query, headers, deadlineMs: DEADLINE_MS });
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
  return `${facts.map(([name = '', text]) => `${name.padEnd(10)}  ${text}`).join('\n')}\n\n${indented(columns(rows, head))}`;
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
  return [
    error === undefined ? undefined : `failed: ${error}`,
    result,
    ...Object.entries(others).map(([name, value]) => `${name.replace(OWN, '')} ${value}`),
    isShared === true ? "waits for another search's load" : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}

import { FLUSH_MODES } from '../control/document.ts';
import type { DrillSummary, HaltState } from '../operations/drills/drills.ts';
import type { FlushAnswer, PurgeAnswer, SuppressAnswer, SuppressedList } from '../operations/flush/answers.ts';
import type { Erasure, FlushPreview, SurvivalEstimate } from '../operations/flush/flush.ts';
import {
  amountText,
  bytesText,
  countText,
  durationText,
  percentText,
  perSecondText,
  plural,
  timesText,
  utcText,
} from '../report/format.ts';
import { sleep } from './admin-client.ts';
import { didYouMean, UsageError } from './arguments.ts';
import type { Command } from './command.ts';
import { type OperatorContext, operatorCommand } from './operator-command.ts';
import { columns, createProgress, indented } from './terminal.ts';

/** Flushes a domain permanently. A flush that can be taken back is a drill. */
export const flush: Command = operatorCommand({
  name: 'flush',
  usage: '<domain> [--mode refresh|drop|erase] [--fraction 0.25] [--dry-run] [--reason TEXT] [--yes]',
  summary: 'flush a domain, or a share of its keys, permanently (to rehearse a loss: serpcache drill)',
  options: [
    {
      name: 'mode',
      takes: 'MODE',
      about:
        'refresh (default): pages are stale until computed again; drop: they are misses; erase: they are removed; needs a reason',
    },
    { name: 'fraction', takes: 'SHARE', about: 'share of the keys, above 0 and at most 1; 1 by default' },
    { name: 'from', takes: 'BUCKET', about: 'first bucket of the share, 0 to 9999; random by default' },
    {
      name: 'by',
      takes: 'WAY',
      about: 'with erase: unlink (default), or flushall for whole nodes of a dedicated store',
    },
    { name: 'index-version', takes: 'TEXT', about: 'with refresh: the name that the indexing job gives its new index' },
    { name: 'dry-run', about: 'show the effect and the cost, and do nothing' },
  ],
  takes: { min: 1, max: 1 },
  details: ['drop and erase show the effect and ask; for erase, the name of the domain must be typed.'],
  run: async (context) => {
    const { args, client, output } = context;
    const [domain = ''] = args.positionals;
    const mode = args.text('mode') ?? 'refresh';
    oneOf('--mode', mode, FLUSH_MODES);
    const by = args.text('by');
    if (by !== undefined) oneOf('--by', by, ['unlink', 'flushall']);
    const ask = { domain, mode, fraction: args.number('fraction') ?? 1, from: args.number('from'), by };
    const preview = () => client.post<FlushPreview>('/admin/flush/preview', ask);
    if (args.has('dry-run')) {
      const found = await preview();
      output.result(found, () => `${previewText(domain, found)}\nnothing was done (--dry-run)`);
      return;
    }
    const reason = mode === 'erase' ? context.reasonFor('an erase') : context.reason;
    if (mode !== 'refresh' && context.asks()) {
      output.remark(previewText(domain, await preview()));
      await context.confirm(
        `${mode} ${percentText(ask.fraction)} of ${domain} for good?`,
        mode === 'erase' ? domain : undefined,
      );
    }
    const indexVersion = args.text('index-version');
    const done = await client.post<FlushAnswer>('/admin/flush', { ...ask, indexVersion, reason });
    await finish(context, done, ask.fraction);
  },
});

/** An erasure continues after the answer. The command waits until it ends. */
async function finish(context: OperatorContext, done: FlushAnswer, fraction: number): Promise<void> {
  const erasure = done.mode === 'erase' ? await followErasure(context, done.domain, done.erasure) : undefined;
  const whole = erasure === undefined ? done : { ...done, erasure };
  const said = [
    `${done.domain}: ${percentText(fraction)} flushed (${done.mode}), revision ${done.revision}, generation ${done.generation}`,
    ...affectedLines(done.affected),
    ...(erasure === undefined ? [] : [erasureText(erasure)]),
  ];
  context.output.result(whole, () => said.join('\n'));
  if (erasure !== undefined && erasure.state !== 'done') {
    throw new Error(
      `the erasure is ${erasure.state}; the pages that were not removed are flushed all the same: they are misses`,
    );
  }
}

function oneOf(option: string, given: string, allowed: readonly string[]): void {
  if (allowed.includes(given)) return;
  throw new UsageError(`${option} is one of ${allowed.join(', ')}${didYouMean(given, allowed, '; ')}`);
}

/** The cost of a flush, for the operator who decides. */
export function previewText(domain: string, preview: FlushPreview): string {
  const { mode, fraction, nodes, memory, engine } = preview;
  const rows = nodes.map(({ node, keys, bytes: size, exact, detail }) => [
    node,
    `${countText(keys)} keys`,
    bytesText(size),
    `${exact ? '' : 'estimated from a sample'}${detail === undefined ? '' : ` (${detail})`}`.trim(),
  ]);
  const held = ['memory of this process', `${countText(memory.entries)} pages`, bytesText(memory.bytes)];
  return [
    `${mode} ${percentText(fraction)} of ${domain}`,
    indented(columns([...rows, held])),
    ...survivalLines(engine, fraction).map((line) => indented(line)),
  ].join('\n');
}

/** The extra load of the engine, and whether the engine survives it. */
function survivalLines(estimate: SurvivalEstimate, fraction: number): readonly string[] {
  const { seconds, searches, hitRatio, engineCallMs, engineCallsPerSecond, survivable } = estimate;
  const measured = `measured over ${plural(searches, 'search', 'searches')} in ${durationText(seconds * 1000)}`;
  if (hitRatio === undefined) return [`engine: nothing can be said without traffic (${measured})`];
  const more = estimate.extraCallsPerSecond;
  const cost = engineCallMs === undefined ? '' : ` of ${durationText(engineCallMs)}`;
  const lines = [
    `engine: ${amountText(engineCallsPerSecond)} calls/s${cost} now at a hit ratio of ${percentText(hitRatio)}${
      more === undefined ? '' : `; at most ${perSecondText(more)} more right after it`
    } (${measured})`,
  ];
  if (survivable === undefined) return [...lines, 'survivable f*: too little load to say'];
  const why = `headroom H at least ${timesText(estimate.headroom)}, amplification A at most ${timesText(estimate.amplification)}`;
  lines.push(`survivable f* = (H − 1)/(A − 1) = at least ${percentText(survivable)} of the keys at once (${why})`);
  if (fraction > survivable) lines.push('! more than that: searches may be shed until it is refilled');
  return lines;
}

const affectedLines = ({ note, watch }: Pick<FlushAnswer['affected'], 'note' | 'watch'>): readonly string[] => [
  indented(note),
  indented(`watch: ${watch.join('\nwatch: ')}`),
];

const POLL_MS = 500;

/** Waits until the erasure of a domain ends, and shows progress. The erasure continues when the waiting is stopped. */
async function followErasure(
  { client, stderr, clock, signal }: OperatorContext,
  domain: string,
  first: Erasure | undefined,
): Promise<Erasure | undefined> {
  if (first?.state !== 'running') return first;
  const progress = createProgress({ label: `erasing ${domain}`, unit: 'keys', output: stderr, clock });
  let erasure: Erasure | undefined = first;
  try {
    while (erasure?.state === 'running') {
      progress.update(erasure.nodes.reduce((sum, { removed }) => sum + removed, 0));
      await sleep(POLL_MS, signal);
      const query = [['domain', domain]] as const;
      erasure = (await client.get<{ erasure?: Erasure }>('/admin/flush', { query })).erasure;
    }
  } catch (error) {
    if (signal.aborted) progress.note('the erasure goes on without this command');
    throw error;
  } finally {
    progress.finish();
  }
  return erasure;
}

function erasureText({ nodes, seconds, state }: Erasure): string {
  const rows = nodes.map(({ node, by, state: each, removed, detail = '' }) => [
    node,
    by,
    each,
    `${countText(removed)} keys`,
    detail,
  ]);
  return `erasure ${state} after ${durationText(seconds * 1000)}\n${indented(columns(rows))}`;
}

export const purgeCommand: Command = operatorCommand({
  name: 'purge',
  usage: '<domain> <query> [--reason TEXT]',
  summary: 'flush every page of one query, whatever its filters and page numbers',
  takes: { min: 2, max: 2 },
  run: async ({ args, client, output, reason }) => {
    const [domain, q] = args.positionals;
    const done = await client.post<PurgeAnswer>('/admin/purge', { domain, q, reason });
    const said = `${done.domain}: every page of "${done.text}" is flushed, revision ${done.revision}`;
    output.result(done, () => [said, ...affectedLines(done.affected)].join('\n'));
  },
});

export const suppressCommand: Command = operatorCommand({
  name: 'suppress',
  usage: '<domain> <id>… [--lift] [--reason TEXT] | <domain> --list',
  summary: 'remove documents from every page of every replica at once, without a flush',
  options: [
    { name: 'lift', about: 'show the documents again' },
    { name: 'list', about: 'list the suppressed documents' },
  ],
  takes: { min: 1, max: 1025 },
  run: async ({ args, client, output, reason }) => {
    const [domain = '', ...ids] = args.positionals;
    if (args.has('list')) {
      if (ids.length > 0 || args.has('lift')) throw new UsageError('--list takes a domain and nothing else');
      const found = await client.get<SuppressedList>('/admin/suppressed', { query: [['domain', domain]] });
      output.result(found, () => {
        const rows = found.suppressed.map(({ id, atMs }) => [id, utcText(atMs)]);
        const sum = `${found.suppressed.length} of at most ${found.max} suppressed`;
        return rows.length === 0 ? sum : `${columns(rows, ['id', 'since'])}\n${sum}`;
      });
      return;
    }
    if (ids.length === 0) throw new UsageError('which documents? name their ids, or --list');
    const lift = args.has('lift');
    const path = lift ? '/admin/unsuppress' : '/admin/suppress';
    const done = await client.post<SuppressAnswer>(path, { domain, ids, reason });
    const many = plural(ids.length, 'document');
    const what = lift ? `${many} may be seen again` : `${many} hidden`;
    output.result(done, () => `${domain}: ${what}; ${done.suppressed} suppressed in all, revision ${done.revision}`);
  },
});

export const haltCommand: Command = operatorCommand({
  name: 'halt',
  usage: '--reason TEXT [--yes] | --lift --reason TEXT | --status',
  summary:
    'end every drill, shadow and prepared cut-over, restore every cache, and start none until the halt is lifted',
  options: [
    { name: 'lift', about: 'drills may start again' },
    { name: 'status', about: 'show whether drills are halted, since when and why' },
  ],
  run: async ({ args, client, output, reasonFor, asks, confirm }) => {
    if (args.has('status')) {
      const state = await client.get<HaltState>('/admin/halt');
      output.result(state, () => statusText(state));
      return;
    }
    const reason = reasonFor('a halt');
    const lift = args.has('lift');
    if (!lift && asks()) {
      const { drills } = await client.get<{ drills: readonly DrillSummary[] }>('/admin/drills');
      const running = drills.filter((drill) => drill.running).map(({ id }) => id);
      output.remark(running.length === 0 ? 'no drill runs now' : `this ends ${running.join(', ')}`);
      await confirm('Halt all drills, and start none until it is lifted?');
    }
    const done = await client.post<{ halted: boolean }>(lift ? '/admin/halt/lift' : '/admin/halt', { reason });
    output.result(done, () =>
      done.halted
        ? 'halted: every drill is ended and its cache restored; lift it with serpcache halt --lift --reason …'
        : 'lifted: drills may start again',
    );
  },
});

function statusText({ halted, domains }: HaltState): string {
  if (!halted) return 'not halted';
  const rows = domains.map(({ domain, atMs, by, reason }) => [domain, utcText(atMs), by, reason]);
  return `halted\n${columns(rows, ['domain', 'since', 'by', 'reason'])}`;
}

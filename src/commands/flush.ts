import { nearest } from '../config/faults.ts';
import { FLUSH_MODES } from '../control/document.ts';
import type { DrillSummary } from '../operations/drills/drills.ts';
import type { Erasure, FlushPreview } from '../operations/flush/flush.ts';
import {
  type AffectedAnswer,
  affectedLines,
  columns,
  erasureText,
  followErasure,
  moment,
  percent,
  plural,
  previewText,
} from './admin/format.ts';
import { type Desk, operatorCommand } from './admin/operator-command.ts';
import { UsageError } from './arguments.ts';
import type { Command } from './command.ts';

interface FlushAnswer {
  readonly domain: string;
  readonly mode: string;
  readonly revision: number;
  readonly generation: number;
  readonly affected: AffectedAnswer;
  readonly erasure?: Erasure;
}

/** Flushes a domain for good; a drill is what takes it back. */
export const flush: Command = operatorCommand({
  name: 'flush',
  usage: '<domain> [--mode refresh|drop|erase] [--fraction 0.25] [--dry-run] [--reason TEXT] [--yes]',
  summary: 'flush a domain, or a part of its keys, for good (to rehearse a loss: serpcache drill)',
  options: [
    {
      name: 'mode',
      takes: 'MODE',
      about: 'refresh (default): stale until computed anew; drop: a miss; erase: gone, with a reason',
    },
    { name: 'fraction', takes: 'SHARE', about: 'of the keys, above 0, at most 1; 1 unless said' },
    { name: 'from', takes: 'BUCKET', about: 'where the part begins, 0 to 9999; at random unless said' },
    {
      name: 'by',
      takes: 'WAY',
      about: 'with erase: unlink (default), or flushall for whole nodes of a dedicated store',
    },
    { name: 'index-version', takes: 'TEXT', about: 'with refresh: what the indexing job calls its new index' },
    { name: 'dry-run', about: 'say what it would do and cost, and do nothing' },
  ],
  takes: { min: 1, max: 1 },
  details: ['drop and erase show what they will do and ask; erase wants the name of the domain typed.'],
  run: async (desk) => {
    const { words, client, output, reason } = desk;
    const [domain = ''] = words.positionals;
    const mode = words.text('mode') ?? 'refresh';
    oneOf('--mode', mode, FLUSH_MODES);
    const by = words.text('by');
    if (by !== undefined) oneOf('--by', by, ['unlink', 'flushall']);
    const from = words.number('from');
    const version = words.text('index-version');
    const ask = {
      domain,
      mode,
      fraction: words.number('fraction') ?? 1,
      ...(from === undefined ? {} : { from }),
      ...(by === undefined ? {} : { by }),
    };
    const preview = () => client.post<FlushPreview>('/admin/flush/preview', ask);
    if (words.has('dry-run')) {
      const found = await preview();
      output.result(found, () => `${previewText(domain, found)}\nnothing was done (--dry-run)`);
      return;
    }
    if (mode === 'erase' && reason === undefined) throw new UsageError('an erase needs a reason: --reason TEXT');
    if (mode !== 'refresh' && desk.asks()) {
      output.remark(previewText(domain, await preview()));
      await desk.confirm(
        `${mode} ${percent(ask.fraction)} of ${domain} for good?`,
        mode === 'erase' ? domain : undefined,
      );
    }
    const done = await client.post<FlushAnswer>('/admin/flush', {
      ...ask,
      ...(version === undefined ? {} : { indexVersion: version }),
      ...(reason === undefined ? {} : { reason }),
    });
    await finish(desk, done, ask.fraction);
  },
});

/** An erasure goes on behind the answer; it is over when the command is. */
async function finish(desk: Desk, done: FlushAnswer, fraction: number): Promise<void> {
  const erasure = done.mode === 'erase' ? await followErasure(desk, done.domain, done.erasure) : undefined;
  const whole = erasure === undefined ? done : { ...done, erasure };
  const said = [
    `${done.domain}: ${percent(fraction)} flushed (${done.mode}), revision ${done.revision}, generation ${done.generation}`,
    ...affectedLines(done.affected),
    ...(erasure === undefined ? [] : [erasureText(erasure)]),
  ];
  desk.output.result(whole, () => said.join('\n'));
  if (erasure !== undefined && erasure.state !== 'done') {
    throw new Error(`the erasure is ${erasure.state}; what was not removed is flushed all the same: a miss`);
  }
}

function oneOf(option: string, given: string, allowed: readonly string[]): void {
  if (allowed.includes(given)) return;
  const near = nearest(given, allowed);
  throw new UsageError(
    `${option} is one of ${allowed.join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`,
  );
}

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

interface HaltState {
  readonly halted: boolean;
  readonly domains: readonly {
    readonly domain: string;
    readonly reason: string;
    readonly by: string;
    readonly atMs: number;
  }[];
}

export const halt: Command = operatorCommand({
  name: 'halt',
  usage: '--reason TEXT [--yes] | --lift --reason TEXT | --status',
  summary: 'the one lever: end every drill, restore every cache, and start none until it is lifted',
  options: [
    { name: 'lift', about: 'drills may start again' },
    { name: 'status', about: 'whether, since when and why' },
  ],
  takes: { min: 0, max: 0 },
  run: async ({ words, client, output, reason, asks, confirm }) => {
    if (words.has('status')) {
      const state = await client.get<HaltState>('/admin/halt');
      output.result(state, () => statusText(state));
      return;
    }
    if (reason === undefined) throw new UsageError('why? --reason TEXT');
    const lift = words.has('lift');
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
  const rows = domains.map(({ domain, atMs, by, reason }) => [domain, moment(atMs), by, reason]);
  return `halted\n${columns(rows, ['domain', 'since', 'by', 'reason'])}`;
}

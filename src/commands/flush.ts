import { nearest } from '../config/suggest.ts';
import { FLUSH_MODES } from '../control/document.ts';
import type { Erasure, FlushPreview } from '../flush/flush.ts';
import { erasureText, followErasure } from './admin/erasure.ts';
import { percent } from './admin/format.ts';
import { type Desk, operatorCommand } from './admin/operator-command.ts';
import { type AffectedAnswer, affectedLines, previewText } from './admin/preview-text.ts';
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

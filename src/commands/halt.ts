import type { DrillSummary } from '../drills/drills.ts';
import { columns } from './admin/columns.ts';
import { moment } from './admin/format.ts';
import { operatorCommand } from './admin/operator-command.ts';
import { UsageError } from './arguments.ts';
import type { Command } from './command.ts';

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

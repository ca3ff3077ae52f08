import { accessSync, constants } from 'node:fs';
import type { WarmUp } from '../warm/warm.ts';
import { type Desk, operatorCommand } from './admin/operator-command.ts';
import { UsageError } from './arguments.ts';
import type { Command } from './command.ts';
import { feedFile } from './warm/feed.ts';
import { followWarmUp, isOver, warmUpText } from './warm/follow.ts';
import { resumeCommand } from './warm/resume-command.ts';

const MAX_PER_SECOND = 50;

export const warm: Command = operatorCommand({
  name: 'warm',
  usage: '<domain> [--from popular | --queries FILE[.gz]] [--max-per-second 50] [--from-line N]',
  summary: "fill a domain's cache with what its engine has to spare, behind people and never at their cost",
  options: [
    { name: 'from', takes: 'popular', about: 'what is asked most, unless a file is named' },
    { name: 'queries', takes: 'FILE', about: 'one a line: words, or q=…&filter=…; what follows a tab is ignored' },
    { name: 'max-per-second', takes: 'N', about: `engine calls at most; ${MAX_PER_SECOND} unless said` },
    { name: 'from-line', takes: 'N', about: 'go on with a file here' },
    { name: 'top', takes: 'N', about: 'with popular: how many of them' },
  ],
  takes: { min: 1, max: 1 },
  details: ['Ctrl-C stops the warm-up and prints the command that goes on with it.'],
  run: async (desk) => {
    const { words, client, output } = desk;
    const [domain = ''] = words.positionals;
    const file = words.text('queries');
    const from = words.text('from') ?? (file === undefined ? 'popular' : 'queries');
    if (from !== (file === undefined ? 'popular' : 'queries')) {
      throw new UsageError('--from popular, or --queries FILE: one of them');
    }
    const top = words.number('top');
    const maxPerSecond = words.number('max-per-second') ?? MAX_PER_SECOND;
    const fromLine = words.number('from-line', { least: 1, most: Number.MAX_SAFE_INTEGER, whole: true }) ?? 1;
    const ask = { domain, from, maxPerSecond, ...(top === undefined ? {} : { top }) };
    if (file !== undefined) assertReadable(file);
    const started = await client.post<WarmUp>('/admin/warm', ask, { evenIfStopped: true });
    const feed = file === undefined ? undefined : feedFile(desk, { id: started.id, domain, file, fromLine });
    try {
      const fed = (await feed?.done) ?? started;
      const over = isOver(fed) ? fed : await followWarmUp(desk, fed);
      if (over.state === 'stopped') throw new Error('somebody stopped it before its end');
      output.result(over, () => warmUpText(over));
    } catch (error) {
      const stopped = await stop(desk, started.id);
      const line = feed?.reached(stopped);
      const resume = resumeCommand(words, line);
      if (stopped !== undefined) output.result({ ...stopped, resume, fromLine: line }, () => warmUpText(stopped));
      output.remark(`go on with it: ${resume}`);
      throw error;
    }
  },
});

/** Before anything is begun. */
function assertReadable(file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch {
    throw new UsageError(`${file} cannot be read`);
  }
}

/** Undefined where it cannot be told any more: it stops by itself when nobody feeds it. */
async function stop({ client }: Desk, id: string): Promise<WarmUp | undefined> {
  try {
    return await client.post<WarmUp>(`/admin/warm/${encodeURIComponent(id)}/stop`, {}, { evenIfStopped: true });
  } catch {
    return undefined;
  }
}

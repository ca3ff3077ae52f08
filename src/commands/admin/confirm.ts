import { UsageError } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { printable } from './output.ts';

/** What stands before an act that harms when it was meant for another domain, or not at all. */
export interface Confirm {
  /**
   * Whether somebody will be asked, and should be shown what will happen.
   * @throws UsageError where nobody can be asked and `--yes` is missing: before anything is sent.
   */
  readonly asks: () => boolean;
  /** @param typed what must be typed to go on; `y` unless said. @throws as `asks`, and when the answer is another. */
  readonly confirm: (question: string, typed?: string) => Promise<void>;
}

export function createConfirm({ ask }: Pick<CommandContext, 'ask'>, yes: boolean): Confirm {
  const asks = (): boolean => {
    if (yes) return false;
    if (ask !== undefined) return true;
    throw new UsageError('nothing was done: where nobody can be asked, this needs --yes');
  };
  return {
    asks,
    confirm: async (question, typed) => {
      if (!asks()) return;
      const how = typed === undefined ? '[y/N]' : `Type ${typed} to go on:`;
      const answer = ((await ask?.(printable(`${question} ${how} `))) ?? '').trim();
      const agreed = typed === undefined ? /^y(es)?$/i.test(answer) : answer === typed;
      if (!agreed) throw new Error('not confirmed, nothing was done');
    },
  };
}

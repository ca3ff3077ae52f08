import { call } from '../../src/commands/call.ts';
import type { CommandContext } from '../../src/commands/command.ts';
import { COMMANDS } from '../../src/commands/table.ts';
import { loadSettings } from '../../src/config/load.ts';
import { systemClock } from '../../src/runtime.ts';
import { TOKEN } from './admin-service.ts';

export interface Called {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** Questions that a person was asked. */
  readonly questions: readonly string[];
  /** Standard output, line by line, as a script reads it. */
  readonly lines: () => readonly { readonly [name: string]: unknown }[];
}

export interface Calling extends Partial<Pick<CommandContext, 'signal' | 'adminToken' | 'clock'>> {
  /** A person at a terminal, who answers so; else a script that reads a pipe. */
  readonly answers?: readonly string[];
  readonly onWrite?: (text: string) => void;
  /** The configuration's own; without it, nothing but the token of the test's service. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Calls the CLI as the shell does, without a process of its own. */
export async function callCli(words: readonly string[], calling: Calling = {}): Promise<Called> {
  const { answers, onWrite, env, ...given } = calling;
  const isTTY = answers !== undefined;
  const questions: string[] = [];
  const left = [...(answers ?? [])];
  let out = '';
  let err = '';
  const code = await call(COMMANDS, words, {
    clock: systemClock,
    stdout: {
      isTTY,
      write: (text) => {
        out += text;
        onWrite?.(text);
      },
    },
    stderr: {
      isTTY,
      columns: 200,
      write: (text) => {
        err += text;
        onWrite?.(text);
      },
    },
    settings: () => loadSettings({ env: env ?? {}, cwd: process.cwd() }),
    signal: new AbortController().signal,
    operator: 'ana@desk',
    ...(env === undefined ? { adminToken: TOKEN } : {}),
    ...given,
    ...(isTTY
      ? {
          ask: async (question: string) => {
            questions.push(question);
            return left.shift() ?? '';
          },
        }
      : {}),
  });
  const lines: Called['lines'] = () =>
    out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  return { code, out, err, questions, lines };
}

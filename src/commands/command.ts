import type { ProgressOutput } from '../catalogue/progress.ts';
import type { Settings } from '../config/settings.ts';
import type { Clock } from '../runtime.ts';
import type { Option, Words } from './arguments.ts';

/** Everything a command may touch of the world; a test gives its own. */
export interface CommandContext {
  readonly clock: Clock;
  /** Results: what a script reads. */
  readonly stdout: ProgressOutput;
  /** Progress and complaints: what a person reads. */
  readonly stderr: ProgressOutput;
  /** The configuration, read when a command needs it. @throws ConfigError */
  readonly settings: () => Settings;
  /** Aborted by SIGINT, SIGTERM and SIGHUP: a command ends without leaving half a result. */
  readonly signal: AbortSignal;
  /** Who is at the keyboard, for the audit of the service: `ana@host`. */
  readonly operator: string;
  /** Of ADMIN_TOKEN. */
  readonly adminToken?: string;
  /** One line typed by a person; absent where nobody sits at a terminal. Rejects when `signal` aborts. */
  readonly ask?: (question: string) => Promise<string>;
}

export interface Command {
  readonly name: string;
  /** Without the name: `<domain> <file>`. */
  readonly usage: string;
  readonly summary: string;
  readonly options: readonly Option[];
  /** The number of arguments beside the options. */
  readonly takes: { readonly min: number; readonly max: number };
  /** Further lines of its own help. */
  readonly details?: readonly string[];
  /** @throws UsageError for wrong arguments, NotPassed for a verdict, anything else for what could not be done. */
  readonly run: (words: Words, context: CommandContext) => Promise<void>;
}

/** A command of several: the next word says which. */
export interface CommandGroup extends Pick<Command, 'name' | 'usage' | 'summary'> {
  readonly parts: readonly Command[];
}

/** The command was done, and its verdict is negative (exit status 1), or there is none (exit status 2). */
export class NotPassed extends Error {
  override readonly name = 'NotPassed';
  readonly status: typeof EXIT.failed | typeof EXIT.undecided;

  constructor(message: string, verdict: 'failed' | 'undecided') {
    super(message);
    this.status = EXIT[verdict];
  }
}

/** The exit statuses of every program of the project; README.md has the same table. */
export const EXIT = {
  passed: 0,
  failed: 1,
  undecided: 2,
  notDone: 3,
  /** EX_USAGE of sysexits.h. */
  usage: 64,
  /** EX_CONFIG of sysexits.h: a supervisor must not restart the process in a loop. */
  configuration: 78,
} as const;

export type ExitStatus = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  passed: 'passed, or done',
  failed: 'the verdict is negative',
  undecided: 'undecided, or not measured',
  notDone: 'it could not be done',
  usage: 'wrong arguments, nothing was started',
  configuration: 'wrong configuration, nothing was started',
};

/** The last lines of every help. */
export const EXIT_HELP = `exit status:\n${Object.entries(EXIT_MEANINGS)
  .map(([name, meaning]) => `  ${String(EXIT[name as keyof typeof EXIT]).padStart(2)}  ${meaning}`)
  .join('\n')}`;

import type { ProgressOutput } from '../catalogue/progress.ts';
import type { Clock } from '../clock.ts';
import type { Settings } from '../config/settings.ts';

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
  /** Further lines of its own help: options, exit codes. */
  readonly details?: readonly string[];
  /** A command of several: the next word says which. */
  readonly parts?: readonly Command[];
  /** Where they differ from those of the other commands. */
  readonly exitCodes?: ExitCodes;
  /** @throws UsageError for wrong words, anything else for what could not be done. */
  readonly run: (args: readonly string[], context: CommandContext) => Promise<void>;
}

/** What an exit status says to a shell. */
export interface ExitCodes {
  /** It could not be done: refused, unreachable, not confirmed. */
  readonly undone: number;
  /** Wrong words; nothing was done. */
  readonly usage: number;
  /** All of them, for the help. */
  readonly words: readonly string[];
}

/** The call's words are wrong; nothing was done. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The drill ended without passing; the exit status tells how. */
export class DrillNotPassed extends Error {
  override readonly name = 'DrillNotPassed';
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

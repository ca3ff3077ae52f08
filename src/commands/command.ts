import type { ProgressOutput } from '../catalogue/progress.ts';
import type { Clock } from '../clock.ts';
import type { Settings } from '../config/settings.ts';

/** Everything a command may touch of the world; a test gives its own. */
export interface CommandContext {
  readonly clock: Clock;
  /** Results: what a script reads. */
  readonly stdout: Pick<ProgressOutput, 'write'>;
  /** Progress and complaints: what a person reads. */
  readonly stderr: ProgressOutput;
  /** The configuration, read when a command needs it. @throws ConfigError */
  readonly settings: () => Settings;
  /** Aborted by SIGINT and SIGTERM: a command ends without leaving half a result. */
  readonly signal: AbortSignal;
}

export interface Command {
  readonly name: string;
  /** Without the name: `<domain> <file>`. */
  readonly usage: string;
  readonly summary: string;
  /** @throws UsageError for wrong words, anything else for what could not be done. */
  readonly run: (args: readonly string[], context: CommandContext) => Promise<void>;
}

/** The call's words are wrong; nothing was done. Exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

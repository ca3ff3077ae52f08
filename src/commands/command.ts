import type { Readable } from 'node:stream';
import { CONFIG_VARIABLE, DEFAULT_FILE } from '../config/document.ts';
import type { DomainSettings, Settings } from '../config/settings.ts';
import type { Clock } from '../runtime.ts';
import { EXIT, type Option, type ParsedArguments, UsageError } from './arguments.ts';
import type { ProgressOutput } from './terminal.ts';

/** The environment of a command; a test passes its own. */
export interface CommandContext {
  readonly clock: Clock;
  /** Standard input; its reading rejects when `signal` aborts. */
  readonly input?: () => Readable;
  /** Results, for scripts. */
  readonly stdout: ProgressOutput;
  /** Progress and errors, for people. */
  readonly stderr: ProgressOutput;
  /** Reads the configuration, or that of a named file. @throws ConfigError */
  readonly settings: (file?: string) => Settings;
  /** Aborted by SIGINT, SIGTERM and SIGHUP: the command then ends without leaving half a result. */
  readonly signal: AbortSignal;
  /** Runs the service until it is stopped, with a configuration or with that of the environment. */
  readonly serve?: (config?: string) => Promise<void>;
  /** The operator's name for the audit of the service: `ana@host`. */
  readonly operator: string;
  /** The value of ADMIN_TOKEN. */
  readonly adminToken?: string;
  /** The value of STORE_PASSWORD. */
  readonly storePassword?: string;
  /** Asks a question and reads one line. Absent without a terminal. Rejects when `signal` aborts. */
  readonly ask?: (question: string) => Promise<string>;
}

/** The option of every program that reads the configuration. */
export const CONFIG_OPTION: Option = {
  name: 'config',
  takes: 'FILE',
  variable: CONFIG_VARIABLE,
  about: `the configuration; by default ${DEFAULT_FILE} of this folder, else the demo`,
};

export interface Command {
  readonly name: string;
  /** The arguments, without the command's name: `<domain> <file>`. */
  readonly usage: string;
  readonly summary: string;
  readonly options: readonly Option[];
  /** The number of arguments, options not included. */
  readonly takes: { readonly min: number; readonly max: number };
  /** Further lines of its help. */
  readonly details?: readonly string[];
  /** @throws UsageError for wrong arguments, NotPassed for a verdict, any other error for a failure. */
  readonly run: (args: ParsedArguments, context: CommandContext) => Promise<void>;
}

/** A command with subcommands; the next argument names one. */
export interface CommandGroup extends Pick<Command, 'name' | 'usage' | 'summary'> {
  readonly parts: readonly Command[];
}

/** The command ran, and its verdict is negative (exit status 1) or undecided (exit status 2). */
export class NotPassed extends Error {
  override readonly name = 'NotPassed';
  readonly status: typeof EXIT.failed | typeof EXIT.undecided;

  constructor(message: string, verdict: 'failed' | 'undecided') {
    super(message);
    this.status = EXIT[verdict];
  }
}

/** @param advice added to the error. @throws UsageError that names the configured domains. */
export function domainNamed(name: string, settings: Settings, advice?: string): DomainSettings {
  const domain = settings.domains.find((each) => each.name === name);
  if (domain !== undefined) return domain;
  const configured = settings.domains.map((each) => each.name).join(', ');
  throw new UsageError(`no domain "${name}"; configured: ${configured}${advice === undefined ? '' : `; ${advice}`}`);
}

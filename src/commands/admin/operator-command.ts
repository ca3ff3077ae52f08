import type { ProgressOutput } from '../../catalogue/progress.ts';
import type { Clock } from '../../clock.ts';
import type { Option, Words } from '../arguments.ts';
import type { Command } from '../command.ts';
import { accessOf, trustAuthorities } from './address.ts';
import { type AdminClient, createAdminClient } from './client.ts';
import { type Confirm, createConfirm } from './confirm.ts';
import { meant } from './meant.ts';
import { createOutput, type Output } from './output.ts';
import { AdminProblem } from './problem.ts';

/** What a command over the admin API works with. */
export interface Desk extends Confirm {
  readonly words: Words;
  readonly client: AdminClient;
  readonly output: Output;
  /** `--reason`. */
  readonly reason: string | undefined;
  readonly stderr: ProgressOutput;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface OperatorCommand {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  /** Its own, beside those that all have. */
  readonly options: readonly Option[];
  readonly details?: readonly string[];
  /** How many words it takes beside its options. */
  readonly takes: { readonly min: number; readonly max: number };
  /** Bodies of requests are the command's own; so is what a person reads of the answers. */
  readonly run: (desk: Desk) => Promise<void>;
}

const COMMON: readonly Option[] = [
  { name: 'reason', takes: 'TEXT', about: 'why, for the audit' },
  { name: 'yes', about: 'ask nothing' },
  { name: 'json', about: 'JSON on standard output, as it is anyway where that is no terminal' },
  {
    name: 'admin',
    takes: 'URL',
    about: 'the admin listener; else ADMIN_HOST, ADMIN_PORT, the configuration, 127.0.0.1:8081',
  },
  { name: 'token-file', takes: 'FILE', about: 'holds the admin token; else ADMIN_TOKEN, the configuration' },
  { name: 'ca-file', takes: 'FILE', about: 'PEM of authorities to trust for https://, beside those of Node' },
];

/** A command that asks a running service, by the admin API alone: it composes nothing of it here. */
export function operatorCommand(definition: OperatorCommand): Command {
  const { name, usage, summary, takes } = definition;
  const options = [...definition.options, ...COMMON];
  return {
    name,
    usage,
    summary,
    options,
    takes,
    ...(definition.details === undefined ? {} : { details: definition.details }),
    run: async (words, context) => {
      const { operator, signal, stderr, clock } = context;
      trustAuthorities(words);
      const client = createAdminClient({ ...accessOf(words, context), operator, signal });
      const output = createOutput(context, words.has('json'));
      const { asks, confirm } = createConfirm(context, words.has('yes'));
      const reason = words.text('reason');
      try {
        await definition.run({ words, client, output, asks, confirm, reason, stderr, clock, signal });
      } catch (error) {
        if (!(error instanceof AdminProblem)) throw error;
        const hint = await meant(error, words, client);
        throw hint === undefined ? error : new Error(`${error.message} ${hint}`, { cause: error });
      }
    },
  };
}

import type { Plan } from '../operations/drills/plan.ts';
import type { Clock } from '../runtime.ts';
import { nearest } from '../schema/faults.ts';
import { type AdminClient, AdminProblem, accessOf, createAdminClient, trustAuthorities } from './admin-client.ts';
import { type Option, type ParsedArguments, UsageError } from './arguments.ts';
import type { Command, CommandContext } from './command.ts';
import { type ProgressOutput, printable } from './terminal.ts';

/** The environment of a command over the admin API. */
export interface OperatorContext extends Confirm {
  readonly args: ParsedArguments;
  readonly client: AdminClient;
  readonly output: CommandOutput;
  /** `--reason`. */
  readonly reason: string | undefined;
  readonly stderr: ProgressOutput;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Its `options` are added to the common ones; it takes no arguments by default. */
interface OperatorCommand
  extends Omit<Command, 'run' | 'options' | 'takes'>,
    Partial<Pick<Command, 'options' | 'takes'>> {
  readonly run: (context: OperatorContext) => Promise<void>;
}

/** The options of every command that asks a running service. */
export const COMMON: readonly Option[] = [
  { name: 'reason', takes: 'TEXT', about: 'the reason, for the audit' },
  { name: 'yes', about: 'ask no question' },
  { name: 'json', about: 'JSON on standard output; always so when it is not a terminal' },
  {
    name: 'admin',
    takes: 'URL',
    about: 'the admin listener; by default from ADMIN_HOST, ADMIN_PORT, the configuration, else 127.0.0.1:8081',
  },
  {
    name: 'token-file',
    takes: 'FILE',
    about: 'file with the admin token; by default from ADMIN_TOKEN, else the configuration',
  },
  {
    name: 'ca-file',
    takes: 'FILE',
    about: 'PEM file of authorities to trust for https://, in addition to those of Node',
  },
];

/** A command that works on a running service through its admin API only. */
export function operatorCommand(definition: OperatorCommand): Command {
  return {
    takes: { min: 0, max: 0 },
    ...definition,
    options: [...(definition.options ?? []), ...COMMON],
    run: async (args, context) => {
      const { operator, signal, stderr, clock } = context;
      trustAuthorities(args);
      const client = createAdminClient({ ...accessOf(args, context), operator, signal });
      const output = createCommandOutput(context, args.has('json'));
      const { asks, confirm } = createConfirm(context, args.has('yes'));
      const reason = args.text('reason');
      try {
        await definition.run({ args, client, output, asks, confirm, reason, stderr, clock, signal });
      } catch (error) {
        if (!(error instanceof AdminProblem)) throw error;
        const hint = await suggestedName(error, args, client);
        throw hint === undefined ? error : new Error(`${error.message} ${hint}`, { cause: error });
      }
    },
  };
}

/** Asks before an action that does harm when it is a mistake. */
export interface Confirm {
  /**
   * Whether the operator will be asked, and so should see a preview.
   * @throws UsageError without a terminal and without `--yes`, before any request is sent.
   */
  readonly asks: () => boolean;
  /** @param typed the text to be typed; `y` by default. @throws as `asks`, and when the answer is not the text. */
  readonly confirm: (question: string, typed?: string) => Promise<void>;
}

export function createConfirm({ ask }: Pick<CommandContext, 'ask'>, yes: boolean): Confirm {
  const asks = (): boolean => {
    if (yes) return false;
    if (ask !== undefined) return true;
    throw new UsageError('nothing was done: without a terminal for the question, this needs --yes');
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

/** For a domain or plan that the service does not know: a known name that one of the arguments resembles. */
async function suggestedName(
  problem: AdminProblem,
  args: ParsedArguments,
  client: AdminClient,
): Promise<string | undefined> {
  try {
    const known = await knownNames(problem.code, client);
    for (const word of [...args.positionals, ...args.texts('domain')]) {
      if (known.includes(word)) continue;
      const name = nearest(word, known);
      if (name !== undefined) return `Did you mean ${name}?`;
    }
  } catch {
    // The caller reports the problem itself.
  }
  return undefined;
}

async function knownNames(code: string, client: AdminClient): Promise<readonly string[]> {
  switch (code) {
    case 'unknown-domain':
      return domainNames(client);
    case 'unknown-plan':
      return (await client.get<{ plans: readonly Plan[] }>('/admin/plans')).plans.map(({ name }) => name);
    default:
      return [];
  }
}

export async function domainNames(client: AdminClient): Promise<readonly string[]> {
  const { domains } = await client.get<{ domains: readonly { readonly domain: string }[] }>('/admin/domains');
  return domains.map(({ domain }) => domain);
}

/** Results and remarks. A script reads JSON on standard output, one value per line; a person reads text. */
export interface CommandOutput {
  readonly json: boolean;
  /** Standard error is a terminal, so a line may be redrawn there. */
  readonly watched: boolean;
  /** The outcome; called once. */
  readonly result: (value: unknown, text: () => string) => void;
  /** An event while the command runs: a line of JSON for a script, nothing for a person. */
  readonly event: (value: unknown) => void;
  /** Text for a person, in addition to the result. */
  readonly remark: (text: string) => void;
}

export function createCommandOutput(
  context: Pick<CommandContext, 'stdout' | 'stderr'>,
  asksJson: boolean,
): CommandOutput {
  const { stdout, stderr } = context;
  const json = asksJson || stdout.isTTY !== true;
  const line = (value: unknown): unknown => stdout.write(`${JSON.stringify(value)}\n`);
  return {
    json,
    watched: stderr.isTTY === true,
    result: (value, text) => (json ? line(value) : stdout.write(`${printable(text())}\n`)),
    event: (value) => {
      if (json) line(value);
    },
    remark: (text) => stderr.write(`${printable(text)}\n`),
  };
}

import { accessSync, constants, writeFileSync } from 'node:fs';
import type { Plan } from '../operations/drills/plan.ts';
import { nearest } from '../schema/faults.ts';
import { type AdminClient, AdminProblem, accessOf, createAdminClient, trustAuthorities } from './admin-client.ts';
import { type Option, type ParsedArguments, quoted, UsageError } from './arguments.ts';
import type { Command, CommandContext } from './command.ts';
import { printable } from './terminal.ts';

/** The environment of a command over the admin API. */
export type OperatorContext = ReturnType<typeof operatorContext>;

function operatorContext(args: ParsedArguments, context: CommandContext) {
  const { signal, stderr, clock, input } = context;
  const reason = args.text('reason');
  return {
    args,
    client: clientOf(args, context),
    output: createCommandOutput(context, args.has('json')),
    ...createConfirm(context, args.has('yes')),
    reason,
    /** `--reason` of an action that needs one: `a drill`. @throws UsageError */
    reasonFor: (what: string): string => {
      if (reason === undefined) throw new UsageError(`${what} needs a reason: --reason TEXT`);
      return reason;
    },
    input,
    stderr,
    clock,
    signal,
  };
}

/** @throws UsageError, ConfigError */
export function clientOf(args: ParsedArguments, context: CommandContext): AdminClient {
  const { operator, signal } = context;
  trustAuthorities(args);
  return createAdminClient({ ...accessOf(args, context), operator, signal });
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
      const operated = operatorContext(args, context);
      try {
        await definition.run(operated);
      } catch (error) {
        if (!(error instanceof AdminProblem)) throw error;
        const hint = await suggestedName(error, args, operated.client);
        throw hint === undefined ? error : new Error(`${error.message} ${hint}`, { cause: error });
      }
    },
  };
}

/** Checked before anything starts. */
export function assertReadable(file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch {
    throw new UsageError(`${file} cannot be read`);
  }
}

/** The shell command that resumes an interrupted one. @param kept the options that it has again */
export function resumeCommand(
  name: string,
  kept: readonly string[],
  args: ParsedArguments,
  fromLine: number | undefined,
): string {
  const options = kept.flatMap((option) => args.texts(option).flatMap((value) => [`--${option}`, quoted(value)]));
  const line = fromLine === undefined ? [] : ['--from-line', String(fromLine)];
  return [`serpcache ${name}`, ...args.positionals.map(quoted), ...options, ...line].join(' ');
}

export const REPORT_FILE: Option = { name: 'out', takes: 'FILE', about: 'write a self-contained page with plots' };

/** Shows the report at a path as text or JSON; with `--out`, writes its page to the file. */
export async function printReport<Report>(
  { args, client, output }: OperatorContext,
  id: string,
  path: string,
  text: (report: Report) => string,
): Promise<void> {
  const file = args.text('out');
  if (file === undefined) {
    const report = await client.get<Report>(path);
    output.result(report, () => text(report));
    return;
  }
  writeFileSync(file, await client.page(`${path}/report`));
  output.result({ id, file }, () => `the report of ${id} is in ${file}`);
}

/** Asks before an action that does harm when it is a mistake. */
export function createConfirm({ ask }: Pick<CommandContext, 'ask'>, yes: boolean) {
  /**
   * Whether the operator will be asked, and so should see a preview.
   * @throws UsageError without a terminal and without `--yes`, before any request is sent.
   */
  const asks = (): boolean => {
    if (yes) return false;
    if (ask !== undefined) return true;
    throw new UsageError('nothing was done: without a terminal for the question, this needs --yes');
  };
  return {
    asks,
    /** @param typed the text to be typed; `y` by default. @throws as `asks`, and when the answer is not the text. */
    confirm: async (question: string, typed?: string): Promise<void> => {
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
  { code }: AdminProblem,
  { positionals, texts }: ParsedArguments,
  client: AdminClient,
): Promise<string | undefined> {
  // The caller reports the problem itself.
  const known = await knownNames(code, client).catch((): readonly string[] => []);
  const unknown = [...positionals, ...texts('domain')].filter((word) => !known.includes(word));
  const name = unknown.map((word) => nearest(word, known)).find((near) => near !== undefined);
  return name && `Did you mean ${name}?`;
}

async function knownNames(code: string, client: AdminClient): Promise<readonly string[]> {
  if (code === 'unknown-domain') return domainNames(client);
  if (code !== 'unknown-plan') return [];
  return (await client.get<{ plans: readonly Plan[] }>('/admin/plans')).plans.map(({ name }) => name);
}

export async function domainNames(client: AdminClient): Promise<readonly string[]> {
  const { domains } = await client.get<{ domains: readonly { readonly domain: string }[] }>('/admin/domains');
  return domains.map(({ domain }) => domain);
}

export type CommandOutput = ReturnType<typeof createCommandOutput>;

/** Results and remarks. A script reads JSON on standard output, one value per line; a person reads text. */
export function createCommandOutput({ stdout, stderr }: Pick<CommandContext, 'stdout' | 'stderr'>, asksJson: boolean) {
  const json = asksJson || stdout.isTTY !== true;
  const line = (value: unknown): unknown => stdout.write(`${JSON.stringify(value)}\n`);
  return {
    json,
    /** Standard error is a terminal, so a line may be redrawn there. */
    watched: stderr.isTTY === true,
    /** The outcome; called once. */
    result: (value: unknown, text: () => string) => (json ? line(value) : stdout.write(`${printable(text())}\n`)),
    /** An event while the command runs: a line of JSON for a script, nothing for a person. */
    event: (value: unknown): void => {
      if (json) line(value);
    },
    /** Text for a person, in addition to the result. */
    remark: (text: string) => stderr.write(`${printable(text)}\n`),
  };
}

import type { ProgressOutput } from '../../catalogue/progress.ts';
import { nearest } from '../../config/faults.ts';
import type { Plan } from '../../operations/drills/plan.ts';
import type { Clock } from '../../runtime.ts';
import { type Option, UsageError, type Words } from '../arguments.ts';
import type { Command, CommandContext } from '../command.ts';
import { type AdminClient, AdminProblem, accessOf, createAdminClient, trustAuthorities } from './client.ts';

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

/** For a name that the service does not know: the one that was meant, when one of the words is near to a known one. */
export async function meant(problem: AdminProblem, words: Words, client: AdminClient): Promise<string | undefined> {
  try {
    const known = await knownNames(problem.code, client);
    for (const word of [...words.positionals, ...words.texts('domain')]) {
      if (known.includes(word)) continue;
      const name = nearest(word, known);
      if (name !== undefined) return `Did you mean ${name}?`;
    }
  } catch {
    // The problem itself has been told already.
  }
  return undefined;
}

async function knownNames(code: string, client: AdminClient): Promise<readonly string[]> {
  switch (code) {
    case 'unknown-domain':
      return (await client.get<{ domains: readonly { domain: string }[] }>('/admin/domains')).domains.map(
        ({ domain }) => domain,
      );
    case 'unknown-plan':
      return (await client.get<{ plans: readonly Plan[] }>('/admin/plans')).plans.map(({ name }) => name);
    default:
      return [];
  }
}

/** Where results and remarks go: a script reads one JSON value, or one per line, on standard output; a person reads text. */
export interface Output {
  readonly json: boolean;
  /** A person sits at standard error: what comes and goes may be shown there. */
  readonly watched: boolean;
  /** The outcome, once. */
  readonly result: (value: unknown, text: () => string) => void;
  /** Something of what happens, as it happens: a line for a script. Nothing for a person, who reads remarks. */
  readonly event: (value: unknown) => void;
  /** For a person, beside the result. */
  readonly remark: (text: string) => void;
}

export function createOutput(context: Pick<CommandContext, 'stdout' | 'stderr'>, asksJson: boolean): Output {
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

/** Queries, reasons and ids are other people's words: none of them may move the cursor or colour the terminal. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n]|\p{Bidi_Control}/gu, '·');
}

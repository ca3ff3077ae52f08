import { CONFIG_EXIT_CODE, ConfigError } from '../config/faults.ts';
import { nearest } from '../config/suggest.ts';
import { type Command, type CommandContext, DrillNotPassed, type ExitCodes, UsageError } from './command.ts';

const EXIT_CODES: ExitCodes = {
  undone: 1,
  usage: 2,
  words: [
    'exit status: 0 done; 1 could not be done (refused, unreachable, not confirmed); 2 wrong words;',
    '78 wrong configuration. Those of drill are in its own help.',
  ],
};

/** Finds the command that the words name, runs it, and says what its end means to a shell: the exit status. */
export async function call(
  commands: readonly Command[],
  words: readonly string[],
  context: CommandContext,
): Promise<number> {
  const [name, ...rest] = words;
  const { stdout, stderr } = context;
  if (name === undefined || asksHelp(name)) {
    const shown = rest[0] === undefined ? undefined : find(commands, rest).command;
    stdout.write(shown === undefined ? overview(commands) : help(shown));
    return 0;
  }
  const { command, args } = find(commands, words);
  if (command === undefined) {
    const near = nearest(
      name,
      commands.map((each) => each.name),
    );
    const advice = near === undefined ? 'see: serpcache --help' : `did you mean ${near}?`;
    stderr.write(`serpcache: no command "${name}"; ${advice}\n`);
    return 2;
  }
  const ending = args.indexOf('--');
  if ((ending < 0 ? args : args.slice(0, ending)).some((word) => ['--help', '-h'].includes(word))) {
    stdout.write(help(command));
    return 0;
  }
  try {
    await command.run(args, context);
    return 0;
  } catch (error) {
    return complain(error, command, stderr);
  }
}

/** The deepest command the words name, and what is left of them. */
function find(commands: readonly Command[], words: readonly string[]) {
  let command: Command | undefined;
  let depth = 0;
  for (let among: readonly Command[] | undefined = commands; among !== undefined; among = command?.parts) {
    const next: Command | undefined = among.find(({ name }) => name.split(' ').at(-1) === words[depth]);
    if (next === undefined) break;
    command = next;
    depth += 1;
  }
  return { command, args: words.slice(depth) };
}

function asksHelp(word: string): boolean {
  return ['help', '--help', '-h'].includes(word);
}

function complain(error: unknown, command: Command, stderr: CommandContext['stderr']): number {
  if (error instanceof ConfigError) {
    stderr.write(`${error.message}\n`);
    return CONFIG_EXIT_CODE;
  }
  const message = error instanceof Error ? error.message : String(error);
  stderr.write(`serpcache ${command.name}: ${message}\n`);
  if (error instanceof DrillNotPassed) return error.exitCode;
  const { undone, usage } = command.exitCodes ?? EXIT_CODES;
  if (!(error instanceof UsageError || isUnknownOption(error))) return undone;
  stderr.write(`usage: serpcache ${command.name} ${command.usage}\n`);
  return usage;
}

/** node:util's parseArgs says so in its codes. */
function isUnknownOption(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}

function overview(commands: readonly Command[]): string {
  return `usage:\n${commands.map(entry).join('')}
Each takes --help. The configuration is the file named by SERPCACHE_CONFIG, or the embedded demo.
${EXIT_CODES.words.join('\n')}\n`;
}

function help(command: Command): string {
  const { parts = [], details = [], exitCodes = EXIT_CODES } = command;
  const lines = details.map((line) => `  ${line}\n`).join('');
  return `usage:\n${entry(command)}${lines === '' ? '' : `\n${lines}`}${parts.length === 0 ? '' : '\n'}${parts
    .map(entry)
    .join('')}\n${exitCodes.words.join('\n')}\n`;
}

function entry({ name, usage, summary }: Command): string {
  return `  ${`serpcache ${name} ${usage}`.trimEnd()}\n      ${summary}\n`;
}

import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { CONFIG_VARIABLE, DEFAULT_FILE } from '../config/document.ts';
import { ConfigError } from '../config/faults.ts';
import {
  checkCount,
  didYouMean,
  EXIT,
  EXIT_HELP,
  messageOf,
  type Option,
  optionLines,
  parseArguments,
  UsageError,
  versionText,
} from './arguments.ts';
import { changesCommand } from './changes.ts';
import { CONFIG_OPTION, type Command, type CommandContext, type CommandGroup, NotPassed } from './command.ts';
import { config, sphinxSource } from './config.ts';
import { doctorCommand } from './doctor.ts';
import { drill } from './drill.ts';
import { explainCommand, popular, trace } from './explain.ts';
import { flush, haltCommand, purgeCommand, suppressCommand } from './flush.ts';
import { indexCatalogue } from './index-catalogue.ts';
import { init, start } from './init.ts';
import { parity } from './parity.ts';
import { plan } from './plan.ts';
import { shadow } from './shadow.ts';
import { warm } from './warm.ts';

type Listed = Command | CommandGroup;

/** Every command, in the order of the help: `start` and `init`, those for a running service, then those that need none. */
export const COMMANDS: readonly Listed[] = [
  start,
  init,
  flush,
  purgeCommand,
  suppressCommand,
  changesCommand,
  drill,
  shadow,
  doctorCommand,
  haltCommand,
  warm,
  explainCommand,
  trace,
  popular,
  indexCatalogue,
  sphinxSource,
  parity,
  plan,
  config,
];

function optionsOf(command: Command): readonly Option[] {
  return command === init ? command.options : [...command.options, CONFIG_OPTION];
}

/** Finds the command that the arguments name and runs it; without a name it is `start`. @returns the exit status. */
export async function call(given: readonly string[], context: CommandContext): Promise<number> {
  const argv = given.length === 0 || given[0]?.startsWith('--config') ? ['start', ...given] : given;
  const [name = '', ...rest] = argv;
  const { stdout, stderr } = context;
  if (['help', '--help', '-h'].includes(name)) {
    const [asked = ''] = rest;
    const shown = find(rest).command;
    if (name === 'help' && /^[^-]/.test(asked) && shown === undefined) return noCommand(asked, stderr);
    stdout.write(shown === undefined ? overview() : help(shown));
    return EXIT.passed;
  }
  if (name === '--version') {
    stdout.write(`${versionText()}\n`);
    return EXIT.passed;
  }
  const { command, args } = find(argv);
  if (command === undefined) return noCommand(name, stderr);
  try {
    const read = parseArguments(args, 'parts' in command ? [] : optionsOf(command));
    if (read.kind === 'help' || read.kind === 'version') {
      stdout.write(read.kind === 'help' ? help(command) : `${versionText()}\n`);
      return EXIT.passed;
    }
    if ('parts' in command) throw new UsageError(missingPart(command, args[0]));
    if (read.kind === 'wrong') throw new UsageError(read.faults.join('\n'));
    checkCount(read.arguments, command.takes);
    const config = read.arguments.text('config');
    const { settings, serve } = context;
    await command.run(read.arguments, {
      ...context,
      settings: () => settings(config),
      serve: serve && ((file = config) => serve(file)),
    });
    return EXIT.passed;
  } catch (error) {
    return reportError(error, command, stderr);
  }
}

function noCommand(name: string, stderr: CommandContext['stderr']): number {
  const hint = didYouMean(name, COMMANDS.map(lastWord)) || 'see: serpcache --help';
  stderr.write(`serpcache: no command "${name}"; ${hint}\n`);
  return EXIT.usage;
}

/** The most specific command that the arguments name, and the arguments after its name. */
function find(argv: readonly string[]): { command?: Listed; args: readonly string[] } {
  const command = COMMANDS.find(({ name }) => name === argv[0]);
  if (command === undefined) return { args: argv };
  const part = 'parts' in command ? command.parts.find((one) => lastWord(one) === argv[1]) : undefined;
  return part === undefined ? { command, args: argv.slice(1) } : { command: part, args: argv.slice(2) };
}

function lastWord({ name }: Listed): string {
  return name.split(' ').at(-1) ?? name;
}

function missingPart({ name, parts }: CommandGroup, word: string | undefined): string {
  const names = parts.map(lastWord);
  if (word === undefined || word.startsWith('-')) return `${name} what? ${names.join(', ')}`;
  return `no ${name} command "${word}"; ${didYouMean(word, names) || `known: ${names.join(', ')}`}`;
}

function reportError(error: unknown, command: Listed, stderr: CommandContext['stderr']): number {
  if (error instanceof ConfigError) {
    stderr.write(`${error.message}\n`);
    return EXIT.configuration;
  }
  stderr.write(`serpcache ${command.name}: ${messageOf(error)}\n`);
  if (error instanceof NotPassed) return error.status;
  if (!(error instanceof UsageError)) return EXIT.notDone;
  stderr.write(`usage: serpcache ${command.name} ${command.usage}\n`);
  return EXIT.usage;
}

function overview(): string {
  return `usage:\n${COMMANDS.map(entry).join('')}
Each takes --help and --version. Without a command it is start. The configuration is the file named by --config or
${CONFIG_VARIABLE}, else ${DEFAULT_FILE} of this folder, else the embedded demo.
${EXIT_HELP}\n`;
}

function help(command: Listed): string {
  const [parts, options, details = []] =
    'parts' in command ? [command.parts, []] : [[], optionsOf(command), command.details];
  const lines = [...optionLines(options), ...(details.length === 0 ? [] : ['', ...details])];
  const own = lines.map((line) => `${line === '' ? '' : `  ${line}`}\n`).join('');
  return `usage:\n${entry(command)}\n${own}\n${parts.map(entry).join('')}${parts.length === 0 ? '' : '\n'}${EXIT_HELP}\n`;
}

function entry({ name, usage, summary }: Listed): string {
  return `  ${`serpcache ${name} ${usage}`.trimEnd()}\n      ${summary}\n`;
}

/** Lines that were pasted together with the answer to an earlier question. */
const pasted: string[] = [];

/** Asks a question at a terminal and reads one line. */
export async function askAt(
  terminal: { readonly input: Readable; readonly output: Writable },
  question: string,
  signal: AbortSignal,
): Promise<string> {
  const ready = pasted.shift();
  if (ready !== undefined) {
    terminal.output.write(`${question}${ready}\n`);
    return ready;
  }
  const lines = createInterface(terminal);
  // The first line is the answer, which is not told here.
  lines.on('line', (line) => pasted.push(line));
  // While readline reads a terminal, Ctrl-C reaches readline and not the process. End of input is no answer either.
  const gone = new AbortController();
  lines.once('SIGINT', () => gone.abort(new Error('stopped at the question, nothing was done')));
  lines.once('close', () => gone.abort(new Error('no answer, nothing was done')));
  const either = AbortSignal.any([signal, gone.signal]);
  try {
    return await lines.question(question, { signal: either });
  } catch {
    throw either.reason;
  } finally {
    lines.close();
  }
}

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ConfigError } from '../config/faults.ts';
import { nearest } from '../schema/faults.ts';
import { formatDuration, parseDuration, SECOND } from '../schema/units.ts';

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

const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
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

/** One option of a program. Parsing, error messages and help are all derived from it. */
export interface Option {
  readonly name: string;
  /** The name of the value in the help: `N`. Absent for a switch. */
  readonly takes?: string;
  /** An environment variable with the same meaning; the option wins. */
  readonly variable?: string;
  readonly about: string;
  /** Whether it may be given several times. */
  readonly repeats?: boolean;
}

/** Every program has these two. */
const STANDARD: readonly Option[] = [
  { name: 'help', about: 'show this text and do nothing' },
  { name: 'version', about: 'show the version and do nothing' },
];

/** The arguments are wrong, and nothing was done. Exit status 64. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

interface NumberRange {
  readonly least: number;
  readonly most: number;
  readonly whole?: boolean;
}

/** The arguments of one call. */
export type ParsedArguments = ReturnType<typeof argumentsOf>;

type ArgumentsResult =
  | { readonly kind: 'arguments'; readonly arguments: ParsedArguments }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | WrongArguments;

interface WrongArguments {
  readonly kind: 'wrong';
  /** All faults; each names the argument and what is allowed. */
  readonly faults: readonly string[];
  /** The arguments without a fault: a program with further checks can report all faults at once. */
  readonly rest: ParsedArguments;
}

/** Parses arguments by a table of options. `--help` and `--version` take precedence over every fault. */
export function parseArguments(argv: readonly string[], options: readonly Option[]): ArgumentsResult {
  const end = argv.indexOf('--');
  const beforeEnd = end < 0 ? argv : argv.slice(0, end);
  if (beforeEnd.some((word) => word === '--help' || word === '-h')) return { kind: 'help' };
  if (beforeEnd.includes('--version')) return { kind: 'version' };
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(
      options.map(({ name, takes }) => [name, { type: takes === undefined ? 'boolean' : 'string' }] as const),
    ),
    // Node's strict mode stops at the first fault; here all faults are reported.
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values = new Map<string, string[]>();
  const positionals: string[] = [];
  const faults: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const option = options.find(({ name }) => token.rawName === `--${name}`);
    const fault = option === undefined ? unknownOption(token.rawName, options) : valueFault(option, token);
    if (fault !== undefined) faults.push(fault);
    else values.set(token.name, [...(values.get(token.name) ?? []), token.value ?? '']);
  }
  for (const { name, repeats = false } of options) {
    const times = values.get(name)?.length ?? 0;
    if (times > 1 && !repeats) faults.push(`--${name} is given ${times} times; allowed: once`);
  }
  const given = argumentsOf(values, positionals);
  return faults.length > 0 ? { kind: 'wrong', faults, rest: given } : { kind: 'arguments', arguments: given };
}

interface OptionToken {
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function valueFault({ name, takes }: Option, { value, inlineValue }: OptionToken): string | undefined {
  if (takes === undefined) return value === undefined ? undefined : `--${name} takes no value`;
  const isMissing = value === undefined || value === '' || (inlineValue === false && value.startsWith('--'));
  return isMissing ? `--${name} needs a value: ${takes}` : undefined;
}

function unknownOption(given: string, options: readonly Option[]): string {
  const known = [...options, ...STANDARD].map(({ name }) => `--${name}`);
  if (/^--(admin-)?token$/.test(given)) {
    const file = known.includes('--token-file') ? ', or --token-file FILE' : '';
    return `a token on the command line is seen by everybody on this machine; allowed: ADMIN_TOKEN in the environment${file}`;
  }
  return `unknown option ${given}${didYouMean(given, known, '; ')} (allowed: ${known.join(', ')})`;
}

/** `did you mean --json?` after `before`; empty when no known word is near enough. */
export function didYouMean(word: string, known: readonly string[], before = ''): string {
  const near = nearest(word, known);
  return near === undefined ? '' : `${before}did you mean ${near}?`;
}

function argumentsOf(values: ReadonlyMap<string, readonly string[]>, positionals: readonly string[]) {
  const texts = (option: string): readonly string[] => values.get(option) ?? [];
  return {
    positionals,
    has: (option: string) => values.has(option),
    text: (option: string): string | undefined => texts(option)[0],
    texts,
    /** @throws UsageError when the option's value is not a number of the range. */
    number: (option: string, range?: NumberRange) => {
      const text = texts(option)[0];
      return text === undefined ? undefined : numberOf(`--${option}`, text, range);
    },
  };
}

/** Number() alone would also accept 0x10 and an empty text. */
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** @throws UsageError that names the option and the range. */
export function numberOf(option: string, text: string, range?: NumberRange): number {
  const value = NUMBER.test(text) ? Number(text) : Number.NaN;
  const { least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY, whole = false } = range ?? {};
  if (Number.isFinite(value) && value >= least && value <= most && (!whole || Number.isInteger(value))) return value;
  const kind = whole ? 'a whole number' : 'a number';
  const bounds = range === undefined ? '' : ` from ${least} to ${most}`;
  throw new UsageError(`${option} takes ${kind}${bounds}, not "${text}"`);
}

interface DurationRange {
  readonly least: number;
  readonly most: number;
  readonly step?: number;
  /** Durations of the range, for the fault. */
  readonly example?: string;
}

/**
 * Milliseconds of a duration such as `90s`; undefined without the option.
 * @throws UsageError that names the option and the range.
 */
export function durationOf(
  args: ParsedArguments,
  option: string,
  { least, most, step = 1, example = '90s, 10m or 1h' }: DurationRange,
): number | undefined {
  const text = args.text(option);
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= least && ms <= most && ms % step === 0) return ms;
  const range = `from ${formatDuration(least)} to ${formatDuration(most)}`;
  const whole = step === SECOND ? ' in whole seconds' : '';
  throw new UsageError(`--${option} takes a duration such as ${example}, ${range}${whole}, not "${text}"`);
}

/** @throws UsageError when there are fewer or more positional arguments than the program takes. */
export function checkCount(
  { positionals }: ParsedArguments,
  takes: { readonly min: number; readonly max: number },
): void {
  if (positionals.length < takes.min) throw new UsageError('an argument is missing');
  if (positionals.length > takes.max) throw new UsageError(`an argument too many: "${positionals[takes.max]}"`);
}

/** A word quoted for a shell, for commands to be pasted. */
export function quoted(word: string): string {
  return /^[\p{L}\p{N}_./:@%+=,-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** @param what the file in the fault: `--token-file FILE`. @throws UsageError when it cannot be read. */
export function readTextFile(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${what} cannot be read: ${messageOf(error)}`);
  }
}

/** One line of help per option. */
export function optionLines(options: readonly Option[]): readonly string[] {
  const all = [...options, ...STANDARD].map(({ name, takes, variable, about }) => ({
    head: `--${name}${takes === undefined ? '' : ` ${takes}`}`,
    about: variable === undefined ? about : `${about} (${variable})`,
  }));
  const width = Math.max(...all.map(({ head }) => head.length));
  return all.map(({ head, about }) => `${head.padEnd(width)}  ${about}`);
}

/** A program such as `npm run traffic`. The commands of `serpcache` are in command.ts. */
export interface Program {
  /** The typed command: `npm run traffic --`. */
  readonly command: string;
  /** After the command: `[options]`. */
  readonly usage: string;
  readonly about: readonly string[];
  readonly options: readonly Option[];
  readonly takes: { readonly min: number; readonly max: number };
}

export function helpOf({ command, usage, about, options }: Omit<Program, 'takes'>): string {
  const lines = optionLines(options).map((line) => `  ${line}`);
  return [`usage: ${`${command} ${usage}`.trimEnd()}`, ...about, '', ...lines, '', EXIT_HELP].join('\n');
}

export function projectVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}

export const versionText = (): string => `serpcache ${projectVersion()}`;

/** Arguments that do not start the program: help, version, or faults. */
export type NotRun = { readonly kind: 'help' } | { readonly kind: 'version' } | Pick<WrongArguments, 'kind' | 'faults'>;

/** Prints the help, the version or the faults of the arguments. @returns the exit status. */
export function refuse(read: NotRun, program: Omit<Program, 'takes'>): number {
  if (read.kind === 'help') console.log(helpOf(program));
  if (read.kind === 'version') console.log(versionText());
  if (read.kind !== 'wrong') return EXIT.passed;
  for (const fault of read.faults) console.error(`serpcache: ${fault}`);
  console.error(`usage: ${`${program.command} ${program.usage}`.trimEnd()}; ${program.command} --help explains it`);
  return EXIT.usage;
}

/**
 * Parses the arguments and runs the program, unless they ask for help or the version, or are wrong.
 * @returns the exit status.
 */
export async function runProgram(
  program: Program,
  run: (args: ParsedArguments) => Promise<number> | number,
  argv: readonly string[] = process.argv.slice(2),
): Promise<number> {
  const read = parseArguments(argv, program.options);
  if (read.kind !== 'arguments') return refuse(read, program);
  try {
    checkCount(read.arguments, program.takes);
    return await run(read.arguments);
  } catch (error) {
    if (error instanceof UsageError) return refuse({ kind: 'wrong', faults: error.message.split('\n') }, program);
    console.error(error instanceof ConfigError ? error.message : `serpcache: ${messageOf(error)}`);
    return error instanceof ConfigError ? EXIT.configuration : EXIT.notDone;
  }
}

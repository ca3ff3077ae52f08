import { createReadStream, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createGunzip } from 'node:zlib';
import { ConfigError, nearest } from '../config/faults.ts';
import type { DomainSettings, Settings } from '../config/settings.ts';
import { EXIT, EXIT_HELP } from './command.ts';

/** One option of a program: parsing, faults and help all come from this table. */
export interface Option {
  readonly name: string;
  /** The value in the help: `N`. Absent for a switch. */
  readonly takes?: string;
  /** An environment variable with the same meaning; the option wins. */
  readonly variable?: string;
  readonly about: string;
  /** May be given several times. */
  readonly repeats?: boolean;
}

/** Every program has these two. */
const STANDARD: readonly Option[] = [
  { name: 'help', about: 'show this text and do nothing' },
  { name: 'version', about: 'show the version and do nothing' },
];

/** The arguments are wrong and nothing was done. Exit status 64. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export interface NumberRange {
  readonly least: number;
  readonly most: number;
  readonly whole?: boolean;
}

/** The arguments of one call, as words: the reader gives them a meaning. */
export interface Words {
  readonly positionals: readonly string[];
  readonly has: (option: string) => boolean;
  readonly text: (option: string) => string | undefined;
  readonly texts: (option: string) => readonly string[];
  /** @throws UsageError when the option is given and is no number, or none of the range. */
  readonly number: (option: string, range?: NumberRange) => number | undefined;
}

export type ReadWords =
  | { readonly kind: 'words'; readonly words: Words }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | WrongWords;

export interface WrongWords {
  readonly kind: 'wrong';
  /** All of them; each names the argument and what is allowed. */
  readonly faults: readonly string[];
  /** The arguments without fault: a program that has more to find wrong may tell everything at once. */
  readonly rest: Words;
}

/**
 * Reads arguments by a table of options. A request for help or the version goes before every fault, so a program that
 * asks this first starts nothing for `--help`, whatever stands beside it.
 */
export function readWords(argv: readonly string[], options: readonly Option[]): ReadWords {
  const end = argv.indexOf('--');
  const beforeEnd = end < 0 ? argv : argv.slice(0, end);
  if (beforeEnd.some((word) => word === '--help' || word === '-h')) return { kind: 'help' };
  if (beforeEnd.includes('--version')) return { kind: 'version' };
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(
      options.map(({ name, takes }) => [name, { type: takes === undefined ? 'boolean' : 'string' }] as const),
    ),
    // Node's own strictness ends at the first fault.
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
  const words = wordsOf(values, positionals);
  return faults.length > 0 ? { kind: 'wrong', faults, rest: words } : { kind: 'words', words };
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
  const near = nearest(given, known);
  const meant = near === undefined ? '' : `; did you mean ${near}?`;
  return `unknown option ${given}${meant} (allowed: ${known.join(', ')})`;
}

function wordsOf(values: ReadonlyMap<string, readonly string[]>, positionals: readonly string[]): Words {
  const texts = (option: string): readonly string[] => values.get(option) ?? [];
  return {
    positionals,
    has: (option) => values.has(option),
    text: (option) => texts(option)[0],
    texts,
    number: (option, range) => {
      const text = texts(option)[0];
      return text === undefined ? undefined : numberOf(`--${option}`, text, range);
    },
  };
}

/** Number() alone also takes 0x10 and an empty text. */
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** @throws UsageError naming the option and the range. */
export function numberOf(option: string, text: string, range?: NumberRange): number {
  const value = NUMBER.test(text) ? Number(text) : Number.NaN;
  const { least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY, whole = false } = range ?? {};
  if (Number.isFinite(value) && value >= least && value <= most && (!whole || Number.isInteger(value))) return value;
  const kind = whole ? 'a whole number' : 'a number';
  const bounds = range === undefined ? '' : ` from ${least} to ${most}`;
  throw new UsageError(`${option} takes ${kind}${bounds}, not "${text}"`);
}

/** @throws UsageError when there are fewer or more positional arguments than the program takes. */
export function checkCount({ positionals }: Words, takes: { readonly min: number; readonly max: number }): void {
  if (positionals.length < takes.min) throw new UsageError('an argument is missing');
  if (positionals.length > takes.max) throw new UsageError(`an argument too many: "${positionals[takes.max]}"`);
}

/** A word as a shell takes it, for commands that somebody may paste. */
export function quoted(word: string): string {
  return /^[\p{L}\p{N}_./:@%+=,-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Lines of a help, one per option. */
export function optionLines(options: readonly Option[]): readonly string[] {
  const all = [...options, ...STANDARD].map(({ name, takes, variable, about }) => ({
    head: `--${name}${takes === undefined ? '' : ` ${takes}`}`,
    about: variable === undefined ? about : `${about} (${variable})`,
  }));
  const width = Math.max(...all.map(({ head }) => head.length));
  return all.map(({ head, about }) => `${head.padEnd(width)}  ${about}`);
}

/** A program of its own, such as `npm run traffic`. The commands of `serpcache` are described in command.ts. */
export interface Program {
  /** As it is typed: `npm run traffic --`. */
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

export function versionText(): string {
  return `serpcache ${projectVersion()}`;
}

/** The answers to arguments that do not start the program: help, version, or their faults. */
export type NotRun = { readonly kind: 'help' } | { readonly kind: 'version' } | Pick<WrongWords, 'kind' | 'faults'>;

/** Says why a program does not run, or what it was asked to say. @returns the exit status. */
export function refuse(read: NotRun, program: Omit<Program, 'takes'>): number {
  if (read.kind === 'help') console.log(helpOf(program));
  if (read.kind === 'version') console.log(versionText());
  if (read.kind !== 'wrong') return EXIT.passed;
  for (const fault of read.faults) console.error(`serpcache: ${fault}`);
  console.error(`usage: ${`${program.command} ${program.usage}`.trimEnd()}; ${program.command} --help explains it`);
  return EXIT.usage;
}

/** Reads the arguments, then runs the program; nothing runs for help, the version or a fault. @returns the exit status. */
export async function runProgram(
  program: Program,
  run: (words: Words) => Promise<number> | number,
  argv: readonly string[] = process.argv.slice(2),
): Promise<number> {
  const read = readWords(argv, program.options);
  if (read.kind !== 'words') return refuse(read, program);
  try {
    checkCount(read.words, program.takes);
    return await run(read.words);
  } catch (error) {
    if (error instanceof UsageError) return refuse({ kind: 'wrong', faults: error.message.split('\n') }, program);
    const message = error instanceof Error ? error.message : String(error);
    console.error(error instanceof ConfigError ? message : `serpcache: ${message}`);
    return error instanceof ConfigError ? EXIT.configuration : EXIT.notDone;
  }
}

/** @param advice what else to do. @throws UsageError naming the configured ones. */
export function domainNamed(name: string, settings: Settings, advice?: string): DomainSettings {
  const domain = settings.domains.find((each) => each.name === name);
  if (domain !== undefined) return domain;
  const configured = settings.domains.map((each) => each.name).join(', ');
  throw new UsageError(`no domain "${name}"; configured: ${configured}${advice === undefined ? '' : `; ${advice}`}`);
}

export interface FileBytes {
  readonly chunks: AsyncIterable<Buffer>;
  /** Of the file as it lies on disk. */
  readonly bytesRead: () => number;
}

/** The bytes of a file, `.gz` unpacked. Reading it rejects with a message that names the file. */
export function fileBytes(file: string, signal: AbortSignal): FileBytes {
  const raw = createReadStream(file, { signal });
  const unpacked = /\.gz$/i.test(file) ? raw.pipe(createGunzip()) : raw;
  // pipe() passes no errors on, and a loop over a stream that never ends would wait for ever.
  if (unpacked !== raw) raw.once('error', (error) => unpacked.destroy(error));
  async function* chunks(): AsyncGenerator<Buffer, void, undefined> {
    try {
      for await (const chunk of unpacked) yield chunk as Buffer;
    } catch (cause) {
      signal.throwIfAborted();
      throw new Error(`${file} cannot be read: ${cause instanceof Error ? cause.message : cause}`, { cause });
    } finally {
      raw.destroy();
      unpacked.destroy();
    }
  }
  return { chunks: chunks(), bytesRead: () => raw.bytesRead };
}

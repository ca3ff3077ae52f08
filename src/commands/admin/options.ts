import { parseArgs } from 'node:util';
import { nearest } from '../../config/suggest.ts';
import { UsageError } from '../command.ts';

/** One option of a command: what its help says and how it is read. */
export interface Option {
  readonly name: string;
  /** What it takes, as the help shows it: `N`; absent: it is on or off. */
  readonly takes?: string;
  readonly about: string;
  /** May be given several times. */
  readonly repeats?: boolean;
}

/** The words of one call. */
export interface Words {
  readonly positionals: readonly string[];
  readonly has: (option: string) => boolean;
  readonly text: (option: string) => string | undefined;
  readonly texts: (option: string) => readonly string[];
  /** @throws UsageError when it is given and no number. */
  readonly number: (option: string) => number | undefined;
}

/** @throws UsageError naming the option that was meant, when one is near. */
export function readWords(args: readonly string[], options: readonly Option[]): Words {
  const names = options.map(({ name }) => name);
  const beforeEnd = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  for (const word of beforeEnd) {
    const given = /^--([^=]+)/.exec(word)?.[1];
    if (given === undefined || names.includes(given)) continue;
    if (given === 'token') {
      throw new UsageError(
        'a token in the command line is seen by everybody on this machine: set ADMIN_TOKEN or use --token-file',
      );
    }
    const meant = nearest(given, names);
    throw new UsageError(`no option --${given}${meant === undefined ? '' : `; did you mean --${meant}?`}`);
  }
  const { values, positionals } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      options.map(({ name, takes, repeats = false }) => [
        name,
        { type: takes === undefined ? ('boolean' as const) : ('string' as const), multiple: repeats },
      ]),
    ),
    allowPositionals: true,
  });
  const texts = (name: string): readonly string[] =>
    [values[name] ?? []].flat().filter((value) => typeof value === 'string');
  return {
    positionals,
    has: (name) => values[name] !== undefined,
    text: (name) => texts(name)[0],
    texts,
    number: (name) => {
      const text = texts(name)[0];
      if (text === undefined) return undefined;
      const value = text.trim() === '' ? Number.NaN : Number(text);
      if (Number.isFinite(value)) return value;
      throw new UsageError(`--${name} takes a number, not "${text}"`);
    },
  };
}

/** The lines of a help, one per option. */
export function describeOptions(options: readonly Option[]): readonly string[] {
  const heads = options.map(({ name, takes }) => `--${name}${takes === undefined ? '' : ` ${takes}`}`);
  const width = Math.max(...heads.map(({ length }) => length));
  return options.map(({ about }, i) => `${(heads[i] ?? '').padEnd(width)}  ${about}`);
}

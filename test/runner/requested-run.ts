import { globSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import {
  type NotRun,
  type ParsedArguments,
  type Program,
  parseArguments,
  UsageError,
} from '../../src/commands/arguments.ts';
import type { FinishedRun } from './judge.ts';
import { importsWithin, type Unit, unitsOf } from './units.ts';

/** The options of `npm test`: its own, and those that it passes to node's runner. */
export const TEST_PROGRAM: Omit<Program, 'takes'> = {
  command: 'npm test --',
  usage: '[options] [file, folder or pattern…]',
  about: [
    'Installs the servers that the test files start and that are missing, then runs the files: those named, or every one',
    'but *.slow.test.ts, which prove once what costs much: --all, or naming the file, runs them too.',
  ],
  options: [
    { name: 'all', about: 'with the slow files' },
    { name: 'quick', about: 'only files that start no server, no browser and no other program; installs nothing' },
    { name: 'test-concurrency', takes: 'N', about: 'files at once' },
    { name: 'test-name-pattern', takes: 'TEXT', about: 'only tests of this name; /one/i is a pattern', repeats: true },
    { name: 'test-only', about: 'only tests marked as such' },
    { name: 'test-skip-pattern', takes: 'TEXT', about: 'not the tests of this name', repeats: true },
    { name: 'test-timeout', takes: 'MS', about: 'for each test' },
  ],
};

/** A file that a run without `--all` leaves out, unless it is named itself. */
const SLOW = '.slow.test.ts';
const COUNT = { least: 1, most: 2 ** 31 - 1, whole: true };

/** The run that the arguments of `npm test` ask for. */
export interface RequestedRun {
  readonly kind: 'run';
  readonly scope: FinishedRun['scope'];
  readonly quick: boolean;
  /** Whether some tests of the files are left out, by name or by `only`. */
  readonly narrowed: boolean;
  /** Files are paths relative to the project. */
  readonly units: readonly Unit[];
  /** The parts of loadtest/stack/parts.ts that the files start. */
  readonly parts: readonly string[];
  readonly startsK6: boolean;
  /** Options for `run` of node:test. */
  readonly node: {
    readonly concurrency?: number;
    readonly only?: true;
    readonly testNamePatterns?: readonly string[];
    readonly testSkipPatterns?: readonly string[];
    readonly timeout?: number;
  };
}

/** The run that the arguments ask for, or the help, the version or the faults to print instead. */
export function requestedRun(args: readonly string[], root: string): RequestedRun | NotRun {
  const read = parseArguments(args, TEST_PROGRAM.options);
  if (read.kind !== 'arguments') return read;
  try {
    return runOf(read.arguments, root);
  } catch (error) {
    if (error instanceof UsageError) return { kind: 'wrong', faults: [error.message] };
    if (!(error instanceof SyntaxError)) throw error;
    return { kind: 'wrong', faults: [`a pattern of --test-name-pattern or --test-skip-pattern: ${error.message}`] };
  }
}

function runOf({ positionals, has, number, texts }: ParsedArguments, root: string): RequestedRun {
  const [names, skips] = [texts('test-name-pattern'), texts('test-skip-pattern')];
  for (const pattern of [...names, ...skips]) checkPattern(pattern);
  const chosen = (paths: readonly string[]): string[] =>
    [...new Set(paths.flatMap((path) => testFilesOf(path, root, has('all'))))].sort();
  const named = chosen(positionals.length === 0 ? ['test'] : positionals);
  // `npm test -- test` names every file, so its number of tests is compared with the floor too.
  const whole = positionals.length === 0 || named.join() === chosen(['test']).join();
  const quick = has('quick');
  if (quick && has('all')) throw new UsageError('--quick leaves out what --all adds: give one of them');
  const imports = importsWithin(root);
  const files = named.filter((file) => !(quick && imports.startsPrograms(file)));
  if (files.length === 0) throw new UsageError('each of these test files may start a program: no --quick for them');
  return {
    kind: 'run',
    scope: !whole ? 'named paths' : quick ? 'quick' : has('all') ? 'all' : 'tests',
    quick,
    narrowed: names.length + skips.length > 0 || has('test-only'),
    units: unitsOf(files, imports.needsOwnProcess),
    parts: imports.partsOf(files),
    startsK6: files.some(imports.startsK6),
    node: {
      concurrency: number('test-concurrency', COUNT),
      timeout: number('test-timeout', COUNT),
      only: has('test-only') || undefined,
      testNamePatterns: names.length > 0 ? names : undefined,
      testSkipPatterns: skips.length > 0 ? skips : undefined,
    },
  };
}

/** Checks a pattern as node parses it: `/one/i` is a regular expression. @throws SyntaxError */
function checkPattern(pattern: string): void {
  const [, source, flags] = /^\/(.*)\/([a-z]*)$/s.exec(pattern) ?? [];
  new RegExp(source ?? pattern, flags);
}

/** The test files of a path: a file, a folder or a pattern. Of the last two, slow files only with `all`. */
function testFilesOf(path: string, root: string, all: boolean): string[] {
  const entry = statSync(resolve(root, path), { throwIfNoEntry: false });
  if (entry === undefined && !/[*?[{]/.test(path)) throw new UsageError(`there is no ${path}`);
  const pattern = entry?.isDirectory() ? join(path, '**', '*.test.ts') : path;
  const found = entry?.isFile() ? [path] : globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] });
  const tests = found.filter((file) => file.endsWith('.test.ts')).map((file) => relative(root, resolve(root, file)));
  const files = tests.filter((file) => all || entry?.isFile() || !file.endsWith(SLOW));
  if (files.length > 0) return files;
  if (tests.length > 0) throw new UsageError(`${path} has only slow files: name one of them, or add --all`);
  throw new UsageError(`${path} ${entry?.isFile() ? 'is' : 'has'} no *.test.ts`);
}

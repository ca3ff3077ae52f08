import { globSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import {
  type NotRun,
  type ParsedArguments,
  type Program,
  parseArguments,
  UsageError,
} from '../../src/commands/arguments.ts';
import { importsOf, sourceFiles } from '../architecture/source.ts';
import type { FinishedRun } from './judge.ts';

/** The options of `npm test`: its own, and those that it passes to node's runner. */
export const TEST_PROGRAM: Omit<Program, 'takes'> = {
  command: 'npm test --',
  usage: '[options] [file, folder or pattern…]',
  about: ['Installs the servers that are missing, then runs the test files: every one unless some are named.'],
  options: [
    { name: 'quick', about: 'only files that start no server, no browser and no other program; installs nothing' },
    { name: 'test-concurrency', takes: 'N', about: 'files at once' },
    { name: 'test-name-pattern', takes: 'TEXT', about: 'only tests of this name; /one/i is a pattern', repeats: true },
    { name: 'test-only', about: 'only tests marked as such' },
    { name: 'test-skip-pattern', takes: 'TEXT', about: 'not the tests of this name', repeats: true },
    { name: 'test-timeout', takes: 'MS', about: 'for each test' },
  ],
};

/** A module that imports one of these may start a program. */
const PROGRAM_STARTERS = ['node:child_process', 'node:cluster', 'playwright-core'];
/** Maximum number of importing files that the message about a path without tests names. */
const NAMED_IMPORTERS = 5;
const K6 = join('loadtest', 'runner', 'k6-program.ts');

/** The run that the arguments of `npm test` ask for. */
export interface RequestedRun {
  readonly kind: 'run';
  readonly scope: FinishedRun['scope'];
  readonly quick: boolean;
  /** Whether some tests of the files are left out, by name or by `only`. */
  readonly narrowed: boolean;
  /** Paths relative to the project, in alphabetical order. */
  readonly files: readonly string[];
  /** Whether a file may start a server or a browser. */
  readonly startsPrograms: boolean;
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

function runOf({ positionals, has, text, texts }: ParsedArguments, root: string): RequestedRun {
  const named = (positionals.length === 0 ? ['test'] : positionals).flatMap((path) => testFilesOf(path, root));
  const reaches = importGraph(root);
  const [names, skips] = [texts('test-name-pattern'), texts('test-skip-pattern')];
  for (const pattern of [...names, ...skips]) checkPattern(pattern);
  const chosen = [...new Set(named)].sort();
  // `npm test -- test` names every file, so its number of tests is compared with the floor too.
  const everything = positionals.length === 0 || chosen.join() === testFilesOf('test', root).sort().join();
  const quick = has('quick');
  const files = chosen.filter((file) => !(quick && reaches(file, PROGRAM_STARTERS)));
  if (files.length === 0) throw new UsageError('each of these test files may start a program: no --quick for them');
  return {
    kind: 'run',
    scope: !everything ? 'named paths' : quick ? 'quick' : 'everything',
    quick,
    narrowed: names.length + skips.length > 0 || has('test-only'),
    files,
    startsPrograms: files.some((file) => reaches(file, PROGRAM_STARTERS)),
    startsK6: files.some((file) => reaches(file, [K6])),
    node: {
      ...counted('concurrency', text('test-concurrency')),
      ...counted('timeout', text('test-timeout')),
      ...(has('test-only') && { only: true }),
      ...(names.length > 0 && { testNamePatterns: names }),
      ...(skips.length > 0 && { testSkipPatterns: skips }),
    },
  };
}

/** Checks a pattern as node parses it: `/one/i` is a regular expression. @throws SyntaxError */
function checkPattern(pattern: string): void {
  const [, source, flags] = /^\/(.*)\/([a-z]*)$/s.exec(pattern) ?? [];
  new RegExp(source ?? pattern, flags);
}

function counted<Name extends string>(name: Name, text: string | undefined): { readonly [key in Name]?: number } {
  if (text === undefined) return {};
  if (!/^[1-9]\d*$/.test(text)) throw new UsageError(`--test-${name} is a positive number, not ${text}`);
  return { [name]: Number(text) } as { readonly [key in Name]: number };
}

/** The test files of a path: a file, a folder or a pattern. */
function testFilesOf(path: string, root: string): string[] {
  const entry = statSync(resolve(root, path), { throwIfNoEntry: false });
  if (entry === undefined && !/[*?[{]/.test(path)) throw new UsageError(`there is no ${path}`);
  const pattern = entry?.isDirectory() ? join(path, '**', '*.test.ts') : path;
  const found = entry?.isFile() ? [path] : globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] });
  const files = found.filter((file) => file.endsWith('.test.ts')).map((file) => relative(root, resolve(root, file)));
  if (files.length > 0) return files;
  const importers = importersOf(relative(root, resolve(root, path)), root);
  const more = importers.length > NAMED_IMPORTERS ? ` and ${importers.length - NAMED_IMPORTERS} more` : '';
  const hint = importers.length === 0 ? '' : `; imported by ${importers.slice(0, NAMED_IMPORTERS).join(', ')}${more}`;
  throw new UsageError(`${path} ${entry?.isFile() ? 'is' : 'has'} no *.test.ts${hint}`);
}

/** The test files that import a file, or a file of a folder, which has no tests. */
function importersOf(path: string, root: string): string[] {
  const tests = sourceFiles(join(root, 'test')).map((file) => join('test', file));
  return tests.filter(
    (file) =>
      file.endsWith('.test.ts') &&
      modulesOf(file, root).some((module) => module === path || module.startsWith(path + sep)),
  );
}

/**
 * @returns a function that tells whether a file imports, directly or indirectly, one of the modules. Type imports do
 * not count.
 */
function importGraph(root: string): (file: string, modules: readonly string[]) => boolean {
  const imported = new Map<string, readonly string[]>();
  return (file, modules) => {
    const seen = new Set([file]);
    for (const from of seen) {
      if (modules.includes(from)) return true;
      const next = imported.get(from) ?? modulesOf(from, root);
      imported.set(from, next);
      for (const module of next) seen.add(module);
    }
    return false;
  };
}

/** The modules that a file imports: files by their path relative to the project, packages by name. */
function modulesOf(file: string, root: string): string[] {
  if (!/\.m?[jt]s$/.test(file) || statSync(join(root, file), { throwIfNoEntry: false }) === undefined) return [];
  return importsOf(join(root, file)).flatMap(({ typesOnly, from }) =>
    typesOnly ? [] : [from.startsWith('.') ? join(dirname(file), from) : from],
  );
}

/**
 * Folders whose files take longest, mostly waiting for servers. If they started late, one of them would run alone at
 * the end. If they started folder by folder, files that load the machine in the same way would run together.
 */
export const LONG_FOLDERS = ['test/e2e', 'test/stores/redis', 'test/loadtest/labs/peers'];

/**
 * Folders that run last. The fault matrix is first of them: it sends searches at a fixed rate, and beside short files
 * it is not late.
 */
export const LAST_FOLDERS = [
  'test/faults',
  'test/http',
  'test/config',
  'test/control',
  'test/operations/meter',
  'test/metrics',
  'test/resilience',
  'test/search',
  'test/operations/warm',
];

/** The files of the long folders in turn, then the others in their order, then those of the last folders. */
export function orderFiles(files: readonly string[]): string[] {
  const folderOf = (file: string): string | undefined =>
    [...LONG_FOLDERS, ...LAST_FOLDERS].find((folder) => file.startsWith(`${folder}/`));
  const groups = Map.groupBy(files, folderOf);
  const long = LONG_FOLDERS.map((folder) => groups.get(folder) ?? []);
  const rounds = Math.max(...long.map(({ length }) => length));
  const alternating = Array.from({ length: rounds }, (_, round) =>
    long.flatMap((group) => group.slice(round, round + 1)),
  );
  const last = LAST_FOLDERS.flatMap((folder) => groups.get(folder) ?? []);
  return [...alternating.flat(), ...(groups.get(undefined) ?? []), ...last];
}

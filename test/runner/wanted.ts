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

/** `npm test`: its own options, and those of node's runner that it passes on. */
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
/** In the line about a path without tests. */
const NAMED_IMPORTERS = 5;
const K6 = join('loadtest', 'run', 'k6-program.ts');

/** The run that the arguments of `npm test` ask for. */
export interface WantedRun {
  readonly kind: 'run';
  readonly scope: FinishedRun['scope'];
  readonly quick: boolean;
  /** Some tests of the files are left out by their names or by `only`. */
  readonly narrowed: boolean;
  /** Relative to the project, in alphabetical order. */
  readonly files: readonly string[];
  /** Some file may start a server or a browser. */
  readonly startsPrograms: boolean;
  readonly startsK6: boolean;
  /** Options of node's own runner, as `run` of node:test takes them. */
  readonly node: {
    readonly concurrency?: number;
    readonly only?: true;
    readonly testNamePatterns?: readonly string[];
    readonly testSkipPatterns?: readonly string[];
    readonly timeout?: number;
  };
}

/** @returns what to say instead, when the arguments ask for nothing that can be run. */
export function wantedRun(args: readonly string[], root: string): WantedRun | NotRun {
  const read = parseArguments(args, TEST_PROGRAM.options);
  if (read.kind !== 'arguments') return read;
  try {
    return wantedBy(read.arguments, root);
  } catch (error) {
    if (error instanceof UsageError) return { kind: 'wrong', faults: [error.message] };
    if (!(error instanceof SyntaxError)) throw error;
    return { kind: 'wrong', faults: [`a pattern of --test-name-pattern or --test-skip-pattern: ${error.message}`] };
  }
}

function wantedBy({ positionals, has, text, texts }: ParsedArguments, root: string): WantedRun {
  const named = (positionals.length === 0 ? ['test'] : positionals).flatMap((path) => testFilesOf(path, root));
  const reaches = importGraph(root);
  const [names, skips] = [texts('test-name-pattern'), texts('test-skip-pattern')];
  for (const pattern of [...names, ...skips]) parsePattern(pattern);
  const chosen = [...new Set(named)].sort();
  // `npm test -- test` names every file: the floor judges it as well.
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

/** As node reads it: `/one/i` is a regular expression. @throws SyntaxError */
function parsePattern(pattern: string): void {
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

/** The test files that import something of a folder, or a file, without tests of its own. */
function importersOf(path: string, root: string): string[] {
  const tests = sourceFiles(join(root, 'test')).map((file) => join('test', file));
  return tests.filter(
    (file) =>
      file.endsWith('.test.ts') &&
      modulesOf(file, root).some((module) => module === path || module.startsWith(path + sep)),
  );
}

/** @returns whether a file imports, directly or not, one of the modules. Types are no imports. */
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

/** The modules that a file imports: its own relative to the project, others by name. */
function modulesOf(file: string, root: string): string[] {
  if (!/\.m?[jt]s$/.test(file) || statSync(join(root, file), { throwIfNoEntry: false }) === undefined) return [];
  return importsOf(join(root, file)).flatMap(({ typesOnly, from }) =>
    typesOnly ? [] : [from.startsWith('.') ? join(dirname(file), from) : from],
  );
}

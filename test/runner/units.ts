/**
 * How the chosen test files are run: which of them share a process, in which order the processes start, and which
 * servers they need.
 */
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PARTS } from '../../loadtest/stack/parts.ts';
import { importsOf } from '../architecture/source.ts';

/** A module that imports one of these may start a program. */
const PROGRAM_STARTERS = ['node:child_process', 'node:cluster', 'playwright-core'];
const K6 = join('loadtest', 'runner', 'k6-program.ts');
/** With more files in one process, a run ends with one process that is still busy and an idle core. */
const MAX_FILES = 12;

/** Hooks of a whole file: in a shared process they would run for each test of every file. */
const HOOKS = /^(?:beforeEach|afterEach)\(/m;

/**
 * A file whose tests are all written in another module, such as a contract, has a process of its own: node tells where a
 * test is written, and not which file has registered it. So has a file with an optional suite, whose module names the
 * file by the process.
 */
const OWN_TEST = /\b(?:test|it)\(/;
const OPTIONAL = join('test', 'optional.ts');

/** The files that one process runs, in this order. */
export type Unit = readonly string[];

/** The needs of test files, by what they import. */
export interface Imports {
  readonly startsPrograms: (file: string) => boolean;
  readonly needsOwnProcess: (file: string) => boolean;
  readonly startsK6: (file: string) => boolean;
  /** The names of the parts of loadtest/stack/parts.ts that the files start. */
  readonly partsOf: (files: readonly string[]) => readonly string[];
}

/**
 * The units of the files. Starting Node and loading the modules costs a file more than most of its tests, so the files
 * of one room that start no program share a process. Files that start programs mostly wait for them: each has a process
 * of its own, and they come first, so that the others fill the cores beside them.
 */
export function unitsOf(files: readonly string[], needsOwnProcess: (file: string) => boolean): Unit[] {
  const rooms = Map.groupBy(
    files.filter((file) => !needsOwnProcess(file)),
    (file) => /^.*?test\/[^/]+(?=\/)/.exec(file)?.[0] ?? file,
  );
  const shared = [...rooms.values()].flatMap((room) => {
    const size = Math.ceil(room.length / Math.ceil(room.length / MAX_FILES));
    return Array.from({ length: Math.ceil(room.length / size) }, (_, unit) =>
      room.slice(unit * size, (unit + 1) * size),
    );
  });
  return [...files.filter(needsOwnProcess).map((file) => [file]), ...shared];
}

export function importsWithin(root: string): Imports {
  const imported = new Map<string, readonly string[]>();
  const reachedFrom = (file: string): ReadonlySet<string> => {
    const seen = new Set([file]);
    for (const from of seen) {
      const next = imported.get(from) ?? modulesOf(from, root);
      imported.set(from, next);
      for (const module of next) seen.add(module);
    }
    return seen;
  };
  const startsPrograms = (file: string): boolean => {
    const reached = reachedFrom(file);
    return PROGRAM_STARTERS.some((module) => reached.has(module));
  };
  return {
    startsPrograms,
    needsOwnProcess: (file) =>
      startsPrograms(file) ||
      reachedFrom(file).has(OPTIONAL) ||
      HOOKS.test(textOf(file, root)) ||
      !OWN_TEST.test(textOf(file, root)),
    startsK6: (file) => reachedFrom(file).has(K6),
    partsOf: (files) => {
      const needed = new Set(files.filter(startsPrograms).flatMap((file) => partsNamed(reachedFrom(file), root)));
      return PARTS.flatMap(({ name }) => (needed.has(name) ? [name] : []));
    },
  };
}

/**
 * The parts that these modules start. A module starts a part by its name or by that of one of its programs, and some parts
 * only through the module `startedBy`. Modules of src/ start none.
 */
function partsNamed(reached: ReadonlySet<string>, root: string): string[] {
  const texts = [...reached].filter((file) => !file.startsWith('src/')).map((file) => textOf(file, root));
  const isNamed = (word: string): boolean => texts.some((text) => new RegExp(`['/]${word}'`).test(text));
  return PARTS.filter(
    ({ name, programs, startedBy, byNameOnly }) =>
      !byNameOnly && (startedBy === undefined || reached.has(startedBy)) && [name, ...programs].some(isNamed),
  ).map(({ name }) => name);
}

/** The modules that a file imports: files by their path relative to the project, packages by name. Not types. */
function modulesOf(file: string, root: string): string[] {
  if (!/\.m?[jt]s$/.test(file) || statSync(join(root, file), { throwIfNoEntry: false }) === undefined) return [];
  return importsOf(join(root, file)).flatMap(({ typesOnly, from }) =>
    typesOnly ? [] : [from.startsWith('.') ? join(dirname(file), from) : from],
  );
}

function textOf(file: string, root: string): string {
  return statSync(join(root, file), { throwIfNoEntry: false })?.isFile() ? readFileSync(join(root, file), 'utf8') : '';
}

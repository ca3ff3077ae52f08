/** `npm run faults`: injects every fault of the matrix in turn, on real servers. */
import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { MANTICORE_NEEDS, manticoreFolder, type SearchServer, SPHINX } from '../../loadtest/stack/sphinx.ts';
import { EXIT, type ParsedArguments, type Program, runProgram, UsageError } from '../../src/commands/arguments.ts';
import { runMatrix } from './matrix.ts';
import { BY_NAME, FAMILIES, select } from './registry.ts';
import type { Row } from './row.ts';
import { checkEffectsWithoutFaults } from './run-row.ts';

const CHECKOUT = join(import.meta.dirname, '..', '..');
const MAX_REPEATS = 100;
const MAX_SEED = 999_999_999;

const PROGRAM: Program = {
  command: 'npm run faults --',
  usage: '[options]',
  about: ['Injects every fault of the matrix in turn, on real servers. Undecided: a row gave no result.'],
  options: [
    { name: 'only', takes: 'A,B', about: 'rows or families by name' },
    { name: 'list', about: 'list the rows' },
    { name: 'engine', takes: 'E', about: 'run the rows on sphinx or manticore; sphinx by default' },
    { name: 'repeat', takes: 'N', about: `how often the selection is run, 1 to ${MAX_REPEATS}; 1 by default` },
    { name: 'seed', takes: 'N', about: `seed of the request stream, 0 to ${MAX_SEED}; 1 by default` },
    { name: 'json', takes: 'FILE', about: 'write all measurements to this file' },
    { name: 'checkout', takes: 'DIRECTORY', about: 'test another checkout of serpcache' },
    { name: 'no-fault', about: 'inject nothing: no row may find evidence of its fault' },
  ],
  takes: { min: 0, max: 0 },
};

// `exit` ends the servers that this process started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(EXIT.notDone));

process.exitCode = await runProgram(PROGRAM, async (args) => {
  const repeat = args.number('repeat', { least: 1, most: MAX_REPEATS, whole: true }) ?? 1;
  const seed = args.number('seed', { least: 0, most: MAX_SEED, whole: true }) ?? 1;
  const checkout = checkoutOf(args);
  const jsonFile = jsonFileOf(args);
  const rows = selectionOf(args);
  const server = serverOf(args);
  if (args.has('list')) return list();
  if (!args.has('no-fault')) {
    const options = { checkout, repeat, seed, jsonFile, server, print: console.log };
    return runMatrix(rows, options);
  }
  const asExpected = await checkEffectsWithoutFaults(rows, { checkout, server, print: console.log });
  return asExpected ? EXIT.passed : EXIT.failed;
});

function list(): number {
  const groups = { ...FAMILIES, 'by name only, not meant to be green': BY_NAME };
  for (const [title, each] of Object.entries(groups)) {
    console.log(title);
    for (const { name, summary } of each) console.log(`  ${name.padEnd(22)} ${summary}`);
  }
  return EXIT.passed;
}

function checkoutOf({ text }: ParsedArguments): string {
  const checkout = text('checkout') ?? CHECKOUT;
  if (existsSync(join(checkout, 'src', 'main.ts'))) return resolve(checkout);
  throw new UsageError(`--checkout takes the folder of a serpcache, with src/main.ts in it, not "${checkout}"`);
}

/** Opens the file for writing, because permissions alone do not tell. The content of an existing file stays. */
function jsonFileOf({ text }: ParsedArguments): string | undefined {
  const file = text('json');
  if (file === undefined) return undefined;
  try {
    const isNew = !existsSync(file);
    closeSync(openSync(file, 'a'));
    if (isNew) rmSync(file);
    return resolve(file);
  } catch (error) {
    throw new UsageError(`--json takes a file that can be written, not "${file}": ${messageOf(error)}`);
  }
}

function selectionOf({ text }: ParsedArguments): readonly Row[] {
  const only = text('only');
  const names = (only ?? '').split(',').filter((name) => name !== '');
  if (only !== undefined && names.length === 0) {
    throw new UsageError('--only takes names, separated by commas; see --list');
  }
  try {
    return select(names);
  } catch (error) {
    throw new UsageError(`--only: ${messageOf(error)}`);
  }
}

function serverOf({ text }: ParsedArguments): SearchServer {
  const engine = text('engine') ?? 'sphinx';
  if (engine === 'sphinx') return SPHINX;
  if (engine !== 'manticore') throw new UsageError(`--engine takes sphinx or manticore, not "${engine}"`);
  try {
    const folder = manticoreFolder();
    if (folder !== undefined) return { dialect: 'manticore', folder };
  } catch (error) {
    throw new UsageError(`--engine manticore: ${messageOf(error)}`);
  }
  throw new UsageError(`--engine manticore: ${MANTICORE_NEEDS}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

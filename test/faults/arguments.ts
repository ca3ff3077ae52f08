import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { MANTICORE_NEEDS, manticoreFolder, type SearchServer } from '../../loadtest/stack/sphinx.ts';
import { type ParsedArguments, type Program, parseArguments } from '../../src/commands/arguments.ts';
import { type Selection, select } from './registry.ts';

type Arguments =
  | { readonly kind: 'run'; readonly selection: Selection; readonly options: RunOptions }
  | { readonly kind: 'list' }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  /** Reads the evidence of each row without injecting its fault. */
  | ({ readonly kind: 'no fault'; readonly rows: Selection['rows'] } & Pick<RunOptions, 'checkout' | 'server'>)
  /** Each entry names the option and the values it takes. */
  | { readonly kind: 'wrong'; readonly faults: readonly string[] };

export interface RunOptions {
  readonly checkout: string;
  readonly repeat: number;
  readonly seed: number;
  readonly jsonFile?: string;
  /** Default: Sphinx. */
  readonly server?: SearchServer;
}

const CHECKOUT = join(import.meta.dirname, '..', '..');
const MAX_REPEATS = 100;
const MAX_SEED = 999_999_999;

export const FAULTS: Omit<Program, 'takes'> = {
  command: 'npm run faults --',
  usage: '[options]',
  about: ['Injects every fault of the matrix in turn, on real servers. Undecided: a row or figure gave no result.'],
  options: [
    { name: 'only', takes: 'A,B', about: 'rows, families or figures by name' },
    { name: 'list', about: 'list rows and figures' },
    { name: 'engine', takes: 'E', about: 'run the rows on sphinx or manticore; sphinx by default' },
    { name: 'repeat', takes: 'N', about: `how often the selection is run, 1 to ${MAX_REPEATS}; 1 by default` },
    { name: 'seed', takes: 'N', about: `seed of the request stream, 0 to ${MAX_SEED}; 1 by default` },
    { name: 'json', takes: 'FILE', about: 'write all measurements to this file' },
    { name: 'checkout', takes: 'DIRECTORY', about: 'test another checkout of serpcache' },
    { name: 'no-fault', about: 'inject nothing: no row may find evidence of its fault' },
  ],
};

/** Finds every wrong argument before a server is started. */
export function readArguments(argv: readonly string[]): Arguments {
  const read = parseArguments(argv, FAULTS.options);
  if (read.kind === 'help' || read.kind === 'version') return read;
  const parsed = read.kind === 'arguments' ? read.arguments : read.rest;
  const faults: string[] = read.kind === 'arguments' ? [] : [...read.faults];
  const checkout = parsed.text('checkout') ?? CHECKOUT;
  const json = parsed.text('json');
  const check = (fault: string | undefined): void => {
    if (fault !== undefined) faults.push(fault);
  };
  const repeat = whole(parsed, 'repeat', { least: 1, most: MAX_REPEATS }, check);
  const seed = whole(parsed, 'seed', { least: 0, most: MAX_SEED }, check);
  for (const word of parsed.positionals) check(`"${word}" is no option; a row is named by --only ${word}`);
  check(checkoutFault(checkout));
  check(json === undefined ? undefined : jsonFault(json));
  const selection = selectionOf(parsed.text('only'));
  if (typeof selection === 'string') faults.push(selection);
  const server = serverOf(parsed.text('engine'), selection);
  if (typeof server === 'string') faults.push(server);
  if (typeof selection === 'string' || typeof server === 'string' || faults.length > 0)
    return { kind: 'wrong', faults };
  if (parsed.has('list')) return { kind: 'list' };
  const subject = { checkout: resolve(checkout), ...(server === undefined ? {} : { server }) };
  if (parsed.has('no-fault')) return { kind: 'no fault', rows: selection.rows, ...subject };
  const options = {
    ...subject,
    repeat,
    seed,
    ...(json === undefined ? {} : { jsonFile: resolve(json) }),
  };
  return { kind: 'run', selection, options };
}

function whole(
  parsed: ParsedArguments,
  option: string,
  range: { readonly least: number; readonly most: number },
  report: (fault: string) => void,
): number {
  try {
    return parsed.number(option, { ...range, whole: true }) ?? 1;
  } catch (error) {
    report(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

function checkoutFault(checkout: string): string | undefined {
  if (existsSync(join(checkout, 'src', 'main.ts'))) return undefined;
  return `--checkout takes the folder of a serpcache, with src/main.ts in it, not "${checkout}"`;
}

/** Opens the file for writing, because permissions alone do not tell. The content of an existing file stays. */
function jsonFault(file: string): string | undefined {
  try {
    const isNew = !existsSync(file);
    closeSync(openSync(file, 'a'));
    if (isNew) rmSync(file);
    return undefined;
  } catch (error) {
    return `--json takes a file that can be written, not "${file}": ${error instanceof Error ? error.message : error}`;
  }
}

function selectionOf(only: string | undefined): Selection | string {
  const names = (only ?? '').split(',').filter((name) => name !== '');
  if (only !== undefined && names.length === 0) return '--only takes names, separated by commas; see --list';
  try {
    return select(names);
  } catch (error) {
    return `--only: ${error instanceof Error ? error.message : error}`;
  }
}

function serverOf(engine: string | undefined, selection: Selection | string): SearchServer | string | undefined {
  if (engine === undefined || engine === 'sphinx') return undefined;
  if (engine !== 'manticore') return `--engine takes sphinx or manticore, not "${engine}"`;
  if (typeof selection !== 'string' && selection.figures.length > 0)
    return '--engine manticore takes rows, not figures';
  try {
    const folder = manticoreFolder();
    return folder === undefined ? `--engine manticore: ${MANTICORE_NEEDS}` : { dialect: 'manticore', folder };
  } catch (error) {
    return `--engine manticore: ${error instanceof Error ? error.message : error}`;
  }
}

import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { MANTICORE_NEEDS, manticoreFolder, type SearchServer } from '../../loadtest/stack/sphinx.ts';
import { type Selection, select } from './registry.ts';

export type Arguments =
  | { readonly kind: 'run'; readonly selection: Selection; readonly options: RunOptions }
  | { readonly kind: 'list' }
  /** The evidence of each row, without its fault. */
  | ({ readonly kind: 'no fault'; readonly rows: Selection['rows'] } & Pick<RunOptions, 'checkout' | 'server'>)
  /** Each fault names the option and what it takes. */
  | { readonly kind: 'wrong'; readonly faults: readonly string[] };

export interface RunOptions {
  readonly checkout: string;
  readonly repeat: number;
  readonly seed: number;
  readonly jsonFile?: string;
  /** Sphinx when absent. */
  readonly server?: SearchServer;
}

export const USAGE = `npm run faults: every fault of the matrix in turn, on real servers
  --only a,b      rows, families or figures by name     --list    what there is
  --repeat n      the whole selection n times (1-100)   --seed n  of the stream (0-999999999)
  --json file     everything measured                   --checkout dir   test another checkout of serpcache
  --engine e      the rows on sphinx or manticore       --no-fault inject nothing: no row may find evidence of its fault
exit status: 0 every promise kept, 1 a promise broken, 2 undecided (a row or figure said nothing), 3 could not be done,
64 wrong arguments`;

const CHECKOUT = join(import.meta.dirname, '..', '..');
const MOST_REPEATS = 100;
const MOST_SEED = 999_999_999;

/** Everything that can be found wrong before a server is started is found here. */
export function readArguments(words: readonly string[]): Arguments {
  const faults: string[] = [];
  const given = parse(words);
  if (typeof given === 'string') return { kind: 'wrong', faults: [given] };
  const check = (fault: string | undefined): void => {
    if (fault !== undefined) faults.push(fault);
  };
  check(wholeFault('--repeat', given.repeat, 1, MOST_REPEATS));
  check(wholeFault('--seed', given.seed, 0, MOST_SEED));
  check(checkoutFault(given.checkout));
  check(given.json === undefined ? undefined : jsonFault(given.json));
  const selection = selectionOf(given.only);
  if (typeof selection === 'string') faults.push(selection);
  const server = serverOf(given.engine, selection);
  if (typeof server === 'string') faults.push(server);
  if (typeof selection === 'string' || typeof server === 'string' || faults.length > 0)
    return { kind: 'wrong', faults };
  if (given.list) return { kind: 'list' };
  const subject = { checkout: resolve(given.checkout), ...(server === undefined ? {} : { server }) };
  if (given['no-fault']) return { kind: 'no fault', rows: selection.rows, ...subject };
  const options = {
    ...subject,
    repeat: Number(given.repeat),
    seed: Number(given.seed),
    ...(given.json === undefined ? {} : { jsonFile: resolve(given.json) }),
  };
  return { kind: 'run', selection, options };
}

function parse(words: readonly string[]) {
  try {
    return parseArgs({
      args: withNegatives(words),
      options: {
        only: { type: 'string' },
        repeat: { type: 'string', default: '1' },
        seed: { type: 'string', default: '1' },
        json: { type: 'string' },
        checkout: { type: 'string', default: CHECKOUT },
        engine: { type: 'string' },
        list: { type: 'boolean', default: false },
        'no-fault': { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    return `${line}; allowed: --only, --repeat, --seed, --json, --checkout, --engine, --list, --no-fault`;
  }
}

/** `--repeat -1` as `--repeat=-1`: parseArgs takes the number for another option, and says nothing of what is allowed. */
function withNegatives(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of words) {
    const last = joined.at(-1);
    if (last !== undefined && /^--(?:repeat|seed)$/.test(last) && /^-\d/.test(word))
      joined.push(`${joined.pop()}=${word}`);
    else joined.push(word);
  }
  return joined;
}

function wholeFault(option: string, text: string, least: number, most: number): string | undefined {
  if (/^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most) return undefined;
  return `${option} takes a whole number from ${least} to ${most}, not "${text}"`;
}

function checkoutFault(checkout: string): string | undefined {
  if (existsSync(join(checkout, 'src', 'main.ts'))) return undefined;
  return `--checkout takes the folder of a serpcache, with src/main.ts in it, not "${checkout}"`;
}

/** Tried out, because rights alone do not tell; what the file holds stays as it is. */
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

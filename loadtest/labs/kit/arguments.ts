import { type NotRun, type Option, type Program, parseArguments } from '../../../src/commands/arguments.ts';
import { isProgram } from '../../stack/go-program.ts';
import type { Experiment } from './lab.ts';

export interface LabArguments {
  /** In the order of the registry. */
  readonly names: readonly string[];
  readonly rowSeconds?: number;
  readonly servers: readonly string[];
  readonly isPublished: boolean;
  readonly out: string;
}

type ReadArguments = { readonly kind: 'run'; readonly arguments: LabArguments } | NotRun;

const ALL = 'all';

/** @param known names of all experiments; a single one need not be named. @param comparing names of those that take `--server`. */
export async function readArguments(
  argv: readonly string[],
  known: readonly string[],
  comparing: readonly string[],
): Promise<ReadArguments> {
  if (argv.length === 0 && known.length > 1) return { kind: 'help' };
  const read = parseArguments(argv, OPTIONS);
  if (read.kind === 'help' || read.kind === 'version') return read;
  const { positionals, text: given, has } = read.kind === 'arguments' ? read.arguments : read.rest;
  const faults = read.kind === 'arguments' ? [] : [...read.faults];

  const wanted = positionals.length === 0 && known.length === 1 ? known : positionals;
  const there = `${known.join(', ')}, or ${ALL}`;
  if (wanted.length === 0) faults.push(`which? There are ${there}`);
  for (const name of wanted) {
    if (name !== ALL && !known.includes(name)) faults.push(`there is no "${name}"; there are ${there}`);
  }
  const rowSeconds = secondsOf(given('seconds'), faults);
  if (rowSeconds !== undefined && has('publish'))
    faults.push('--publish goes without --seconds: a page shows rows measured as long as they should be');
  const servers = given('server')?.split(',') ?? [];
  const chosen = wanted.includes(ALL) ? known : known.filter((name) => wanted.includes(name));
  if (servers.length > 0 && chosen.length > 0 && !chosen.some((name) => comparing.includes(name))) {
    faults.push(
      `--server: nothing here compares servers${comparing.length === 0 ? '' : ` but ${comparing.join(', ')}`}`,
    );
  }
  for (const path of servers) {
    if (!(path.includes('/') && (await isProgram(path))))
      faults.push(`--server: "${path}" is not allowed; the path of a program is, such as /opt/bin/keydb-server`);
  }
  if (faults.length > 0) return { kind: 'wrong', faults };
  return {
    kind: 'run',
    arguments: {
      names: chosen,
      servers,
      isPublished: has('publish'),
      out: given('out') ?? 'loadtest/results',
      rowSeconds,
    },
  };
}

function secondsOf(text: string | undefined, faults: string[]): number | undefined {
  if (text === undefined) return undefined;
  // Number() alone would also accept 0x1 and 1e1.
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= SECONDS.least && value <= SECONDS.most) return value;
  faults.push(`--seconds: "${text}" is not allowed; a number from ${SECONDS.least} to ${SECONDS.most} is`);
  return undefined;
}

const SECONDS = { least: 0.1, most: 60 } as const;

const OPTIONS: readonly Option[] = [
  {
    name: 'seconds',
    takes: 'n',
    about: `duration of each row in seconds, ${SECONDS.least} to ${SECONDS.most}; default: its own`,
  },
  { name: 'server', takes: 'path,…', about: 'further Redis-protocol servers to compare' },
  { name: 'out', takes: 'folder', about: 'where tables and plots are kept (loadtest/results)' },
  { name: 'publish', about: 'show the results on the page that stands beside the code' },
];

export interface Described {
  /** The npm script: `experiments`. */
  readonly program: string;
  readonly about: string;
  readonly experiments: Readonly<Record<string, Experiment>>;
  /** Names of the experiments that take `--server`. */
  readonly comparing: readonly string[];
}

/** The help of a command. */
export function described({ program, about, experiments, comparing }: Described): Omit<Program, 'takes'> {
  const names = Object.entries(experiments).map(([name, { varies }]) => [name, varies] as const);
  return {
    command: `npm run ${program} --`,
    usage: '<name…|all> [options]',
    about: [about, '', ...columns(names)],
    options: OPTIONS.filter(({ name }) => name !== 'server' || comparing.length > 0),
  };
}

/** Two columns for a help text. */
export function columns(rows: readonly (readonly [left: string, right: string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}

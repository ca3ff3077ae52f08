import { type ParsedArguments, parseArguments } from '../../src/commands/arguments.ts';
import { readTarget } from '../k6/kit/environment.ts';
import { MAX_REPLICAS } from '../stack/plan.ts';
import { type NumberName, OPTIONS, RANGES, STACKS } from './options.ts';
import { SCRIPTS } from './scripts.ts';

export interface RunOptions {
  readonly script: string;
  readonly stack: (typeof STACKS)[number];
  /** Empty with the local stack, which has its own. */
  readonly baseUrls: readonly string[];
  readonly adminUrls: readonly string[];
  /** From the environment alone: an option could be read in the list of processes. */
  readonly adminToken?: string;
  readonly queries?: string;
  readonly numbers: Readonly<Partial<Record<NumberName, number>>>;
  readonly replicas: number;
  readonly against?: string;
  readonly k6?: string;
  readonly out: string;
  readonly keepStack: boolean;
  readonly pin: boolean;
  readonly isPublished: boolean;
}

export type Arguments =
  | { readonly kind: 'run'; readonly options: RunOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  /** Every one of them; each names the option and what is allowed. */
  | { readonly kind: 'wrong'; readonly faults: readonly string[] };

type Env = Readonly<Record<string, string | undefined>>;

export function readArguments(argv: readonly string[], env: Env): Arguments {
  if (argv.length === 0) return { kind: 'help' };
  const read = parseArguments(argv, OPTIONS);
  if (read.kind === 'help' || read.kind === 'version') return read;
  // With faults, what is left to check may be checked all the same: all are told at once.
  const words = read.kind === 'arguments' ? read.arguments : read.rest;
  const faults = read.kind === 'arguments' ? [] : [...read.faults];
  const { positionals } = words;
  const given = (name: string): string | undefined => {
    const value = words.text(name);
    if (value !== undefined) return value;
    const variable = OPTIONS.find((one) => one.name === name)?.variable;
    // A variable that is set to nothing is how shells take one away.
    return variable === undefined ? undefined : env[variable] || undefined;
  };

  const [script = '', ...more] = positionals;
  const entry = Object.hasOwn(SCRIPTS, script) ? SCRIPTS[script] : undefined;
  if (entry === undefined) faults.push(unknownScript(script));
  if (more.length > 0) faults.push(`one script at a time: ${more.join(' ')} is too much`);

  const asked = given('stack') ?? (given('base-url') === undefined ? 'local' : 'none');
  const stack = STACKS.find((one) => one === asked);
  if (stack === undefined) faults.push(`--stack: "${asked}" is not allowed; ${STACKS.join(' and ')} are`);
  const numbers = Object.fromEntries(
    (Object.keys(RANGES) as NumberName[]).flatMap((name) => numberOf(name, given(name), faults)),
  );
  const replicas = replicasOf(given('replicas'), entry?.replicas ?? 1, faults);
  const target = stack === 'none' ? targetOf(given, env, entry?.operates === true, faults) : localTarget(words, faults);
  const queries = given('queries');
  if (stack === 'none') {
    if (queries === undefined) faults.push('--queries (or QUERIES) is missing: nobody knows what is searched there');
    if (entry?.base === 'measured' && given('base-rps') === undefined) {
      faults.push('--base-rps (or BASE_RPS) is missing: x1 is only measured on the local stack');
    }
    for (const name of ['replicas', 'keep-stack', 'pin', 'publish']) {
      if (words.has(name)) faults.push(`--${name} goes with --stack local`);
    }
  }
  if (faults.length > 0 || stack === undefined) return { kind: 'wrong', faults };
  const [against, k6, token] = [given('against'), given('k6'), env['ADMIN_TOKEN'] || undefined];
  return {
    kind: 'run',
    options: {
      script,
      stack,
      ...target,
      ...(token === undefined ? {} : { adminToken: token }),
      ...(queries === undefined ? {} : { queries }),
      numbers,
      replicas,
      ...(against === undefined ? {} : { against }),
      ...(k6 === undefined ? {} : { k6 }),
      out: given('out') ?? 'loadtest/results',
      keepStack: words.has('keep-stack'),
      pin: words.has('pin'),
      isPublished: words.has('publish'),
    },
  };
}

function unknownScript(script: string): string {
  const known = Object.keys(SCRIPTS).join(', ');
  return script === '' ? `which script? There are ${known}` : `there is no script "${script}"; there are ${known}`;
}

function numberOf(name: NumberName, text: string | undefined, faults: string[]): [NumberName, number][] {
  if (text === undefined) return [];
  const range: { variable: string; least: number; most: number; whole?: true } = RANGES[name];
  const { variable, least, most, whole = false } = range;
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (value >= least && value <= most && (!whole || Number.isInteger(value))) return [[name, value]];
  const kind = whole ? 'a whole number' : 'a number';
  faults.push(`--${name} (or ${variable}): "${text}" is not allowed; ${kind} from ${least} to ${most} is`);
  return [];
}

function replicasOf(text: string | undefined, otherwise: number, faults: string[]): number {
  if (text === undefined) return otherwise;
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= MAX_REPLICAS) return count;
  faults.push(`--replicas: "${text}" is not allowed; a whole number from 1 to ${MAX_REPLICAS} is`);
  return otherwise;
}

type Addresses = Pick<RunOptions, 'baseUrls' | 'adminUrls'>;

function targetOf(
  given: (name: string) => string | undefined,
  env: Env,
  operates: boolean,
  faults: string[],
): Addresses {
  try {
    const said = { BASE_URL: given('base-url'), ADMIN_URL: given('admin-url'), ADMIN_TOKEN: env['ADMIN_TOKEN'] };
    const { baseUrls, adminUrls } = readTarget(said, operates);
    return { baseUrls, adminUrls };
  } catch (error) {
    const lines = error instanceof Error ? error.message.split('\n') : [String(error)];
    const named = (line: string): string =>
      line.replace(/^BASE_URL/, '--base-url (or BASE_URL)').replace(/^ADMIN_URL/, '--admin-url (or ADMIN_URL)');
    faults.push(...lines.map(named));
    return { baseUrls: [], adminUrls: [] };
  }
}

/** Variables may be there for other runs; an option was meant for this one. */
function localTarget(words: ParsedArguments, faults: string[]): Addresses {
  for (const name of ['base-url', 'admin-url']) {
    if (words.has(name)) faults.push(`--${name} goes with --stack none: the local stack has its own`);
  }
  return { baseUrls: [], adminUrls: [] };
}

import { type NotRun, type Option, type Program, parseArguments, quoted } from '../../src/commands/arguments.ts';
import { readTarget } from '../k6/kit/environment.ts';
import { columns } from '../labs/kit/print.ts';
import { MAX_REPLICAS } from '../stack/plan.ts';

export interface RunOptions {
  readonly script: string;
  readonly stack: (typeof STACKS)[number];
  /** Empty with the local stack, which has its own. */
  readonly baseUrls: readonly string[];
  readonly adminUrls: readonly string[];
  /** Only from the environment: an option would be visible in the list of processes. */
  readonly adminToken?: string;
  readonly queries?: string;
  readonly numbers: Readonly<Partial<Record<NumberName, number>>>;
  readonly replicas: number;
  readonly against?: string;
  readonly k6?: string;
  /** The address of a Prometheus that receives the figures of k6. */
  readonly prometheus?: string;
  readonly out: string;
  readonly keepStack: boolean;
  readonly pin: boolean;
  readonly isPublished: boolean;
}

export type Arguments = { readonly kind: 'run'; readonly options: RunOptions } | NotRun;

type Env = Readonly<Record<string, string | undefined>>;

export function readArguments(argv: readonly string[], env: Env): Arguments {
  if (argv.length === 0) return { kind: 'help' };
  const read = parseArguments(argv, OPTIONS);
  if (read.kind === 'help' || read.kind === 'version') return read;
  // The rest is checked after a fault too, so that all faults are reported at once.
  const words = read.kind === 'arguments' ? read.arguments : read.rest;
  const faults = read.kind === 'arguments' ? [] : [...read.faults];
  const { positionals } = words;
  const given = (name: string): string | undefined => {
    const value = words.text(name);
    if (value !== undefined) return value;
    const variable = OPTIONS.find((one) => one.name === name)?.variable;
    // An empty variable counts as absent.
    return variable === undefined ? undefined : env[variable] || undefined;
  };

  const [script = '', ...more] = positionals;
  const entry = Object.hasOwn(SCRIPTS, script) ? SCRIPTS[script] : undefined;
  if (entry === undefined) {
    const known = Object.keys(SCRIPTS).join(', ');
    faults.push(
      script === '' ? `which script? There are ${known}` : `there is no script "${script}"; there are ${known}`,
    );
  }
  if (more.length > 0) faults.push(`one script at a time: ${more.join(' ')} is too much`);

  const asked = given('stack') ?? (given('base-url') === undefined ? 'local' : 'none');
  const stack = STACKS.find((one) => one === asked);
  if (stack === undefined) faults.push(`--stack: "${asked}" is not allowed; ${STACKS.join(' and ')} are`);
  const numbers = Object.fromEntries(
    (Object.keys(RANGES) as NumberName[]).flatMap((name) => {
      const value = numberOf(name, given(name), RANGES[name], faults);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
  const replicas = numberOf('replicas', given('replicas'), { least: 1, most: MAX_REPLICAS, whole: true }, faults) ?? 1;
  const target = stack === 'none' ? targetOf(given, env, entry?.operates === true, faults) : NO_ADDRESSES;
  // Variables are ignored, because they may be set for other runs; an option is a mistake.
  for (const name of stack === 'none' ? [] : ['base-url', 'admin-url']) {
    if (words.has(name)) faults.push(`--${name} goes with --stack none: the local stack has its own`);
  }
  const queries = given('queries');
  const prometheus = given('prometheus');
  if (prometheus !== undefined && !isPlainAddress(prometheus)) {
    faults.push(`--prometheus: "${prometheus}" is not allowed; an address such as http://127.0.0.1:9090 is`);
  }
  if (stack === 'none') {
    if (queries === undefined)
      faults.push('--queries (or QUERIES) is missing: the searches of this service are not known');
    if (entry?.base === 'measured' && given('base-rps') === undefined) {
      faults.push('--base-rps (or BASE_RPS) is missing: x1 is only measured on the local stack');
    }
    for (const name of ['replicas', 'keep-stack', 'pin', 'publish']) {
      if (words.has(name)) faults.push(`--${name} goes with --stack local`);
    }
  }
  if (faults.length > 0 || stack === undefined) return { kind: 'wrong', faults };
  return {
    kind: 'run',
    options: {
      script,
      stack,
      ...target,
      adminToken: env['ADMIN_TOKEN'] || undefined,
      queries,
      against: given('against'),
      k6: given('k6'),
      prometheus,
      numbers,
      replicas,
      out: given('out') ?? 'loadtest/results',
      keepStack: words.has('keep-stack'),
      pin: words.has('pin'),
      isPublished: words.has('publish'),
    },
  };
}

/** Without a path, and without a name and password, which a report would show. */
function isPlainAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
}

interface NumberRange {
  readonly variable?: string;
  readonly least: number;
  readonly most: number;
  readonly whole?: true;
}

/** Undefined without a text, and after a fault. */
function numberOf(name: string, text: string | undefined, range: NumberRange, faults: string[]): number | undefined {
  if (text === undefined) return undefined;
  const { variable, least, most, whole = false } = range;
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (value >= least && value <= most && (!whole || Number.isInteger(value))) return value;
  const option = variable === undefined ? `--${name}` : `--${name} (or ${variable})`;
  faults.push(
    `${option}: "${text}" is not allowed; a ${whole ? 'whole number' : 'number'} from ${least} to ${most} is`,
  );
  return undefined;
}

type Addresses = Pick<RunOptions, 'baseUrls' | 'adminUrls'>;
const NO_ADDRESSES: Addresses = { baseUrls: [], adminUrls: [] };

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
    return NO_ADDRESSES;
  }
}

const STACKS = ['local', 'none'] as const;

/** Ranges of the numeric options. The scripts check them again. */
export const RANGES = {
  'base-rps': { variable: 'BASE_RPS', least: 0.1, most: 1_000_000 },
  exponent: { variable: 'EXPONENT', least: 0.1, most: 3 },
  offset: { variable: 'OFFSET', least: 0, most: 1000 },
  'once-share': { variable: 'ONCE_SHARE', least: 0, most: 1 },
  seed: { variable: 'SEED', least: 0, most: 2 ** 32 - 1, whole: true },
  'max-vus': { variable: 'MAX_VUS', least: 1, most: 20_000, whole: true },
  'step-seconds': { variable: 'STEP_SECONDS', least: 1, most: 86_400 },
  sample: { variable: 'SAMPLE', least: 0, most: 1 },
} as const;

export type NumberName = keyof typeof RANGES;

const OPTIONS: readonly Option[] = [
  { name: 'stack', takes: 'local|none', about: 'start the local stack, or none: the default once an address is named' },
  { name: 'base-url', takes: 'URL,…', variable: 'BASE_URL', about: 'where searches go, in turn; with --stack none' },
  { name: 'admin-url', takes: 'URL,…', variable: 'ADMIN_URL', about: 'admin address of every process' },
  { name: 'base-rps', takes: 'n', variable: 'BASE_RPS', about: 'x1, searches a second, instead of measuring it' },
  { name: 'queries', takes: 'FILE', variable: 'QUERIES', about: 'a search a line, the most frequent first' },
  { name: 'exponent', takes: 'n', variable: 'EXPONENT', about: 'of Zipf–Mandelbrot: how steep the head is' },
  { name: 'offset', takes: 'n', variable: 'OFFSET', about: 'of Zipf–Mandelbrot: how flat its first ranks are' },
  { name: 'once-share', takes: '0–1', variable: 'ONCE_SHARE', about: 'share of searches that are asked only once' },
  { name: 'seed', takes: 'n', variable: 'SEED', about: 'the same seed asks the same searches' },
  { name: 'max-vus', takes: 'n', variable: 'MAX_VUS', about: 'virtual users of each step' },
  { name: 'step-seconds', takes: 'n', variable: 'STEP_SECONDS', about: 'how long each step holds' },
  { name: 'sample', takes: '0–1', variable: 'SAMPLE', about: 'share of the bodies that are looked at' },
  { name: 'replicas', takes: 'n', about: 'processes of serpcache in the local stack' },
  {
    name: 'against',
    takes: 'FOLDER|latest',
    about: 'compare with an earlier run; latest: the last one that was valid',
  },
  { name: 'k6', takes: 'FILE', variable: 'K6', about: 'a k6 program; else one in PATH, else it is built with Go' },
  { name: 'prometheus', takes: 'URL', about: 'a Prometheus with a remote-write receiver: it gets the figures of k6' },
  { name: 'out', takes: 'FOLDER', about: 'where results are kept: loadtest/results' },
  { name: 'keep-stack', about: 'leave the local stack running' },
  { name: 'publish', about: 'write tables, plots and record into loadtest/README.md; with --stack local' },
  { name: 'pin', about: 'keep k6 and serpcache on cores of their own' },
];

/** The properties of a script of loadtest/k6 that the runner needs before it runs. */
export interface ScriptEntry {
  readonly purpose: string;
  /** x1: searches a second, or an eighth of the rate that saturates one process, measured just before the run. */
  readonly base: 'measured' | number;
  /** Acts as an operator: needs an admin address and ADMIN_TOKEN. */
  readonly operates?: true;
  /** Variables of the local stack's file, for those that are not set. */
  readonly stackEnv: Readonly<Record<string, string>>;
}

/** An L1 that holds only the head, so that L2 is used: 5,000 searches with their pages are 30 MiB. */
const SMALL = { LOCAL_MEMORY: '12MiB' };
/** Entries that were warmed together expire together: during a run that would look like an effect of the load. */
const STEADY = { ...SMALL, LOCAL_TTL: '30m' };

const LOAD = { base: 'measured', stackEnv: STEADY } as const;

export const SCRIPTS: Readonly<Record<string, ScriptEntry>> = {
  smoke: { purpose: 'a few searches a second, every answer looked at', base: 20, stackEnv: {} },
  'x-load': { ...LOAD, purpose: 'x1 to x5 of the base rate: the last multiplier that holds' },
  overload: { ...LOAD, purpose: 'past saturation: where it gives, and whether it refuses honestly there' },
  'flush-survival': {
    ...LOAD,
    purpose: 'a staged flush of one domain: does the engine survive, and when is the cache back',
    operates: true,
  },
  'full-loss': { ...LOAD, purpose: 'everything of one domain flushed at once under steady load', operates: true },
  spike: { ...LOAD, purpose: 'x1, then x5 at once, then x1 again: what is left behind' },
  soak: { purpose: 'x2 for a long time: does latency or memory drift', base: 'measured', stackEnv: SMALL },
  reconnect: { ...LOAD, purpose: 'connections closed after every 70th, 5th and every request' },
  batch: { ...LOAD, purpose: 'the same searches a second in batches of 1 to 50' },
  'cold-start': {
    ...LOAD,
    purpose: 'everything flushed for good, then x1 at once: how long until it is warm',
    operates: true,
  },
};

export const LOADTEST: Omit<Program, 'takes'> = {
  command: 'npm run loadtest --',
  usage: '<script> [options]',
  about: [
    '',
    ...columns(Object.entries(SCRIPTS).map(([name, { purpose }]) => [name, purpose] as const)),
    '',
    'The variables in brackets say the same; ADMIN_TOKEN is only taken from there. Each run leaves a folder with',
    'report.html and run.json. A run that is invalid because of its generator is undecided.',
  ],
  options: OPTIONS,
};

/** The command that repeats the run, with the values of variables as options. It never contains the token. */
export function commandLine(options: RunOptions): string {
  const { script, stack, baseUrls, adminUrls, queries, numbers, replicas, against, k6, prometheus, keepStack, pin } =
    options;
  const isLocal = stack === 'local';
  const words: readonly (readonly [option: string, value: string | undefined])[] = [
    ['--stack', isLocal ? undefined : stack],
    ['--base-url', baseUrls.join(',') || undefined],
    ['--admin-url', adminUrls.join(',') || undefined],
    ['--queries', queries],
    ...Object.entries(numbers).map(([name, value]) => [`--${name}`, String(value)] as const),
    ['--replicas', isLocal && replicas > 1 ? String(replicas) : undefined],
    ['--against', against],
    ['--k6', k6],
    ['--prometheus', prometheus],
  ];
  const given = words.flatMap(([option, value]) => (value === undefined ? [] : [option, quoted(value)]));
  const switches = [...(keepStack ? ['--keep-stack'] : []), ...(isLocal && pin ? ['--pin'] : [])];
  return ['npm run loadtest --', script, ...given, ...switches].join(' ');
}

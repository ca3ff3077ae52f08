/** One option of the runner: parsing, faults and help all come from this table. */
export interface OptionEntry {
  readonly name: string;
  /** Stands in the help for its value; absent: a switch. */
  readonly value?: string;
  /** The variable that says the same; an option wins over it. */
  readonly variable?: string;
  readonly help: string;
}

export const STACKS = ['local', 'none'] as const;

/** Of numbers: where they may be, and whether only whole ones. The scripts check the same again. */
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

export const OPTIONS: readonly OptionEntry[] = [
  { name: 'stack', value: 'local|none', help: 'start the local stack, or none: the default once an address is named' },
  { name: 'base-url', value: 'URL,…', variable: 'BASE_URL', help: 'where searches go, in turn; with --stack none' },
  { name: 'admin-url', value: 'URL,…', variable: 'ADMIN_URL', help: 'admin address of every process' },
  { name: 'base-rps', value: 'n', variable: 'BASE_RPS', help: 'x1, searches a second, instead of measuring it' },
  { name: 'queries', value: 'FILE', variable: 'QUERIES', help: 'a search a line, the most frequent first' },
  { name: 'exponent', value: 'n', variable: 'EXPONENT', help: 'of Zipf–Mandelbrot: how steep the head is' },
  { name: 'offset', value: 'n', variable: 'OFFSET', help: 'of Zipf–Mandelbrot: how flat its first ranks are' },
  { name: 'once-share', value: '0–1', variable: 'ONCE_SHARE', help: 'share of searches nobody repeats' },
  { name: 'seed', value: 'n', variable: 'SEED', help: 'the same seed asks the same searches' },
  { name: 'max-vus', value: 'n', variable: 'MAX_VUS', help: 'virtual users of each step' },
  { name: 'step-seconds', value: 'n', variable: 'STEP_SECONDS', help: 'how long each step holds' },
  { name: 'sample', value: '0–1', variable: 'SAMPLE', help: 'share of the bodies that are looked at' },
  { name: 'replicas', value: 'n', help: 'processes of serpcache in the local stack' },
  { name: 'against', value: 'FOLDER|latest', help: 'compare with an earlier run; latest: the last one that was valid' },
  { name: 'k6', value: 'FILE', variable: 'K6', help: 'a k6 program; else one in PATH, else it is built with Go' },
  { name: 'out', value: 'FOLDER', help: 'where results are kept: loadtest/results' },
  { name: 'keep-stack', help: 'leave the local stack running' },
  { name: 'publish', help: 'write tables, plots and record into loadtest/README.md; with --stack local' },
  { name: 'pin', help: 'keep k6 and serpcache on cores of their own' },
  { name: 'help', help: 'this' },
];

import type { Option } from '../../src/commands/arguments.ts';

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

export const OPTIONS: readonly Option[] = [
  { name: 'stack', takes: 'local|none', about: 'start the local stack, or none: the default once an address is named' },
  { name: 'base-url', takes: 'URL,…', variable: 'BASE_URL', about: 'where searches go, in turn; with --stack none' },
  { name: 'admin-url', takes: 'URL,…', variable: 'ADMIN_URL', about: 'admin address of every process' },
  { name: 'base-rps', takes: 'n', variable: 'BASE_RPS', about: 'x1, searches a second, instead of measuring it' },
  { name: 'queries', takes: 'FILE', variable: 'QUERIES', about: 'a search a line, the most frequent first' },
  { name: 'exponent', takes: 'n', variable: 'EXPONENT', about: 'of Zipf–Mandelbrot: how steep the head is' },
  { name: 'offset', takes: 'n', variable: 'OFFSET', about: 'of Zipf–Mandelbrot: how flat its first ranks are' },
  { name: 'once-share', takes: '0–1', variable: 'ONCE_SHARE', about: 'share of searches nobody repeats' },
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
  { name: 'out', takes: 'FOLDER', about: 'where results are kept: loadtest/results' },
  { name: 'keep-stack', about: 'leave the local stack running' },
  { name: 'publish', about: 'write tables, plots and record into loadtest/README.md; with --stack local' },
  { name: 'pin', about: 'keep k6 and serpcache on cores of their own' },
];

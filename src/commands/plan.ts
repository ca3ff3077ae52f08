import {
  configuredInputs,
  DEFAULTS,
  INPUT_NAMES,
  INPUTS,
  type Input,
  type InputName,
  type Inputs,
  type InputUnit,
} from '../operations/capacity/inputs.ts';
import type { CapacityLimit } from '../operations/capacity/sheet.ts';
import { type CapacitySheet, capacitySheet, type SheetFigure } from '../operations/capacity/sheet.ts';
import {
  amountText,
  bytesText,
  countText,
  durationText,
  percentText,
  perSecondText,
  timesText,
} from '../report/format.ts';
import { formatSize, parseSize } from '../schema/units.ts';
import { durationOf, type Option, type ParsedArguments, UsageError } from './arguments.ts';
import { type Command, type CommandContext, domainNamed, NotPassed } from './command.ts';
import { createCommandOutput } from './operator-command.ts';
import { columns, indented } from './terminal.ts';

const VALUES: Readonly<Record<InputUnit, string>> = {
  'per-second': 'N',
  share: 'SHARE',
  bytes: 'SIZE',
  'bytes-per-second': 'SIZE',
  ms: 'TIME',
  count: 'N',
  number: 'N',
};

const OPTIONS: readonly Option[] = [
  ...INPUT_NAMES.map((name) => {
    const { option, unit, about } = INPUTS[name];
    return { name: option, takes: VALUES[unit], about };
  }),
  { name: 'domain', takes: 'NAME', about: 'the domain of the configuration; the first by default' },
  { name: 'explain', about: 'show the source of each formula' },
  { name: 'json', about: 'JSON on standard output; always so when it is not a terminal' },
];

/** The capacity sheet: resources, headroom and the loss of the cache that the engine survives. */
export const plan: Command = {
  name: 'plan',
  usage: '--rate N --hit-ratio SHARE --engine-capacity N --engine-latency TIME [options]',
  summary: 'the capacity sheet: processes, shards, memory, network, headroom, and what breaks first at a rate',
  options: OPTIONS,
  takes: { min: 0, max: 0 },
  details: [
    'Inputs that are not given come from the configuration, else from measurements of this project; each is shown with its',
    'source. It asks no service. src/operations/capacity/README.md shows its figures beside a measured stack.',
    'Exit status 0: every resource has its reserve at the rate, while one process is away. 1: one has not. 2: an input is missing.',
  ],
  run: async (args, context) => {
    const { inputs, domain } = inputsOf(args, context);
    const sheet = capacitySheet(inputs);
    const output = createCommandOutput(context, args.has('json'));
    output.result({ domain, ...sheet }, () => sheetText(sheet, domain, args.has('explain')));
    if (sheet.verdict === 'holds') return;
    throw new NotPassed(planVerdictText(sheet, domain), sheet.verdict === 'undecided' ? 'undecided' : 'failed');
  },
};

/** @throws UsageError that names every wrong option with what is allowed. */
function inputsOf(
  args: ParsedArguments,
  { settings }: Pick<CommandContext, 'settings'>,
): { readonly inputs: Inputs; readonly domain: string } {
  const given = givenInputs(args);
  const all = settings();
  const named = args.text('domain') ?? all.domains[0]?.name ?? '';
  const domain = domainNamed(named, all);
  return { inputs: { ...DEFAULTS, ...configuredInputs(domain, given.ttlMs?.value), ...given }, domain: domain.name };
}

function givenInputs(args: ParsedArguments): Inputs {
  const faults: string[] = [];
  const found = INPUT_NAMES.flatMap((name): readonly (readonly [InputName, Input])[] => {
    try {
      const value = inputValue(args, name);
      return value === undefined ? [] : [[name, { value, from: 'given', source: `--${INPUTS[name].option}` }]];
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      faults.push(error.message);
      return [];
    }
  });
  if (args.has('exponent') && args.has('hit-ratio'))
    faults.push('--exponent takes no --hit-ratio: the hit ratio follows from it');
  if (args.has('exponent') && !args.has('keys')) faults.push('--exponent needs --keys');
  if (faults.length > 0) throw new UsageError(faults.join('\n'));
  return Object.fromEntries(found);
}

/** @throws UsageError that names the option and the range. */
function inputValue(args: ParsedArguments, name: InputName): number | undefined {
  const { option, unit, least, most, whole } = INPUTS[name];
  if (unit === 'ms') return durationOf(args, option, { least, most, example: '20ms or 5m' });
  if (unit !== 'bytes' && unit !== 'bytes-per-second') return args.number(option, { least, most, whole });
  const text = args.text(option);
  const value = text === undefined ? undefined : parseSize(text);
  if (text === undefined || (value !== undefined && value >= least && value <= most)) return value;
  const range = `from ${formatSize(least)} to ${formatSize(most)}`;
  throw new UsageError(`--${option} takes a size such as 8KiB, ${range}, not "${text}"`);
}

type Unit = SheetFigure['unit'] | InputUnit;

const TEXTS: Readonly<Record<Unit, (value: number | undefined) => string>> = {
  'per-second': perSecondText,
  'bytes-per-second': (value) => `${bytesText(value)}/s`,
  share: percentText,
  bytes: bytesText,
  ms: durationText,
  times: timesText,
  number: amountText,
  cores: (value) => `${amountText(value)} cores`,
  // Expected values such as 1.3 permits are no whole numbers.
  count: (value) => (value !== undefined && value < 10 ? amountText(value) : countText(value)),
};

/** The verdict in one sentence, with the resource that is full first. */
function planVerdictText({ verdict, first, missing, limits, inputs }: CapacitySheet, domain: string): string {
  const rate = perSecondText(inputs.rate?.value);
  const verdicts: Readonly<Record<typeof verdict, string>> = {
    holds: ` holds at ${rate}; first to break: ${firstText(first)}`,
    breaks: ` breaks at ${rate}: ${namesOf(limits, isFull)}`,
    tight: ` has no reserve at ${rate}: ${namesOf(limits, isTight)}; first to break: ${firstText(first)}`,
    undecided: `: not decided without ${missing.map(({ option }) => option).join(' and ')}`,
  };
  return `${domain}${verdicts[verdict]}`;
}

const isFull = ({ used, capacity }: CapacityLimit): boolean => used > capacity;
const isTight = ({ used, capacity, planned }: CapacityLimit): boolean => used > capacity * planned;

/** The one that is full at the lowest rate first. */
function namesOf(limits: readonly CapacityLimit[], chosen: (limit: CapacityLimit) => boolean): string {
  return limits
    .filter(chosen)
    .toSorted((a, b) => (a.breaksAt ?? 0) - (b.breaksAt ?? 0))
    .map(({ name, breaksAt }) => (breaksAt === undefined ? name : `${name} (full at ${perSecondText(breaksAt)})`))
    .join(', ');
}

function firstText(first: CapacityLimit | undefined): string {
  return first === undefined ? 'nothing that follows the rate' : `${first.name}, at ${perSecondText(first.breaksAt)}`;
}

/** A sheet for a person. @param explains shows the source of each formula */
function sheetText(sheet: CapacitySheet, domain: string, explains: boolean): string {
  const { inputs, figures, limits, missing, remarks, advice } = sheet;
  return [
    planVerdictText(sheet, domain),
    ...section('inputs', inputRows(inputs, explains)),
    ...section('sheet', figureRows(figures, explains)),
    ...section('limits, while one process is away', limitRows(limits), LIMIT_COLUMNS),
    ...section('missing', cellsOf(missing.map(({ option, why }) => `${option}: ${why}`))),
    ...section('remarks', cellsOf(remarks)),
    ...section('to change', cellsOf(advice)),
  ].join('\n');
}

function section(title: string, rows: readonly (readonly string[])[], head?: readonly string[]): readonly string[] {
  return rows.length === 0 ? [] : ['', `${title}:`, indented(columns(rows, head))];
}

const cellsOf = (texts: readonly string[]): readonly (readonly string[])[] => texts.map((text) => [text]);
const LIMIT_COLUMNS = ['', 'used', 'of', 'share', 'planned', 'full at'];

function inputRows(inputs: CapacitySheet['inputs'], explains: boolean): readonly (readonly string[])[] {
  return INPUT_NAMES.flatMap((name: InputName) => {
    const input = inputs[name];
    if (input === undefined) return [];
    const { value, from, source } = input;
    const { option, unit, about } = INPUTS[name];
    const origin = from === 'given' ? from : `${from}: ${source}`;
    return [[option, TEXTS[unit](value), origin, ...(explains ? [about] : [])]];
  });
}

function figureRows(figures: CapacitySheet['figures'], explains: boolean): readonly (readonly string[])[] {
  return figures.flatMap(({ name, value, unit, formula, source }) => {
    const row = [name, TEXTS[unit](value), formula];
    return explains ? [row, ['', '', `  source: ${source}`]] : [row];
  });
}

function limitRows(limits: CapacitySheet['limits']): readonly (readonly string[])[] {
  return limits.map((limit) => {
    const { name, unit, used, capacity, planned, breaksAt } = limit;
    return [
      `${name}${isFull(limit) ? ' (breaks)' : isTight(limit) ? ' (no reserve)' : ''}`,
      TEXTS[unit](used),
      TEXTS[unit](capacity),
      percentText(used / capacity),
      percentText(planned),
      breaksAt === undefined ? 'not by the rate' : perSecondText(breaksAt),
    ];
  });
}

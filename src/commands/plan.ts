import {
  configuredInputs,
  DEFAULTS,
  INPUT_NAMES,
  INPUTS,
  type Input,
  type InputName,
  type Inputs,
} from '../operations/capacity/inputs.ts';
import { type CapacitySheet, capacitySheet } from '../operations/capacity/sheet.ts';
import { formatDuration, formatSize, parseDuration, parseSize } from '../schema/units.ts';
import { numberOf, type Option, type ParsedArguments, UsageError } from './arguments.ts';
import { type Command, type CommandContext, domainNamed, NotPassed } from './command.ts';
import { createCommandOutput } from './operator-command.ts';
import { planVerdictText, sheetText } from './plan-text.ts';

const VALUES: Readonly<Record<(typeof INPUTS)[InputName]['unit'], string>> = {
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
    judge(sheet, domain);
  },
};

/** @throws NotPassed when a resource breaks or has no reserve, or one cannot be judged. */
function judge(sheet: CapacitySheet, domain: string): void {
  const { verdict } = sheet;
  if (verdict !== 'holds')
    throw new NotPassed(planVerdictText(sheet, domain), verdict === 'undecided' ? 'undecided' : 'failed');
}

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
    const text = args.text(INPUTS[name].option);
    if (text === undefined) return [];
    try {
      return [[name, { value: inputValue(name, text), from: 'given', source: `--${INPUTS[name].option}` }]];
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

function inputValue(name: InputName, text: string): number {
  const { option, unit, least, most, whole } = INPUTS[name];
  if (unit !== 'bytes' && unit !== 'bytes-per-second' && unit !== 'ms') {
    return numberOf(`--${option}`, text, { least, most, whole });
  }
  const value = unit === 'ms' ? parseDuration(text) : parseSize(text);
  if (value !== undefined && value >= least && value <= most) return value;
  const [what, format] =
    unit === 'ms' ? ['a duration such as 20ms or 5m', formatDuration] : ['a size such as 8KiB', formatSize];
  throw new UsageError(`--${option} takes ${what}, from ${format(least)} to ${format(most)}, not "${text}"`);
}

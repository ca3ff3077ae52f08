/**
 * `node loadtest/labs/limits/cli.ts`: the permit with its limits against a model of an engine that runs eight queries at
 * the same time and queues the others itself. Time is virtual and random numbers are seeded, so every run gives the same
 * figures and loads nothing. Takes about a minute.
 */
import { join } from 'node:path';
import { EXIT, type ParsedArguments, type Program, runProgram } from '../../../src/commands/arguments.ts';
import { createAimdLimit, createFixedLimit, createGradientLimit } from '../../../src/resilience/adaptive-limit.ts';
import { seededRandom } from '../../random.ts';
import { verdictOf } from '../kit/claims.ts';
import type { Claim, FindingRecord, FindingTable } from '../kit/finding.ts';
import { originOf } from '../kit/machine.ts';
import { printFinding } from '../kit/print.ts';
import { publishFinding, recordText } from '../kit/publish.ts';
import { tableOf } from '../kit/table.ts';
import { type Contender, type Figures, figuresOf, meanOf, runOnce, type Scenario } from './run.ts';

const LOADS = [0.5, 1, 2, 5, 10];
const SEEDS = [1, 2];

const TOO_HIGH = 'fixed 64';
const LIMITS: Readonly<Record<string, Contender['limit']>> = {
  [TOO_HIGH]: createFixedLimit,
  'fixed 8': () => createFixedLimit({ ceiling: () => 8 }),
  aimd: (parts) => createAimdLimit({ ...parts, slowMs: parts.deadlineMs / 2 }),
  gradient: createGradientLimit,
};

const engine = {
  deadlineMs: 800,
  patienceMs: 2000,
  ceiling: 64,
  maxQueued: 512,
  atOnce: 8,
  seconds: 30,
  fromSeconds: 8,
};
const FAST = '10 ms';
const CASES: Readonly<Record<string, Omit<Scenario, 'load'>>> = {
  '200 ms': { ...engine, meanMs: 200, spread: 0.4, costly: 0 },
  '5 % cost ×10': { ...engine, meanMs: 200, spread: 0.4, costly: 0.05 },
  'long tail': { ...engine, meanMs: 200, spread: 0.9, costly: 0 },
  [FAST]: { ...engine, meanMs: 10, spread: 0.8, costly: 0, seconds: 12 },
};
const STEP = {
  ...engine,
  load: 2,
  spread: 0.4,
  costly: 0,
  seconds: 70,
  slow: { fromSeconds: 20, toSeconds: 30, factor: 10 },
};
const STEPS: Readonly<Record<string, Scenario>> = {
  '200 ms → 2 s → 200 ms': { ...STEP, meanMs: 200 },
  '20 ms → 200 ms → 20 ms': { ...STEP, meanMs: 20 },
};

type Measured = Awaited<ReturnType<typeof measure>>;

async function measure(
  name: string,
  scenario: Scenario,
  [limit, create]: readonly [string, Contender['limit']],
  shedding = true,
) {
  const figures = await Array.fromAsync(SEEDS, async (seed) =>
    figuresOf(await runOnce(scenario, { shedding, limit: create }, seededRandom(seed)), scenario),
  );
  return { case: name, limit, shedding, load: scenario.load, figures: meanOf(figures) };
}

/** NaN, the mean of no values, is undefined in a finding. */
const known = (value = Number.NaN): number | undefined => (Number.isNaN(value) ? undefined : value);

/** @returns the cases at all loads, and the steps. */
async function measureAll() {
  const [loaded, stepped]: [Measured[], Measured[]] = [[], []];
  for (const limit of Object.entries(LIMITS)) {
    for (const [name, scenario] of Object.entries(CASES))
      for (const shedding of [true, false])
        for (const load of LOADS) loaded.push(await measure(name, { ...scenario, load }, limit, shedding));
    for (const [name, scenario] of Object.entries(STEPS)) stepped.push(await measure(name, scenario, limit));
  }
  return { loaded, stepped };
}

function loadTable(name: string, measured: readonly Measured[]): FindingTable {
  const own = measured.filter((one) => one.case === name);
  const rows = Map.groupBy(own, ({ limit, shedding }) => `${limit}, ${shedding ? 'shedding' : 'plain queue'}`);
  type Rows = readonly [name: string, loads: readonly Measured[]];
  const at = (load: number, figure: keyof Figures) => {
    return ([, loads]: Rows) => known(loads.find((one) => one.load === load)?.figures[figure]);
  };
  return tableOf<Rows>({
    title: `Engine: ${name}`,
    rows: [...rows],
    name: ([row]) => row,
    columns: [
      ...LOADS.map((load) => [`good ÷ capacity at ${load} ×`, 'share', at(load, 'good')] as const),
      ...[1, 5].map((load) => [`p99 of good at ${load} ×`, 'ms', at(load, 'p99GoodMs')] as const),
      ...[2, 10].flatMap((load) => [
        [`p99 of shed at ${load} ×`, 'ms', at(load, 'p99ShedMs')] as const,
        ['longest', 'ms', at(load, 'longestShedMs')] as const,
      ]),
      ['mean limit at 5 ×', 'count', at(5, 'meanLimit')],
      ['found after', 'seconds', at(5, 'foundAfterSeconds')],
    ],
  });
}

function stepTable(measured: readonly Measured[]): FindingTable {
  const recovered = (limit: string, name: string) =>
    measured.find((one) => one.limit === limit && one.case === name)?.figures.recoveredAfterSeconds;
  return tableOf({
    title: 'Ten times slower for 10 s under 2 ×, with shedding: until good answers are back at 0.9 of before',
    rows: Object.keys(LIMITS).map((name) => ({ name })),
    name: ({ name }) => name,
    columns: Object.keys(STEPS).map(
      (step) => [step, 'seconds', ({ name }: { readonly name: string }) => known(recovered(name, step))] as const,
    ),
  });
}

const ADAPTIVE = ['gradient', 'aimd'];
/** Both defences are needed if together they give more than this multiple of either one. */
const MIN_FACTOR = 5;

/** Only a slow engine needs both defences: before a fast one a full queue is served within the deadline. */
function claimsOf(measured: readonly Measured[]): readonly Claim[] {
  const goods = (matches: (one: Measured) => boolean): readonly number[] =>
    measured.filter((one) => one.case !== FAST && one.load > 1 && matches(one)).map(({ figures }) => figures.good);
  const both = Math.min(...goods(({ limit, shedding }) => shedding && ADAPTIVE.includes(limit)));
  const plain = Math.max(...goods(({ shedding }) => !shedding));
  const tooHigh = Math.max(...goods(({ limit, shedding }) => shedding && limit === TOO_HIGH));
  const alone = Math.max(plain, tooHigh);
  return [
    { text: 'good ÷ capacity, adaptive limit with shedding: the lowest above 1 ×', figure: both, unit: 'share' },
    { text: 'good ÷ capacity, any limit with a plain queue: the highest', figure: plain, unit: 'share' },
    { text: `good ÷ capacity, shedding before a limit of ${TOO_HIGH}: the highest`, figure: tooHigh, unit: 'share' },
    { text: 'both together ÷ the better of one alone', figure: both / alone, unit: 'times', atLeast: MIN_FACTOR },
    ...ADAPTIVE.map((name): Claim => {
      const text = `p99 of good answers at 5 × of a fast engine (${FAST}), ${name} with shedding`;
      const own = measured.find((one) => one.case === FAST && one.load === 5 && one.shedding && one.limit === name);
      return { text, figure: known(own?.figures.p99GoodMs), unit: 'ms' };
    }),
  ];
}

const PROGRAM: Program = {
  command: 'node loadtest/labs/limits/cli.ts',
  usage: '[options]',
  about: [
    'Fixed, AIMD and gradient limits, with and without shedding, against a model engine in virtual time; a minute.',
  ],
  options: [
    { name: 'json', about: 'print the record instead of the tables' },
    { name: 'publish', about: 'write tables and record into loadtest/README.md' },
  ],
  takes: { min: 0, max: 0 },
};

process.exitCode = await runProgram(PROGRAM, compareLimits);

async function compareLimits(words: ParsedArguments): Promise<number> {
  const root = join(import.meta.dirname, '..', '..', '..');
  const origin = await originOf(root, ['node']);
  const startedMs = performance.now();
  const { loaded, stepped } = await measureAll();
  const claims = claimsOf(loaded);
  const record: FindingRecord = {
    version: 2,
    finding: {
      name: 'limits',
      title: 'Permits: a limit that adapts and a queue that sheds need each other',
      published: '',
      claims,
      verdict: verdictOf(claims),
      sentence:
        'An engine that is slower than its queue is long needs both: a limit that adapts, and a queue that sheds.',
      tables: [...Object.keys(CASES).map((name) => loadTable(name, loaded)), stepTable(stepped)],
      charts: [],
      notes: [
        `A model engine that does ${engine.atOnce} queries at once; deadline ${engine.deadlineMs} ms, patience ${engine.patienceMs} ms, ceiling ${engine.ceiling}; virtual time, ${SEEDS.length} seeds. The limits and the permit are the real ones.`,
        'Good: answered before the deadline, as a share of what the engine can do at best. A dash: there were none.',
        'Found after: from the start until the limit stayed for a second within 0.75–2 × what the engine does at once, at 5 ×.',
      ],
    },
    ...origin,
    tookSeconds: (performance.now() - startedMs) / 1000,
    command: 'node loadtest/labs/limits/cli.ts',
  };
  console.log(words.has('json') ? recordText(record) : printFinding(record));
  if (words.has('publish')) publishFinding(record, join(root, 'loadtest', 'README.md'));
  return EXIT.passed;
}

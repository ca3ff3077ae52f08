/**
 * `node loadtest/limits.ts [--json]`: the permit with its limits against a model of an engine that does eight queries at
 * once and keeps the others in a line of its own. Virtual time and seeded chance, so it repeats to the digit and puts no
 * load on anything. About a minute.
 */
import { parseArgs } from 'node:util';
import { createAimdLimit } from '../src/resilience/aimd-limit.ts';
import { createGradientLimit } from '../src/resilience/gradient-limit.ts';
import { createFixedLimit } from '../src/resilience/limit.ts';
import { seededRandom } from '../test/fakes/clock.ts';
import { type Figures, figuresOf, together } from './limits/figures.ts';
import { type Contender, runOnce, type Scenario } from './limits/run.ts';

const LOADS = [0.5, 1, 2, 5, 10];
const SEEDS = [1, 2];

const LIMITS: Readonly<Record<string, Contender['limit']>> = {
  'fixed 64': createFixedLimit,
  'fixed 8': () => createFixedLimit({ ceiling: () => 8 }),
  aimd: (parts) => createAimdLimit({ ...parts, slowMs: parts.deadlineMs / 2 }),
  gradient: createGradientLimit,
};

const engine = { deadlineMs: 800, ceiling: 64, maxQueued: 512, atOnce: 8, seconds: 30, fromSeconds: 8 };
const CASES: Readonly<
  Record<string, { readonly loads: readonly number[]; readonly scenario: Omit<Scenario, 'load'> }>
> = {
  '200 ms': { loads: LOADS, scenario: { ...engine, meanMs: 200, spread: 0.4, costly: 0 } },
  '5 % cost ×10': { loads: LOADS, scenario: { ...engine, meanMs: 200, spread: 0.4, costly: 0.05 } },
  'long tail': { loads: LOADS, scenario: { ...engine, meanMs: 200, spread: 0.9, costly: 0 } },
  '10 ms': { loads: LOADS, scenario: { ...engine, meanMs: 10, spread: 0.8, costly: 0, seconds: 12 } },
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

interface Row {
  readonly case: string;
  readonly limit: string;
  readonly shedding: boolean;
  readonly load: number;
  readonly figures: Figures;
}

async function measure(name: string, scenario: Scenario, limit: string, shedding: boolean): Promise<Row> {
  const contender = { shedding, limit: LIMITS[limit] ?? createFixedLimit };
  const figures: Figures[] = [];
  for (const seed of SEEDS) figures.push(figuresOf(await runOnce(scenario, contender, seededRandom(seed)), scenario));
  return { case: name, limit, shedding, load: scenario.load, figures: together(figures) };
}

const show = (value: number | undefined, digits = 0): string =>
  value === undefined || Number.isNaN(value) ? '–' : value.toFixed(digits);

function line(cells: readonly string[]): void {
  const widths = [24, 9, 10, 30, 16, 19, 8, 9];
  console.log(cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' '));
}

async function loads(): Promise<Row[]> {
  const rows: Row[] = [];
  const by = (few: readonly Row[], load: number): Figures | undefined => few.find((row) => row.load === load)?.figures;
  if (!values.json)
    line([
      'engine',
      'limit',
      'queue',
      `good ÷ capacity at ×${LOADS.join(' ×')}`,
      'p99 good ×1/×5',
      'shed p99/max ×2, ×10',
      'limit ×5',
      'found s',
    ]);
  for (const [name, { loads: each, scenario }] of Object.entries(CASES))
    for (const limit of Object.keys(LIMITS))
      for (const shedding of [true, false]) {
        const few: Row[] = [];
        for (const load of each) few.push(await measure(name, { ...scenario, load }, limit, shedding));
        rows.push(...few);
        if (values.json) continue;
        const [one, two, five, ten] = [by(few, 1), by(few, 2), by(few, 5), by(few, 10)];
        line([
          name,
          limit,
          shedding ? 'shedding' : 'plain',
          few.map(({ figures }) => show(figures.good, 2)).join('  '),
          `${show(one?.p99GoodMs)} / ${show(five?.p99GoodMs)}`,
          `${show(two?.p99ShedMs)}/${show(two?.longestShedMs)}, ${show(ten?.p99ShedMs)}/${show(ten?.longestShedMs)}`,
          show(five?.meanLimit, 1),
          show(five?.foundAfterSeconds, 1),
        ]);
      }
  return rows;
}

async function steps(): Promise<Row[]> {
  const rows: Row[] = [];
  if (!values.json)
    console.log(
      '\nTen times slower for 10 s under ×2, with shedding: seconds until good answers are back at 0.9 of before (–: there were none)',
    );
  for (const [name, scenario] of Object.entries(STEPS))
    for (const limit of Object.keys(LIMITS)) {
      const row = await measure(name, scenario, limit, true);
      rows.push(row);
      if (!values.json) line([name, limit, `${show(row.figures.recoveredAfterSeconds, 1)} s`]);
    }
  return rows;
}

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } });
const rows = [...(await loads()), ...(await steps())];
if (values.json) console.log(JSON.stringify(rows, undefined, 2));

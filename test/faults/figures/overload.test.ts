import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FigureResult, retryWhileLagging } from './figure.ts';
import { type EngineResult, type LimiterResult, resultOf as overload } from './overload.ts';

const NONE = Number.NaN;

const cell: LimiterResult = {
  engine: 'narrow',
  limiter: 'gradient',
  load: 2,
  offered: 80,
  good: 40,
  pageP99Ms: 500,
  shedP99Ms: 60,
  shedMaxMs: 70,
  maxMs: 600,
  maxConcurrent: 8,
  faults: [],
  pages: [],
  compared: 20,
  wrong: [],
  lagMs: 3,
};
const idleCell: LimiterResult = {
  ...cell,
  offered: 0,
  good: 0,
  pageP99Ms: NONE,
  shedP99Ms: NONE,
  shedMaxMs: NONE,
  maxMs: NONE,
  compared: 0,
  lagMs: NONE,
};
const part = (...cells: readonly LimiterResult[]): EngineResult => ({
  engine: 'narrow',
  saturation: cells.includes(idleCell) ? 0 : 40,
  cells,
});
const overloaded = (...cells: readonly LimiterResult[]): FigureResult => overload(part(...cells), part(), 'gradient');

const holds = ({ verdicts }: FigureResult): unknown[] => [...new Set(verdicts.map((verdict) => verdict.holds))];

test('with good samples every verdict holds, and without samples none is decided', () => {
  assert.deepEqual(holds(overloaded(cell)), [true]);
  for (const idle of [overloaded(idleCell), overloaded()]) assert.deepEqual(holds(idle), ['not measured']);
});

test('every load above the capacity needs refusals', () => {
  const { verdicts } = overloaded(cell, { ...cell, load: 5, shedP99Ms: NONE });
  assert.equal(verdicts.find(({ says }) => says.startsWith('p99 of refusals'))?.holds, 'not measured');
  const relaxed = overloaded({ ...cell, load: 1, shedP99Ms: NONE }, cell);
  assert.equal(relaxed.verdicts.find(({ says }) => says.startsWith('p99 of refusals'))?.holds, true);
});

test('a wrong answer breaks a verdict, even when only one answer was compared', () => {
  const broken = overloaded({ ...cell, compared: 1, wrong: ['стул'] });
  assert.equal(broken.verdicts.find(({ says }) => says.includes('wrong answers'))?.holds, false);
});

test('a late generator makes a verdict not measured, not broken', () => {
  const { verdicts } = overloaded({ ...cell, lagMs: 500 });
  assert.equal(verdicts.at(-1)?.holds, 'not measured');
});

test('a repeated figure keeps the wrong answers and the faults of each attempt', async () => {
  const attempts = [
    { lagMs: 500, wrong: ['стул'], faults: [] },
    { lagMs: 400, wrong: [], faults: ['hung'] },
    { lagMs: 3, wrong: ['стол'], faults: [] },
  ];
  const measured = await retryWhileLagging(
    async () => attempts.shift() ?? assert.fail('one attempt more than expected'),
  );
  assert.deepEqual(measured, { lagMs: 3, wrong: ['стул', 'стол'], faults: ['hung'] });
});

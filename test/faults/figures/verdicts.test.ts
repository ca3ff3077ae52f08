import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FigureResult, retryWhileLagging } from './figure.ts';
import { resultOf as fullLoss, type LossResult } from './full-loss.ts';
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

const loss: LossResult = {
  of: 'store',
  hot: 400,
  heldInMemory: 100,
  hitsBefore: 0.9,
  gapBefore: 0,
  hitsAfter: 0.5,
  mostInFlight: 15,
  heldRequests: 100,
  heldAnswered: 1,
  answered: 0.99,
  engineSearches: 400,
  recoveredMs: 5000,
  idealMs: 1500,
  steady: {
    requests: 600,
    refused: 0,
    gap: 0,
    guards: [{ breaker: 'closed', overloaded: false, maxConcurrent: 8 }],
  },
  requests: 1500,
  faults: [],
  wrong: [],
  lagMs: 3,
};
const idleLoss: LossResult = {
  ...loss,
  hot: 0,
  mostInFlight: 0,
  heldRequests: 0,
  heldAnswered: NONE,
  engineSearches: 0,
  recoveredMs: undefined,
  steady: { requests: 0, refused: 0, gap: NONE, guards: [] },
  requests: 0,
  lagMs: NONE,
};

const holds = ({ verdicts }: FigureResult): unknown[] => [...new Set(verdicts.map((verdict) => verdict.holds))];

const figures: readonly (readonly [name: string, kept: FigureResult, idle: FigureResult, nothing: FigureResult])[] = [
  ['overload', overloaded(cell), overloaded(idleCell), overloaded()],
  ['full-loss', fullLoss([loss]), fullLoss([idleLoss]), fullLoss([])],
];
for (const [name, kept, idle, nothing] of figures) {
  test(`${name}: with good samples every verdict holds, and without samples none is decided`, () => {
    assert.deepEqual(holds(kept), [true]);
    assert.deepEqual(holds(idle), ['not measured']);
    for (const held of holds(nothing)) assert.equal(held, 'not measured');
  });
}

test('overload: every load above the capacity needs refusals', () => {
  const { verdicts } = overloaded(cell, { ...cell, load: 5, shedP99Ms: NONE });
  assert.equal(verdicts.find(({ says }) => says.startsWith('p99 of refusals'))?.holds, 'not measured');
  const relaxed = overloaded({ ...cell, load: 1, shedP99Ms: NONE }, cell);
  assert.equal(relaxed.verdicts.find(({ says }) => says.startsWith('p99 of refusals'))?.holds, true);
});

test('a wrong answer breaks a verdict, even when only one answer was compared', () => {
  const broken = overloaded({ ...cell, compared: 1, wrong: ['стул'] });
  assert.equal(broken.verdicts.find(({ says }) => says.includes('wrong answers'))?.holds, false);
  assert.ok(fullLoss([{ ...idleLoss, wrong: ['стул'] }]).verdicts.some(({ holds }) => holds === false));
});

test('a late generator makes a verdict not measured, not broken', () => {
  const { verdicts } = overloaded({ ...cell, lagMs: 500 });
  assert.equal(verdicts.at(-1)?.holds, 'not measured');
  assert.equal(fullLoss([{ ...loss, lagMs: 500 }]).verdicts.at(-1)?.holds, 'not measured');
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

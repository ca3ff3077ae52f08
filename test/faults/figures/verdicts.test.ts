import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFENCES } from '../configuration.ts';
import { type AblationResult, resultOf as ablation } from './ablation.ts';
import { resultOf as amplification } from './amplification.ts';
import { type Amplification, PATIENT_STORE_DEADLINE_MS } from './amplification-run.ts';
import { type FigureResult, retryWhileLagging } from './figure.ts';
import { resultOf as fullLoss, type LossResult } from './full-loss.ts';
import { type EngineResult, type LimiterResult, resultOf as overload } from './overload.ts';
import { type Pair, resultOf as stalledShard } from './stalled-shard.ts';

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

const worth: AblationResult = {
  scenario: 'loss, stall',
  without: [],
  requests: 100,
  pages: 90,
  answered: 0.9,
  hits: 0.7,
  p50Ms: 2,
  p99Ms: 190,
  shedP99Ms: 20,
  engineSearches: 50,
  perKey: 1,
  mostInFlight: 10,
  recoveredMs: 3000,
  gap: 0.1,
  wrong: [],
  faults: [],
  lagMs: 3,
};
const bare: AblationResult = { ...worth, without: DEFENCES, answered: 0.7 };
const idleWorth: AblationResult = { ...worth, requests: 0, pages: 0, answered: NONE };

const wave: Amplification = {
  kind: 'cold',
  without: [],
  storeDeadlineMs: PATIENT_STORE_DEADLINE_MS,
  clients: { pages: 100, refused: 0, turnedAway: 0, faults: [] },
  searches: 50,
  distinct: 50,
  mostOfOne: 1,
  open: { leases: 0, slow: 0, nodeOpen: 0, down: 0 },
};
const idleWave: Amplification = {
  ...wave,
  clients: { ...wave.clients, pages: 0 },
  searches: 0,
  distinct: 0,
  mostOfOne: 0,
};

const loss: LossResult = {
  of: 'store',
  without: [],
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

const reads = { durationsMs: [1], values: 1, slow: 3, refused: 90, overdue: 0 };
const node = { opened: 10, refreshes: 3, established: 6, held: 6 };
const pair: Pair = {
  othersP95Ratio: 0.5,
  othersOverdue: { stalled: 0, calm: 0 },
  stalledShard: reads,
  allP95Ms: 1,
  connections: [node],
  firstClosedMs: Number.POSITIVE_INFINITY,
};
const closing: Pair = { ...pair, allP95Ms: 50, connections: [{ ...node, opened: 299 }] };
const idlePair: Pair = {
  ...pair,
  othersP95Ratio: NONE,
  stalledShard: { ...reads, slow: 0, refused: 0 },
  allP95Ms: NONE,
  connections: [{ opened: NONE, refreshes: 0, established: 0, held: 0 }],
  firstClosedMs: NONE,
};

const holds = ({ verdicts }: FigureResult): unknown[] => [...new Set(verdicts.map((verdict) => verdict.holds))];

const figures: readonly (readonly [name: string, kept: FigureResult, idle: FigureResult, nothing: FigureResult])[] = [
  ['overload', overloaded(cell), overloaded(idleCell), overloaded()],
  ['ablation', ablation([worth, bare]), ablation([idleWorth, { ...idleWorth, without: DEFENCES }]), ablation([])],
  [
    'amplification',
    amplification([wave, { ...wave, kind: 'storeless' }]),
    amplification([idleWave, { ...idleWave, kind: 'storeless' }]),
    amplification([]),
  ],
  ['full-loss', fullLoss([loss]), fullLoss([idleLoss]), fullLoss([])],
  ['stalled-shard', stalledShard([pair], [closing]), stalledShard([idlePair], [idlePair]), stalledShard([], [])],
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
  assert.ok(ablation([{ ...idleWorth, wrong: ['стул'] }]).verdicts.some(({ holds }) => holds === false));
});

test('a late generator makes a verdict not measured, not broken', () => {
  const { verdicts } = overloaded({ ...cell, lagMs: 500 });
  assert.equal(verdicts.at(-1)?.holds, 'not measured');
  assert.equal(fullLoss([{ ...loss, lagMs: 500 }]).verdicts.at(-1)?.holds, 'not measured');
});

test('without failed reads of the stalled shard nothing is decided about the other shards', () => {
  const { verdicts } = stalledShard([{ ...pair, stalledShard: { ...reads, slow: 0, refused: 0 } }], [closing]);
  assert.deepEqual(
    verdicts.slice(0, 2).map(({ holds }) => holds),
    ['not measured', 'not measured'],
  );
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

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BatchRow, batch, batchRow, gainsOf } from '../../../../loadtest/labs/experiments/batch.ts';
import { claimOf } from './harness.ts';

const BATCHES = [1, 10, 50, 100, 200, 500];
const RAN = {
  meanMs: 1,
  p50Ms: 1,
  p99Ms: 1,
  maxMs: 1,
  processorSeconds: 1,
  storeUs: 1,
  generatorUs: 1,
  seconds: 1,
  storeCores: 1,
  generatorCores: 0.5,
  limit: 'store' as const,
};
const PUBLISHED = [5000, 8000, 12_000, 18_500, 20_000, 19_800];

const load = (clients: number, rates: readonly number[]): BatchRow[] =>
  rates.map((perSecond, at) => {
    const pipeline = BATCHES[at] ?? 0;
    return { ...RAN, clients, pipeline, perSecond, networkUs: 5 / pipeline, wholeMs: 1, clientBytes: 1 };
  });

test('among batches within 5 % of the best rate the smallest is chosen', () => {
  const [gain] = gainsOf(load(10, [1000, 5000, 9400, 9600, 10_000, 9900]));
  assert.deepEqual([gain?.best.pipeline, gain?.gain], [100, 9.6]);
});

for (const [name, rows, verdict, best, gain] of [
  ['the published figures hold', load(1, PUBLISHED), 'yes', [200, true], [4, true]],
  [
    'a best batch of ten holds in part',
    load(10, [1000, 5000, 5000, 5000, 5000, 5000]),
    'partly',
    [10, false],
    [5, true],
  ],
  ['a slower batch is no gain', load(10, [1000, 900, 800, 700, 700, 600]), 'no', [1, false], [1, false]],
] as const)
  test(name, () => {
    const found = batch.findingOf({ rows, ways: [] });
    assert.equal(found.verdict, verdict);
    assert.deepEqual(claimOf(found, /^smallest batch/), best);
    assert.deepEqual(claimOf(found, /^rate of the best batch .* connection/), gain);
  });

test('a row is the run with the higher rate, with the memory and the store time of all runs', () => {
  const run = (perSecond: number, peak: number | undefined, usedMs: number) => ({
    ran: { ...RAN, perSecond },
    before: { systemMs: 0, calls: 0 },
    after: { systemMs: usedMs, calls: 1000 },
    peak,
  });
  const row = batchRow(10, 50, [run(2000, 700, 3), run(4000, undefined, 1)]);
  assert.deepEqual([row.perSecond, row.wholeMs, row.clientBytes, row.networkUs], [4000, 125, 700, 2]);
  assert.equal(batchRow(1, 1, [run(5000, undefined, 1)]).clientBytes, undefined);
});

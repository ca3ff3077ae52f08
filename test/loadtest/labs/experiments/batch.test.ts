import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BatchRow, batchRow } from '../../../../loadtest/labs/experiments/batch/sweep.ts';
import { batch, gainsOf } from '../../../../loadtest/labs/experiments/batch.ts';
import { holds } from '../../../../loadtest/labs/kit/claims.ts';
import type { Limit } from '../../../../loadtest/labs/kit/finding.ts';
import type { Found } from './harness.ts';

const BATCHES = [1, 10, 50, 100, 200, 500];

const RAN = {
  latencyMs: { mean: 1, p50: 1, p95: 1, p99: 1, max: 1 },
  requests: 1,
  seconds: 1,
  storeCores: 1,
  generatorCores: 0.5,
};

function load(clients: number, rates: readonly number[], limit: Limit = 'store'): BatchRow[] {
  return rates.map((perSecond, at) => {
    const pipeline = BATCHES[at] ?? 0;
    return { ...RAN, clients, pipeline, perSecond, limit, networkUs: 5 / pipeline, wholeMs: 1, clientBytes: 1 };
  });
}

function findingOf(rows: BatchRow[]): Found {
  return batch.findingOf({ rows, ways: [] });
}

function claimsOf({ claims }: Found, text: RegExp) {
  return claims.filter((claim) => text.test(claim.text));
}

function figuresOf(found: Found, text: RegExp): readonly (number | undefined)[] {
  return claimsOf(found, text).map(({ figure }) => figure);
}

test('among batches within 5 % of the best rate the smallest is chosen', () => {
  const [gain] = gainsOf(load(10, [1000, 5000, 9400, 9600, 10_000, 9900]));
  assert.equal(gain?.best.pipeline, 100);
  assert.equal(gain?.gain, 9.6);
});

test('the lesson holds for the published figures', () => {
  const published = [5000, 8000, 12_000, 18_500, 20_000, 19_800];
  const moved = [5000, 8000, 12_000, 20_000, 20_000, 19_800];
  const found = findingOf([...load(1, published), ...load(10, moved)]);
  assert.equal(found.verdict, 'yes');
  assert.deepEqual(figuresOf(found, /smallest batch .*, (one|10) connection/), [200, 100]);
  assert.deepEqual(claimsOf(found, /smallest batch/).map(holds), [true, true]);
});

test('a gain whose best batch size is ten holds in part, and the missing round trip is named', () => {
  const found = findingOf(load(10, [1000, 5000, 5000, 5000, 5000, 5000]));
  assert.equal(found.verdict, 'partly');
  const [size] = claimsOf(found, /smallest batch/);
  assert.deepEqual([size?.figure, size && holds(size)], [10, false]);
  assert.deepEqual([size?.atLeast, size?.atMost], [100, 200]);
  assert.deepEqual(figuresOf(found, /network time .* (single commands|10 at once)/), [5, 0.5]);
});

test('a batch of 50 that is slower than single commands is not a gain', () => {
  const found = findingOf(load(10, [1000, 900, 800, 700, 700, 600]));
  assert.equal(found.verdict, 'no');
  const [gain] = claimsOf(found, /rate of the best batch .* 10 connections/);
  assert.deepEqual([gain?.figure, gain && holds(gain)], [1, false]);
});

test('a row is the run with the higher rate, with the memory and the store time of all runs', () => {
  const run = (perSecond: number, peak: number | undefined, usedMs: number) => {
    return {
      ran: { ...RAN, perSecond, limit: 'store' as const },
      before: { systemMs: 0, calls: 0 },
      after: { systemMs: usedMs, calls: 1000 },
      peak,
    };
  };
  const row = batchRow(10, 50, [run(2000, 700, 3), run(4000, undefined, 1)]);
  assert.deepEqual([row.perSecond, row.wholeMs, row.clientBytes, row.networkUs], [4000, 125, 700, 2]);
  assert.equal(batchRow(10, 50, [run(4000, 300, 1), run(2000, 900, 1)]).perSecond, 4000);
  assert.equal(batchRow(10, 50, [run(4000, 300, 1), run(2000, 900, 1)]).clientBytes, 900);
  assert.equal(batchRow(1, 1, [run(5000, undefined, 1)]).clientBytes, undefined);
});

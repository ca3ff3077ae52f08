import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addedMeters,
  type BatchRow,
  batchRow,
  timeShareOf,
} from '../../../../loadtest/labs/experiments/batch/sweep.ts';
import {
  batch,
  gainsOf,
  refusalOfTwoSlots,
  shortened,
  type WayRow,
} from '../../../../loadtest/labs/experiments/batch.ts';
import { holds } from '../../../../loadtest/labs/kit/claims.ts';
import type { Limit } from '../../../../loadtest/labs/kit/finding.ts';
import { coresOf, inLab } from '../../../../loadtest/labs/kit/lab.ts';
import { columnOf, type Found, tableOf } from './harness.ts';

const BATCHES = [1, 10, 50, 100, 200, 500];

const RAN = {
  latencyMs: { mean: 1, p50: 1, p95: 1, p99: 1, max: 1 },
  ...{ requests: 1, seconds: 1, storeCores: 1, generatorCores: 0.5, command: '' },
};

const REFUSAL = "CROSSSLOT Keys in request don't hash to the same slot";

function load(clients: number, rates: readonly number[], limit: Limit = 'store'): BatchRow[] {
  return rates.map((perSecond, at) => {
    const pipeline = BATCHES[at] ?? 0;
    const networkUs = 5 / pipeline;
    const share = { networkUs, wholeUs: networkUs + 1.5, parsingUs: 1, executionUs: 0.5 };
    return { ...RAN, clients, pipeline, perSecond, limit, share, wholeMs: 1, clientBytes: 1 };
  });
}

function way(name: WayRow['way'], keys: number, own: Partial<WayRow>): WayRow {
  return { ...RAN, limit: 'store', way: name, keys, keysPerSecond: 1, perSecond: 1, storeUsPerKey: 1, ...own };
}

function findingOf(rows: BatchRow[], mget = 1): Found {
  const ways = [10, 100].flatMap((keys) => [
    way('pipelined GET', keys, { storeUsPerKey: 1.4 }),
    way('MGET', keys, { storeUsPerKey: 1.4 / mget }),
    way('Lua', keys, { storeUsPerKey: 3 }),
  ]);
  return batch.findingOf({ rows, views: [], ways, refusal: REFUSAL });
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

test('a load without single commands has no baseline', () => {
  assert.throws(() => gainsOf(load(10, [1, 2, 3]).slice(1)), /10 clients: no row of single commands/);
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

test('when the generator was full at the best batch size, the store is not reported as full', () => {
  const rates = [1000, 2000, 3000, 4000, 5000, 6000];
  const full = findingOf(load(50, rates, 'generator'));
  assert.deepEqual(figuresOf(full, /full generator at the best batch/), [1]);
  assert.equal(tableOf(full, /in batches, 50 connections/).rows.at(-1)?.limit, 'generator');
  assert.deepEqual(figuresOf(findingOf(load(50, rates)), /full generator/), [0]);
});

test('MGET is recommended for its rate only where it is faster, and a cluster refuses it in both cases', () => {
  const rows = load(10, [1000, 2000, 3000, 4000, 5000, 5000]);
  const perKey = (mget: number) => columnOf(tableOf(findingOf(rows, mget), /Several keys/), /^store per key$/).slice(3);
  assert.deepEqual(perKey(1.4), [1.4, 1, 3]);
  assert.deepEqual(perKey(1), [1.4, 1.4, 3]);
  assert.match(findingOf(rows, 1.4).sentence, /MGET only .* where it costs the store clearly less/);
  for (const mget of [1.4, 1])
    assert.match(findingOf(rows, mget).notes.join(' '), /answers MGET of two slots with: CROSSSLOT/);
  const taken = batch.findingOf({ rows, views: [], ways: [], refusal: undefined });
  assert.match(taken.notes.join(' '), /took MGET of two slots/);
});

test('the time of a command is split into kernel, command and rest, over all readings together', () => {
  const at = (userMs: number, systemMs: number, calls: number, us: number) => ({
    userMs,
    systemMs,
    stats: { calls, us },
  });
  const used = addedMeters([
    { before: at(100, 50, 10, 20), after: at(130, 110, 10_010, 5020) },
    { before: at(200, 200, 20_000, 9000), after: at(320, 320, 50_000, 29_000) },
  ]);
  assert.deepEqual(timeShareOf(used), { networkUs: 4.5, wholeUs: 8.25, executionUs: 0.625, parsingUs: 3.125 });
});

test("when execution took longer in wall time than the store's processor time, the time is not split", () => {
  const share = timeShareOf({ userMs: 10, systemMs: 10, stats: { calls: 1000, us: 20_000 } });
  assert.deepEqual(share, { networkUs: 10, wholeUs: 20, executionUs: undefined, parsingUs: undefined });
  assert.equal(timeShareOf({ userMs: 10, systemMs: 10, stats: { calls: 0, us: 0 } }), undefined);
});

test('the shares of a command add up to one, and an unknown share stays unknown', () => {
  const [single, ten] = load(10, [1000, 5000]);
  assert.ok(single && ten?.share);
  const unknown = { ...ten, share: { ...ten.share, parsingUs: undefined, executionUs: undefined } };
  const [first, second] = tableOf(findingOf([single, unknown]), /time of one GET/).rows;
  const [network, parsing, execution] = (first?.values ?? []).slice(3).map(Number);
  assert.ok(Math.abs(Number(network) + Number(parsing) + Number(execution) - 1) < 1e-9);
  assert.equal(second?.values[4], undefined);
});

test('a row is the run with the higher rate, with the memory and the store time of all runs', () => {
  const run = (perSecond: number, peak: number | undefined, usedMs: number) => {
    const stats = { calls: 1000, us: 0 };
    return {
      ran: { ...RAN, perSecond, limit: 'store' as const },
      before: { userMs: 100, systemMs: 0, stats: { calls: 0, us: 0 } },
      after: { userMs: 100, systemMs: usedMs, stats },
      peak,
    };
  };
  const row = batchRow(10, 50, [run(2000, 700, 3), run(4000, undefined, 1)]);
  assert.deepEqual([row.perSecond, row.wholeMs, row.clientBytes, row.share?.networkUs], [4000, 125, 700, 2]);
  assert.equal(batchRow(10, 50, [run(4000, 300, 1), run(2000, 900, 1)]).perSecond, 4000);
  assert.equal(batchRow(10, 50, [run(4000, 300, 1), run(2000, 900, 1)]).clientBytes, 900);
  assert.equal(batchRow(1, 1, [run(5000, undefined, 1)]).clientBytes, undefined);
});

test('the factor of a read method is relative to a pipeline of GET for the same number of keys', () => {
  const ways = [
    ...[way('pipelined GET', 10, { keysPerSecond: 1000 }), way('MGET', 10, { keysPerSecond: 1500 })],
    ...[way('pipelined GET', 100, { keysPerSecond: 4000 }), way('MGET', 100, { keysPerSecond: 2000 })],
  ];
  const found = batch.findingOf({ rows: load(10, [1000]), views: [], ways, refusal: REFUSAL });
  assert.deepEqual(columnOf(tableOf(found, /Several keys/), /^against a pipeline of GET$/), [1, 1.5, 1, 0.5]);
});

test("the generator's time per GET is its cores divided by the rate", () => {
  assert.deepEqual(columnOf(tableOf(findingOf(load(10, [2000])), /time of one GET/), /^generator$/), [250]);
});

test('a hundred names are printed as a shell brace expansion', () => {
  const command = `redis-benchmark MGET${' page:__rand_int__'.repeat(100)}`;
  assert.equal(shortened(command, 100), 'redis-benchmark MGET $(yes page:__rand_int__ | head -100)');
  assert.equal(shortened('redis-benchmark GET page:__rand_int__', 10), 'redis-benchmark GET page:__rand_int__');
});

test('a node of a cluster refuses MGET across two slots', async () => {
  const lab = { cores: coresOf('0-1'), say: () => undefined, signal: new AbortController().signal };
  assert.match((await inLab(lab, refusalOfTwoSlots)) ?? '', /^CROSSSLOT/);
});

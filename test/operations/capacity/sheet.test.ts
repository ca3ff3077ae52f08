import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { loadSettings } from '../../../src/config/load.ts';
import { configuredInputs, DEFAULTS, type InputName, type Inputs } from '../../../src/operations/capacity/inputs.ts';
import { type CapacitySheet, capacitySheet } from '../../../src/operations/capacity/sheet.ts';

const [goods] = loadSettings({ env: {}, cwd: process.cwd() }).domains;
assert.ok(goods !== undefined);
const CONFIGURED: Inputs = { ...DEFAULTS, ...configuredInputs(goods) };

function sheetOf(given: Readonly<Partial<Record<InputName, number>>>): CapacitySheet {
  const inputs = Object.entries(given).map(([name, value]) => [name, { value, from: 'given', source: name }] as const);
  return capacitySheet({ ...CONFIGURED, ...Object.fromEntries(inputs) });
}

function figureOf(sheet: CapacitySheet, name: string): number | undefined {
  const found = sheet.figures.find((one) => one.name === name);
  assert.ok(found !== undefined, name);
  return found.value;
}

const COMPLETE = { rate: 1000, hitRatio: 0.9, engineCapacity: 250, engineLatencyMs: 20, permits: 8, shards: 20 };

test('a plan holds when nothing is full, and names the resource that is full first with its rate', () => {
  const sheet = sheetOf(COMPLETE);
  assert.equal(sheet.verdict, 'holds');
  assert.deepEqual([sheet.first?.name, Math.round(sheet.first?.breaksAt ?? 0)], ['engine', 2500]);
});

test('a resource that is full breaks the plan, and the advice begins with it', () => {
  const sheet = sheetOf({ ...COMPLETE, permits: 1 });
  assert.equal(sheet.verdict, 'breaks');
  assert.match(sheet.advice[0] ?? '', /^engine permits: raise engine.maxConcurrent/);
});

test('the plan is undecided while an input is missing, unless what is known breaks already', () => {
  const { engineLatencyMs: _, ...without } = COMPLETE;
  const sheet = sheetOf(without);
  assert.deepEqual([sheet.verdict, sheet.missing.map(({ option }) => option)], ['undecided', ['--engine-latency']]);
  assert.equal(sheetOf({ ...without, engineCapacity: 50 }).verdict, 'breaks');
  assert.deepEqual(sheetOf({ rate: 100 }).figures, []);
});

test('the hit ratio follows from keys, exponent and ttl', () => {
  const sheet = sheetOf({ rate: 2000, keys: 2e6, exponent: 1, ttlMs: 3_600_000, permits: 8, engineLatencyMs: 20 });
  assert.equal(sheet.inputs.hitRatio?.value.toFixed(3), '0.891');
  assert.equal(figureOf(sheet, 'amplification A')?.toFixed(1), '6.1');
});

test('headroom and survivable share are those of the permits where they admit less than the engine can do', () => {
  const given = { ...COMPLETE, rate: 5000, hitRatio: 0.99, engineCapacity: 500, engineLatencyMs: 20 };
  assert.equal(figureOf(sheetOf({ ...given, permits: 2 }), 'headroom H')?.toFixed(6), '2.000000');
  assert.equal(figureOf(sheetOf({ ...given, permits: 100 }), 'headroom H')?.toFixed(6), '10.000000');
  const { engineCapacity: _, ...unknown } = given;
  const sheet = sheetOf({ ...unknown, permits: 4 });
  assert.equal(sheet.verdict, 'undecided', 'permits alone do not say what the engine can do');
  assert.equal(figureOf(sheet, 'headroom H')?.toFixed(6), '4.000000');
});

test('a plan without reserve is tight: a resource at its limit, or a single process', () => {
  assert.equal(sheetOf({ ...COMPLETE, engineCapacity: 1e6, permits: 1000 }).verdict, 'holds');
  assert.equal(
    sheetOf({ ...COMPLETE, rate: 1000, hitRatio: 0.9, engineCapacity: 110, permits: 1000 }).verdict,
    'tight',
  );
  assert.equal(sheetOf({ ...COMPLETE, engineCapacity: 1e6, permits: 1000, processes: 1 }).verdict, 'breaks');
});

test('without keys the pages in the store are an upper bound, and the sheet says so', () => {
  assert.match(sheetOf(COMPLETE).remarks.join(), /without --keys the pages in the store.*at most/);
  assert.doesNotMatch(sheetOf({ ...COMPLETE, keys: 10_000_000 }).remarks.join(), /at most/);
});

test('a hit ratio that no popularity of the keys has is remarked, and A is that of misses alone', () => {
  const sheet = sheetOf({ ...COMPLETE, keys: 100 });
  assert.match(sheet.remarks.join(), /no popularity of so few keys/);
  assert.equal(figureOf(sheet, 'amplification A')?.toFixed(3), '10.000');
});

test('at the rate of its first limit a plan is full, and above it breaks', () => {
  const rate = fc.double({ min: 10, max: 1e5, noNaN: true });
  const ratio = fc.double({ min: 0.01, max: 0.99, noNaN: true });
  const capacity = fc.double({ min: 1, max: 1e5, noNaN: true });
  fc.assert(
    fc.property(rate, ratio, capacity, fc.integer({ min: 2, max: 20 }), (perSecond, hitRatio, engineCapacity, n) => {
      const given = { hitRatio, engineCapacity, engineLatencyMs: 5, permits: 1000, processes: n, shards: 2 };
      const { first } = sheetOf({ ...given, rate: perSecond });
      assert.ok(first?.breaksAt !== undefined);
      for (const [factor, verdict] of [
        [0.75, 'holds'],
        [0.99, 'tight'],
        [1.01, 'breaks'],
      ] as const) {
        assert.equal(sheetOf({ ...given, rate: first.breaksAt * factor }).verdict, verdict, first.name);
      }
    }),
    { numRuns: 60 },
  );
});

test('more processes lower the processor time of each and the share of L1, and add connections', () => {
  const [few, many] = [2, 8].map((processes) => sheetOf({ ...COMPLETE, keys: 200_000, hitRatio: 0.6, processes }));
  assert.ok(few !== undefined && many !== undefined);
  const used = (sheet: CapacitySheet, name: string): number | undefined =>
    sheet.limits.find((limit) => limit.name === name)?.used;
  assert.ok((used(many, 'processor of a process') ?? 0) < (used(few, 'processor of a process') ?? 0));
  assert.ok((figureOf(many, 'share of searches from L1') ?? 0) < (figureOf(few, 'share of searches from L1') ?? 0));
  assert.deepEqual([used(few, 'connections of a shard'), used(many, 'connections of a shard')], [4, 16]);
});

test('inputs that contradict each other are remarked', () => {
  const remarksOf = (more: Partial<typeof COMPLETE> & Parameters<typeof sheetOf>[0]) =>
    sheetOf({ ...COMPLETE, keys: 10_000_000, ...more }).remarks.join();
  assert.equal(remarksOf({}), '');
  assert.match(remarksOf({ memoryRatio: 0.99 }), /--memory-ratio is above the hit ratio/);
  assert.match(remarksOf({ ttlMs: 3_600_000, keptMs: 60_000 }), /--kept is below the ttl/);
  assert.match(remarksOf({ shards: 2000 }), /at most 1,000 nodes/);
});

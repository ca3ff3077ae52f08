import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import * as formulas from '../../../src/operations/capacity/formulas.ts';
import { MEASURED } from '../../../src/operations/capacity/inputs.ts';
import {
  distinctKeys,
  exponentFor,
  hitRatioOf,
  memoryRatioOf,
  refillMs,
  zipfGroups,
} from '../../../src/operations/capacity/popularity.ts';
import { ENTRY_OVERHEAD_BYTES } from '../../../src/stores/memory/memory-tier.ts';

const share = (max = 0.999) => fc.double({ min: 0, max, noNaN: true });
const amount = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const { amplificationOfMisses, breakingRate, coresBusy, engineLoad, permitsUsed, survivableShare } = formulas;

test('without headroom no flush is survived, and with headroom above the amplification every flush', () => {
  fc.assert(
    fc.property(amount(1.001, 1000), amount(1, 1000), (amplification, more) => {
      assert.equal(survivableShare.of({ headroom: 1, amplification }), 0);
      assert.equal(survivableShare.of({ headroom: 0.5, amplification }), 0);
      assert.equal(survivableShare.of({ headroom: amplification * more, amplification }), 1);
    }),
  );
});

test('the survivable share grows with the headroom and falls with the amplification, between 0 and 1', () => {
  const factor = amount(1, 1000);
  fc.assert(
    fc.property(factor, factor, factor, factor, (h, moreH, a, moreA) => {
      const found = survivableShare.of({ headroom: h, amplification: a });
      assert.ok(found >= 0 && found <= 1);
      assert.ok(survivableShare.of({ headroom: h * moreH, amplification: a }) >= found);
      assert.ok(survivableShare.of({ headroom: h, amplification: a * moreA }) <= found);
    }),
  );
});

test('after a flush of the survivable share the engine is exactly full', () => {
  fc.assert(
    fc.property(amount(1.01, 50), amount(1.01, 50), amount(1, 1e5), (h, a, load) => {
      fc.pre(h < a);
      const flushed = survivableShare.of({ headroom: h, amplification: a });
      const after = load * (1 + flushed * (a - 1));
      assert.ok(Math.abs(after / (load * h) - 1) < 1e-9);
    }),
  );
});

test('a total loss turns the engine load into the rate of searches', () => {
  fc.assert(
    fc.property(amount(1, 1e6), share(), (rate, hitRatio) => {
      const load = engineLoad.of({ rate, hitRatio });
      assert.ok(load >= 0 && load <= rate);
      assert.ok(Math.abs((load * amplificationOfMisses.of({ hitRatio })) / rate - 1) < 1e-9);
    }),
  );
});

test("at a load of permits ÷ latency every permit is in use (Little's law)", () => {
  fc.assert(
    fc.property(amount(0.1, 1e4), amount(1, 1e4), (latencyMs, permits) => {
      const load = (permits * 1000) / latencyMs;
      assert.ok(Math.abs(permitsUsed.of({ engineLoad: load, latencyMs }) / permits - 1) < 1e-9);
    }),
  );
});

test('a resource breaks at the rate at which it is full, and never when it is not used', () => {
  fc.assert(
    fc.property(amount(1, 1e6), amount(1e-3, 1e6), amount(1e-3, 1e6), (rate, used, capacity) => {
      // Within the rounding of a division the two are equal.
      fc.pre(Math.abs(used - capacity) > 1e-9 * capacity);
      assert.equal(breakingRate.of({ rate, used, capacity }) < rate, used > capacity);
    }),
  );
  assert.equal(breakingRate.of({ rate: 10, used: 0, capacity: 1 }), Number.POSITIVE_INFINITY);
});

test('processes and shards cover what is needed, with one process more', () => {
  fc.assert(
    fc.property(amount(0, 100), amount(0.05, 8), (cores, processors) => {
      const processes = formulas.processesNeeded.of({ cores, processors });
      assert.ok(Number.isInteger(processes) && processes >= 2);
      assert.ok((processes - 1) * Math.min(1, processors) >= cores);
      assert.ok(formulas.shardsNeeded.of({ needed: cores, each: processors, share: 1 }) * processors >= cores - 1e-9);
    }),
  );
});

const root = join(import.meta.dirname, '../../..');

test('the costs of a full process are those of the committed benches', () => {
  const { benches } = JSON.parse(readFileSync(join(root, 'loadtest/bench/records/committed.json'), 'utf8'));
  const costUs = (bench: string): number => {
    const rates = benches[bench].rates.map((start: Readonly<Record<string, number>>) => start['serpcache'] ?? 0);
    return 1e6 / (rates.toSorted((a: number, b: number) => a - b)[2] ?? 0);
  };
  const { memoryHit, storeHit, miss } = MEASURED.fullUs;
  for (const [bench, cost] of [
    ['l1-many', memoryHit],
    ['l2', storeHit],
    ['miss', miss],
  ] as const) {
    assert.ok(Math.abs(cost / costUs(bench) - 1) < 0.3, `${bench}: ${cost} µs beside ${costUs(bench).toFixed(1)}`);
  }
  assert.equal(MEASURED.memoryOverheadBytes, ENTRY_OVERHEAD_BYTES);
});

test('the costs under a part of the load are those between the first and the last step of x-load', () => {
  const { run } = JSON.parse(readFileSync(join(root, 'loadtest/records/x-load.json'), 'utf8'));
  const { columns, rows } = run.samples;
  const [first, last] = ['x1', 'x5'].map((name) => {
    const step = run.summary.steps.find((one: { readonly step: { readonly name: string } }) => one.step.name === name);
    const fromMs = run.summary.startedAtMs + 1000 * (step.step.startSeconds + step.step.rampSeconds);
    const own = rows.filter(([atMs = 0]: readonly number[]) => atMs >= fromMs && atMs <= fromMs + 1000 * step.seconds);
    const seconds = (own.at(-1)[0] - own[0][0]) / 1000;
    const perSecond = (pattern: RegExp): number =>
      columns.reduce((sum: number, column: string, at: number) => {
        return pattern.test(column) ? sum + (own.at(-1)[at] - own[0][at]) / seconds : sum;
      }, 0);
    const { 'hit-l1': memoryHits, 'hit-l2': storeHits } = step.outcomes;
    return {
      rate: step.searches / step.seconds,
      memoryHits: memoryHits / step.seconds,
      cost: coresBusy.of({
        ...{ memoryHits: memoryHits / step.seconds, storeHits: storeHits / step.seconds },
        engineLoad: step.engineCalls / step.seconds,
      }),
      cores: perSecond(/^\/replicas#0\/cpuSeconds$/),
      commands: perSecond(/^\/stores#\d\/commands$/),
      storeCores: perSecond(/^\/stores#\d\/cpuSeconds$/),
      hitRatio: step.hitRatio,
    };
  });
  assert.ok(first !== undefined && last !== undefined);
  const near = (found: number, expected: number): void =>
    assert.ok(Math.abs(found / expected - 1) < 0.1, `${found} beside ${expected}`);
  near(last.cost - first.cost, last.cores - first.cores);
  near((1e6 * (last.storeCores - first.storeCores)) / (last.commands - first.commands), MEASURED.storeCommandUs);
  near(last.memoryHits / last.rate / last.hitRatio, MEASURED.memoryShareOfHits);
});

const keys = fc.integer({ min: 1, max: 1e6 });
const exponent = fc.double({ min: 0.1, max: 2, noNaN: true });
const rate = fc.double({ min: 1, max: 1e5, noNaN: true });
const ttlMs = fc.integer({ min: 1000, max: 1e7 });
const RUNS = { numRuns: 40 };

test('groups hold every key once, and their shares sum to one', () => {
  fc.assert(
    fc.property(keys, exponent, (count, skew) => {
      const groups = zipfGroups(count, skew);
      assert.equal(
        groups.reduce((sum, group) => sum + group.keys, 0),
        count,
      );
      assert.ok(Math.abs(groups.reduce((sum, group) => sum + group.keys * group.share, 0) - 1) < 1e-9);
      assert.ok(groups.length < 700);
    }),
    RUNS,
  );
});

test('groups change a sum over single keys by less than a thousandth', () => {
  const [count, skew, perSecond] = [20_000, 1, 500];
  const weights = Array.from({ length: count }, (_, at) => (at + 1) ** -skew);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const exact = weights.reduce((sum, weight) => {
    const share = weight / total;
    return sum + (share * perSecond * share * 60) / (1 + perSecond * share * 60);
  }, 0);
  const grouped = hitRatioOf({ groups: zipfGroups(count, skew), rate: perSecond }, 60_000);
  assert.ok(Math.abs(grouped / exact - 1) < 1e-3, `${grouped} beside ${exact}`);
});

test('the published example is repeated: 2,000,000 keys, 2,000 searches a second, an hour', () => {
  const traffic = { groups: zipfGroups(2e6, 1), rate: 2000 };
  assert.equal(hitRatioOf(traffic, 3_600_000).toFixed(3), '0.891');
  const load = 2000 * (1 - hitRatioOf(traffic, 3_600_000));
  assert.equal((distinctKeys(traffic, 1) / load).toFixed(1), '6.1');
});

test('the hit ratio grows with the life of a page, and the exponent is found from it again', () => {
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 1e6 }), exponent, rate, ttlMs, (count, skew, perSecond, lifeMs) => {
      const traffic = { groups: zipfGroups(count, skew), rate: perSecond };
      const ratio = hitRatioOf(traffic, lifeMs);
      assert.ok(ratio > 0 && ratio < 1);
      assert.ok(hitRatioOf(traffic, 2 * lifeMs) > ratio);
      const found = exponentFor(count, perSecond, lifeMs, ratio);
      assert.ok(found !== undefined);
      const again = hitRatioOf({ groups: zipfGroups(count, found), rate: perSecond }, lifeMs);
      assert.ok(Math.abs(again - ratio) < 1e-6);
    }),
    RUNS,
  );
});

test('a hit ratio below that of equally popular keys has no exponent', () => {
  assert.equal(exponentFor(100, 1000, 60_000, 0.5), undefined);
});

test('L1 answers no more than the cache, less with more processes, and nothing without room', () => {
  fc.assert(
    fc.property(keys, exponent, rate, ttlMs, fc.integer({ min: 1, max: 50 }), (count, skew, perSecond, lifeMs, n) => {
      const traffic = { groups: zipfGroups(count, skew), rate: perSecond };
      const fitting = Number.POSITIVE_INFINITY;
      const ratio = memoryRatioOf(traffic, { ttlMs: lifeMs, processes: n, fitting });
      assert.ok(ratio <= hitRatioOf(traffic, lifeMs) + 1e-9);
      assert.ok(memoryRatioOf(traffic, { ttlMs: lifeMs, processes: n + 1, fitting }) <= ratio + 1e-9);
      assert.equal(memoryRatioOf(traffic, { ttlMs: lifeMs, processes: n, fitting: 0 }), 0);
    }),
    RUNS,
  );
});

test('an emptied cache asks for no more distinct keys than there are searches, or keys', () => {
  fc.assert(
    fc.property(keys, exponent, rate, (count, skew, perSecond) => {
      const distinct = distinctKeys({ groups: zipfGroups(count, skew), rate: perSecond }, 1);
      assert.ok(distinct <= perSecond * (1 + 1e-9) && distinct <= count * (1 + 1e-9));
    }),
    RUNS,
  );
});

test('a faster engine refills no later, and one below the steady load never', () => {
  const traffic = { groups: zipfGroups(10_000, 1), rate: 500 };
  const load = 500 * (1 - hitRatioOf(traffic, 300_000));
  const times = [1.6, 2, 3, 10].map((headroom) => refillMs(traffic, load, load * headroom, 300_000));
  for (const [at, time] of times.entries()) {
    assert.ok(time !== undefined && time > 0 && time <= (times[at - 1] ?? Number.POSITIVE_INFINITY), `${times}`);
  }
  assert.equal(refillMs(traffic, load, load / 10, 300_000), undefined);
});

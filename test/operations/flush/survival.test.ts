import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { estimateSurvival, survivable } from '../../../src/operations/flush/preview.ts';
import { type Figures, figuresBetween } from '../../../src/operations/meter/figures.ts';
import { plain } from '../../plain.ts';

const nothing = figuresBetween(new Map(), new Map());
const figures = (parts: Partial<Figures>): Figures => ({ ...nothing, seconds: 60, searches: 60_000, ...parts });

test('an engine with a headroom of 1.5 survives the loss of a tenth of the keys at an amplification of six', () => {
  const { headroom, amplification, survivable, extraCallsPerSecond } = estimateSurvival(
    // 1,000 searches per second; the cache answers 5 in 6. 5 slots with calls of 20 ms serve 250 calls per second.
    figures({
      searchesPerSecond: 1000,
      hitRatio: 5 / 6,
      engineCallsPerSecond: 1000 / 6,
      engineCallMs: 20,
      engineMax: 5,
    }),
    0.2,
  );
  assert.equal(headroom?.toFixed(9), '1.500000000');
  assert.equal(amplification?.toFixed(9), '6.000000000');
  assert.equal(survivable?.toFixed(9), '0.100000000');
  assert.equal(extraCallsPerSecond?.toFixed(6), (1000 / 6).toFixed(6));
});

test('when every miss costs one engine call, the amplification is 1/(1 − h) for the hit ratio h', () => {
  const ratios = fc.double({ min: 0, max: 0.999, noNaN: true });
  fc.assert(
    fc.property(ratios, fc.integer({ min: 1000, max: 100_000 }), (hitRatio, searchesPerSecond) => {
      const engineCallsPerSecond = searchesPerSecond * (1 - hitRatio);
      const { amplification = 0 } = estimateSurvival(figures({ searchesPerSecond, hitRatio, engineCallsPerSecond }), 1);
      assert.ok(Math.abs(amplification * (1 - hitRatio) - 1) < 1e-9);
    }),
  );
});

test('losing the share f* of the keys at once loads the engine up to its capacity, and not above it', () => {
  const positive = fc.double({ min: 0.1, max: 10_000, noNaN: true });
  // At a load below a twentieth of the capacity the headroom would be cut to twenty.
  const busy = fc.double({ min: 40, max: 10_000, noNaN: true });
  fc.assert(
    fc.property(positive, busy, fc.double({ min: 0.01, max: 1, noNaN: true }), (searches, calls, hitRatio) => {
      const parts = {
        searchesPerSecond: searches,
        hitRatio,
        engineCallsPerSecond: calls,
        engineCallMs: 10,
        engineMax: 8,
      };
      const { survivable = -1 } = estimateSurvival(figures(parts), 1);
      const after = calls + (estimateSurvival(figures(parts), survivable).extraCallsPerSecond ?? Number.NaN);
      if (survivable > 0) assert.ok(after <= 800 * (1 + 1e-9), `${after}`);
      if (survivable > 0 && survivable < 1) assert.ok(Math.abs(after - 800) < 1e-6, `${after}`);
      if (survivable === 0) assert.ok(calls >= 800 * (1 - 1e-9));
    }),
  );
});

test('the headroom of an engine with little load is reported as at most twenty times its load', () => {
  const idle = { searchesPerSecond: 60, hitRatio: 0.95, engineCallsPerSecond: 1, engineCallMs: 1, engineMax: 4 };
  const { headroom, survivable } = estimateSurvival(figures(idle), 1);
  assert.equal(headroom, 20);
  assert.equal(survivable?.toFixed(6), (19 / 57).toFixed(6));
});

test('with a full engine no loss is survivable; when hits save no engine calls, a loss of all keys is', () => {
  assert.deepEqual([survivable(1, 2), survivable(1, 1), survivable(1.5, 1), survivable(0.99, 1)], [0, 1, 1, 0]);
});

test('without traffic, or without engine calls, there is no estimate', () => {
  assert.deepEqual(estimateSurvival(undefined, 1), { seconds: 0, searches: 0, engineCallsPerSecond: 0 });
  assert.deepEqual(plain(estimateSurvival(figures({ searches: 0 }), 1)), {
    seconds: 60,
    searches: 0,
    engineCallsPerSecond: 0,
  });
  const idle = estimateSurvival(figures({ searchesPerSecond: 1000, hitRatio: 1, engineMax: 8 }), 0.5);
  assert.deepEqual(plain(idle), {
    seconds: 60,
    searches: 60_000,
    engineCallsPerSecond: 0,
    hitRatio: 1,
    extraCallsPerSecond: 500,
  });
});

test('for any counts every estimate is a finite number, and f* is a share', () => {
  const number = fc.double({ min: 0, max: 1e6, noNaN: true });
  const maybe = fc.option(number, { nil: undefined });
  const ratio = fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined });
  const any = fc.record({
    searchesPerSecond: number,
    engineCallsPerSecond: number,
    engineMax: number,
    engineCallMs: maybe,
    hitRatio: ratio,
  });
  fc.assert(
    fc.property(any, ({ engineCallMs, hitRatio, ...parts }) => {
      const given = {
        ...(engineCallMs !== undefined && { engineCallMs }),
        ...(hitRatio !== undefined && { hitRatio }),
      };
      const estimate = estimateSurvival(figures({ ...parts, ...given }), 0.3);
      for (const [name, value] of Object.entries(plain(estimate)))
        assert.ok(Number.isFinite(value), `${name}: ${value}`);
      assert.ok((estimate.survivable ?? 0) >= 0 && (estimate.survivable ?? 0) <= 1);
    }),
    { numRuns: 500 },
  );
});

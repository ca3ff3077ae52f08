import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLogFrame, logTicks } from '../../src/report/plot/frame.ts';

const span = { fromMs: 0, toMs: 100, heightPx: 300 };

test('every factor of ten has the same height', () => {
  const { y, ticks } = createLogFrame({ ...span, min: 0.1, max: 100 });
  assert.deepEqual(ticks, [0.1, 1, 10, 100]);
  assert.deepEqual(ticks.map(y.at).map(Math.round), [300, 200, 100, 0]);
});

test('ticks are round, ascend, reach the highest value, and the lowest unless it is too far down', () => {
  const size = fc.double({ min: 1e-12, max: 1e12, noNaN: true });
  fc.assert(
    fc.property(size, size, (one, other) => {
      const [min, max] = [Math.min(one, other), Math.max(one, other)];
      const ticks = logTicks(min, max);
      assert.ok((ticks.at(-1) ?? 0) >= max * (1 - 1e-6) && ticks.length <= 10, `${ticks} for ${min} to ${max}`);
      assert.ok(ticks.every((tick, i) => i === 0 || tick > (ticks[i - 1] ?? 0)));
      assert.ok((ticks[0] ?? 0) <= min * (1 + 1e-6) || (ticks[0] ?? 0) < max / 1e5, `${ticks} for ${min} to ${max}`);
    }),
  );
  assert.deepEqual(logTicks(0.3, 8), [0.2, 0.5, 1, 2, 5, 10]);
  assert.deepEqual(logTicks(0.3, 150), [0.2, 1, 10, 100, 200]);
  assert.deepEqual(logTicks(1, 1), [1, 2]);
});

test('zero, negative values and NaN are drawn at the lower edge', () => {
  const { y } = createLogFrame({ ...span, min: 0, max: 0 });
  assert.deepEqual([0, -3, Number.NaN, 1e300].map(y.at), [300, 300, 300, 0]);
});

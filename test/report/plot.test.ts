import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toHtml } from '../../src/report/html.ts';
import { condense, type Point } from '../../src/report/plot/curve.ts';
import {
  createFrame,
  createLogFrame,
  linearScale,
  logTicks,
  roundTicks,
  timeTicks,
} from '../../src/report/plot/frame.ts';
import { line, pathData, spread, stack, stackNames } from '../../src/report/plot/shapes.ts';

function pointsOf(values: readonly number[], stepMs = 10): readonly Point[] {
  return values.map((value, i) => ({
    fromMs: i * stepMs,
    toMs: (i + 1) * stepMs,
    value,
    low: value,
    high: value,
    weight: stepMs,
  }));
}

const frame = createFrame({ fromMs: 0, toMs: 100, max: 10, heightPx: 100 });

test('a condensed line has a point per column and keeps the lowest and the highest value', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 300 }),
      fc.integer({ min: 1, max: 20 }),
      (values, columns) => {
        const [run = []] = condense([pointsOf(values)], 0, (values.length * 10) / columns, 'mean');
        assert.ok(run.length <= columns);
        assert.equal(Math.min(...run.map(({ low }) => low)), Math.min(...values));
        assert.equal(Math.max(...run.map(({ high }) => high)), Math.max(...values));
        const sum = run.reduce((total, { value, weight }) => total + value * weight, 0);
        assert.ok(Math.abs(sum - values.reduce((total, value) => total + value * 10, 0)) < 1e-3);
      },
    ),
  );
});

test('a column with several values shows the highest percentile, or the median limit', () => {
  const [worst] = condense([pointsOf([3, 90, 5])], 0, 1000, 'worst');
  const [middle] = condense([pointsOf([3, 90, 5])], 0, 1000, 'middle');
  assert.deepEqual([worst?.[0]?.value, middle?.[0]?.value], [90, 5]);
});

test('ticks are round, begin at 0 and reach the highest value', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-12, max: 1e12, noNaN: true }), fc.integer({ min: 2, max: 8 }), (max, count) => {
      const ticks = roundTicks(max, count);
      assert.equal(ticks[0], 0);
      assert.ok((ticks.at(-1) ?? 0) >= max * (1 - 1e-6), `${ticks} for ${max}`);
      assert.ok(ticks.length <= count + 2);
    }),
  );
  assert.deepEqual(roundTicks(380, 4), [0, 100, 200, 300, 400]);
  assert.deepEqual(roundTicks(2, 4), [0, 0.5, 1, 1.5, 2]);
  assert.deepEqual(roundTicks(2, 4, true), [0, 1, 2]);
  assert.deepEqual(roundTicks(24, 4, true), [0, 10, 20, 30]);
});

test('ticks of times are round, inside the span, and bounded in number', () => {
  assert.deepEqual(timeTicks(0, 225_000, 12), [0, 30_000, 60_000, 90_000, 120_000, 150_000, 180_000, 210_000]);
  fc.assert(
    fc.property(
      fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
      fc.double({ min: 0, max: 1e9, noNaN: true }),
      (fromMs, lengthMs) => {
        const ticks = timeTicks(fromMs, fromMs + lengthMs, 12);
        assert.ok(ticks.length <= 13 && ticks.every((at) => at >= fromMs && at <= fromMs + lengthMs));
      },
    ),
  );
});

test('a scale never leaves the drawing, at any value', () => {
  const scale = linearScale(0, 10, 100, 0);
  assert.deepEqual(
    [-5, 0, 5, 10, 1e300, Number.NaN, Number.POSITIVE_INFINITY].map(scale.at),
    [100, 100, 50, 0, 0, 100, 100],
  );
  assert.equal(linearScale(7, 7, 0, 1000).at(7), 0);
});

test('rounding errors of a path do not add up', () => {
  const places = Array.from({ length: 1000 }, (_, i) => [i * 0.333, 50] as const);
  const across = [...pathData(places).matchAll(/h(-?[\d.]+)/g)].reduce((sum, [, step]) => sum + Number(step), 0);
  assert.ok(Math.abs(across - 999 * 0.333) < 0.06, String(across));
});

test('a line has a gap where nothing was measured, and a single point is drawn over its period', () => {
  const [a = [], b = []] = [pointsOf([1, 2, 3]), pointsOf([5]).map((point) => ({ ...point, fromMs: 80, toMs: 100 }))];
  assert.equal(toHtml(line(frame, [a, b], 'x')).match(/M/g)?.length, 2);
  assert.match(toHtml(line(frame, [b], 'x')), /d="M800 50h200"/);
  assert.equal(spread(frame, [a], 'x'), undefined);
});

test('areas are stacked, an outcome that did not occur has no area, and names are drawn only where they fit', () => {
  const layers = [
    { name: 'hit-l1', style: 'a' },
    { name: 'shed', style: 'b' },
    { name: 'thin', style: 'c' },
    { name: 'top', style: 'd' },
  ];
  const piles = [{ fromMs: 0, toMs: 100, values: [6, 0, 0.5, 1] }];
  const drawn = stack(frame, [piles], layers).map(toHtml);
  assert.equal(drawn.length, 3);
  assert.match(drawn[0] ?? '', /d="M0 40h1000v60h-1000z"/);
  assert.match(drawn[1] ?? '', /d="M0 35h1000v5h-1000z"/);
  assert.deepEqual(
    stackNames(frame, [piles], layers).map((name) => />(.*?)</.exec(toHtml(name))?.[1]),
    ['hit-l1'],
  );
});

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

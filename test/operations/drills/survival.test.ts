import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { measuredSurvival } from '../../../src/operations/drills/result.ts';
import { type Figures, figuresBetween } from '../../../src/operations/meter/figures.ts';
import { plain } from '../../plain.ts';

const nothing = figuresBetween(new Map(), new Map());
/** 1000 searches per second for 100 s with 100 engine calls of 10 ms and 8 slots: the engine has eight times the capacity. */
const BASELINE: Figures = {
  ...nothing,
  ...{ seconds: 100, searches: 100_000, searchesPerSecond: 1000, hitRatio: 0.9 },
  ...{ engineCallsPerSecond: 100, engineCallMs: 10, engineMax: 8 },
};
const asked = (engineCallsPerSecond: number, seconds = 2): Figures => ({ ...BASELINE, seconds, engineCallsPerSecond });
const LOST = { baseline: BASELINE, saturated: false };

test('each figure is a range around the counted value, in proportion to the lost share', () => {
  // The loss of half of the keys made four times as many calls, so a loss of all would make seven; the engine serves eight.
  const four = measuredSurvival({ ...LOST, worst: asked(400), share: 0.5 });
  assert.deepEqual(four, {
    headroom: { low: 7.8, high: 8.2 },
    headroomLeft: { low: 1.8, high: 2.2 },
    amplification: { low: 6.2, high: 7.8 },
    survivable: { low: 1, high: 1 },
  });
  const { survivable } = measuredSurvival({ ...LOST, worst: asked(475), share: 0.5 });
  assert.deepEqual(survivable, { low: 0.82, high: 1 });
});

test('a loss of 1 % gives no figures for a loss of everything', () => {
  const { amplification, survivable, headroom } = measuredSurvival({ ...LOST, worst: asked(130), share: 0.01 });
  assert.deepEqual([amplification, survivable], [undefined, undefined]);
  assert.ok(headroom !== undefined);
});

test('a loss whose effect may be chance gives no figures', () => {
  assert.equal(measuredSurvival({ ...LOST, worst: asked(110), share: 0.5 }).survivable, undefined);
  assert.ok(measuredSurvival({ ...LOST, worst: asked(110, 60), share: 0.5 }).survivable !== undefined);
});

test('a few engine calls give no figures', () => {
  const few = { ...BASELINE, engineCallsPerSecond: 0.19 };
  assert.deepEqual(plain(measuredSurvival({ baseline: few, worst: asked(1), share: 1, saturated: false })), {});
  assert.deepEqual(plain(measuredSurvival({ baseline: nothing, worst: undefined, share: 0, saturated: false })), {});
});

test('no headroom above twenty times the calls is reported', () => {
  const idle = { ...BASELINE, engineCallMs: 0.1 };
  const { headroom } = measuredSurvival({ baseline: idle, worst: undefined, share: 0, saturated: false });
  assert.deepEqual(plain(headroom), { low: 20 });
});

test('for a full engine the amplification reaches up to its maximum', () => {
  const { amplification } = measuredSurvival({ ...LOST, worst: asked(200), share: 0.5, saturated: true });
  assert.ok((amplification?.high ?? 0) >= 9.8, JSON.stringify(amplification));
});

test('for any counts a range has its ends in order, and f* is a share', () => {
  const number = fc.double({ min: 0, max: 1e6, noNaN: true });
  const ratio = fc.double({ min: 0, max: 1, noNaN: true });
  const figures = fc
    .record({
      ...{ seconds: number, searchesPerSecond: number, engineCallsPerSecond: number, engineCallMs: number },
      ...{ engineMax: number, hitRatio: ratio },
    })
    .map((parts): Figures => ({ ...nothing, ...parts }));
  fc.assert(
    fc.property(figures, figures, ratio, fc.boolean(), (baseline, worst, share, saturated) => {
      const survival = measuredSurvival({ baseline, worst, share, saturated });
      for (const [name, { low, high = low }] of Object.entries(plain(survival))) {
        assert.ok(Number.isFinite(low) && Number.isFinite(high) && low <= high && low >= 0, `${name}: ${low}–${high}`);
      }
      assert.ok((survival.survivable?.high ?? 0) <= 1);
    }),
    { numRuns: 500 },
  );
});

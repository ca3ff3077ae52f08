import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ladder } from '../../../loadtest/k6/kit/ladder.ts';
import { firstNumbers, lastSecond, stepAt } from '../../../loadtest/k6/kit/schedule.ts';
import { holdOf, inTurn } from '../../../loadtest/k6/kit/step.ts';

const LIMITS = { maxErrorRate: 0.001, abortErrorRate: 0.05, shedsAllowed: false };
const steps = inTurn([
  { name: 'warm', title: 'warming up', rampSeconds: 5, holdSeconds: 20, ratePerSecond: 100 },
  ...ladder({ baseRps: 100, multipliers: [1, 2.5], rampSeconds: 2, holdSeconds: 10, limits: LIMITS }),
]);

test('each step begins when the one before has ended', () => {
  assert.deepEqual(
    steps.map(({ name, startSeconds, ratePerSecond }) => [name, startSeconds, ratePerSecond]),
    [
      ['warm', 0, 100],
      ['x1', 25, 100],
      ['x2-5', 37, 250],
    ],
  );
  assert.deepEqual(steps.map(holdOf), [
    [5, 25],
    [27, 37],
    [39, 49],
  ]);
  assert.equal(lastSecond(steps), 49);
});

test('no step holds during a ramp, nor before or after the run', () => {
  const names = [-1, 0, 4.9, 5, 24.9, 25, 27, 38.9, 39, 48.9, 49].map((at) => stepAt(steps, at)?.name);
  const none = undefined;
  assert.deepEqual(names, [none, none, none, 'warm', 'warm', none, 'x1', none, 'x2-5', 'x2-5', none]);
});

test('no two steps ask with the same number, however many they send', () => {
  const first = firstNumbers(steps);
  assert.deepEqual([...first.keys()], ['warm', 'x1', 'x2-5']);
  assert.ok((first.get('x1') ?? 0) >= 25 * 100);
  assert.ok((first.get('x2-5') ?? 0) - (first.get('x1') ?? 0) >= 12 * 100);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  BREAK_SECONDS,
  firstNumbers,
  holdOf,
  inTurn,
  ladder,
  lastSecond,
  momentOf,
  segmentsOf,
  stepAt,
} from '../../../loadtest/k6/kit/step.ts';
import { pluck, rowsOf } from '../../pluck.ts';

const LIMITS = { maxErrorRate: 0.001, abortErrorRate: 0.05, shedsAllowed: false };
const RUNGS = inTurn([
  { name: 'warm', title: 'warming up', rampSeconds: 5, holdSeconds: 20, ratePerSecond: 100 },
  ...ladder({ baseRps: 100, multipliers: [1, 2.5], rampSeconds: 2, holdSeconds: 10, limits: LIMITS }),
]);
const SPIKE = inTurn([
  { name: 'calm', title: '', rampSeconds: 5, holdSeconds: 10, ratePerSecond: 100 },
  { name: 'spike', title: '', goesOn: true, rampSeconds: 0, holdSeconds: 5, ratePerSecond: 500 },
  { name: 'after', title: '', goesOn: true, rampSeconds: 2, holdSeconds: 10, ratePerSecond: 100 },
  { name: 'later', title: '', rampSeconds: 0, holdSeconds: 10, ratePerSecond: 100 },
]);

test('each step begins one break after the previous one ended, or at once where it continues', () => {
  assert.equal(BREAK_SECONDS, 1.5);
  assert.deepEqual(rowsOf(RUNGS, 'name', 'startSeconds', 'ratePerSecond'), [
    ['warm', 0, 100],
    ['x1', 26.5, 100],
    ['x2-5', 40, 250],
  ]);
  assert.deepEqual(SPIKE.map(holdOf), [
    [5, 15],
    [15, 20],
    [22, 32],
    [33.5, 43.5],
  ]);
  assert.equal(lastSecond(RUNGS), 52);
});

test('no step holds during a ramp or a break, nor before or after the run', () => {
  const names = [-1, 4.9, 5, 24.9, 25, 28.4, 28.5, 38.4, 38.5, 42, 51.9, 52].map((at) => stepAt(RUNGS, at)?.name);
  const none = undefined;
  assert.deepEqual(names, [none, none, 'warm', 'warm', none, none, 'x1', 'x1', none, 'x2-5', 'x2-5', none]);
});

test('steps that continue belong to one segment with the step they follow', () => {
  assert.deepEqual(
    segmentsOf(SPIKE).map(({ name, steps }) => [name, steps.map((step) => step.name)]),
    [
      ['calm', ['calm', 'spike', 'after']],
      ['later', ['later']],
    ],
  );
  assert.deepEqual(pluck(segmentsOf(RUNGS), 'name'), ['warm', 'x1', 'x2-5']);
});

test('a segment knows its current step, and whether the rate holds or still climbs', () => {
  const [first, second] = segmentsOf(SPIKE);
  if (first === undefined || second === undefined) throw new Error('there are two');
  const at = (seconds: number) => {
    const { step, holds } = momentOf(first, seconds * 1000);
    return `${step.name} ${holds}`;
  };
  assert.deepEqual([0, 4.9, 5, 14.9, 15, 20, 21.9, 22, 31.9, 32.5].map(at), [
    'calm false',
    'calm false',
    'calm true',
    'calm true',
    'spike true',
    'after false',
    'after false',
    'after true',
    'after true',
    'after false',
  ]);
  // The segment has its own clock, not that of the run.
  assert.deepEqual(momentOf(second, 0).step.name, 'later');
});

test('no two segments use the same search number, however many searches they send', () => {
  const first = firstNumbers(segmentsOf(RUNGS));
  assert.deepEqual([...first.keys()], ['warm', 'x1', 'x2-5']);
  assert.ok((first.get('x1') ?? 0) >= 25 * 100);
  assert.ok((first.get('x2-5') ?? 0) - (first.get('x1') ?? 0) >= 12 * 100);
  const spike = firstNumbers(segmentsOf(SPIKE));
  assert.ok((spike.get('later') ?? 0) >= 15 * 100 + 5 * 500 + 12 * 500);
});

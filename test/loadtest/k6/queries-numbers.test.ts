import assert from 'node:assert/strict';
import { test } from 'node:test';
import { numbersOf } from '../../../loadtest/k6/kit/queries.ts';

const COUNT = 100_000;
/** Five standard deviations of the mean of COUNT products of two numbers, each uniform around 0. */
const NEAR_ZERO = (5 * (1 / 12)) / Math.sqrt(COUNT);

/** The draw-th number of each n, centred on 0. */
function numbers(seed: number, draw: number): number[] {
  return Array.from({ length: COUNT }, (_, n) => {
    const next = numbersOf(seed, n);
    for (let before = 0; before < draw; before += 1) next();
    return next() - 0.5;
  });
}

function covariance(left: readonly number[], right: readonly number[]): number {
  let sum = 0;
  for (const [at, value] of left.entries()) sum += value * (right[at] ?? 0);
  return sum / left.length;
}

test('the same seed and n give the same numbers, and another seed or n gives others', () => {
  const list = (seed: number, n: number): number[] => Array.from({ length: 8 }, numbersOf(seed, n));
  assert.deepEqual(list(1, 7), list(1, 7));
  const others = [list(1, 7), list(1, 8), list(2, 7), list(7, 1), list(0, 0)];
  assert.equal(new Set(others.flat()).size, 40);
});

test('numbers are uniform over all sixteenths of 0 to 1', () => {
  for (const draw of [0, 1, 5]) {
    const bins = new Array<number>(16).fill(0);
    for (const value of numbers(42, draw)) {
      assert.ok(value >= -0.5 && value < 0.5);
      const bin = Math.floor((value + 0.5) * 16);
      bins[bin] = (bins[bin] ?? 0) + 1;
    }
    const wanted = COUNT / 16;
    const statistic = bins.reduce((sum, seen) => sum + (seen - wanted) ** 2 / wanted, 0);
    assert.ok(statistic < 15 + 5 * Math.sqrt(30), `${statistic} at 15 degrees of freedom, draw ${draw}`);
  }
});

test('neighbouring n are uncorrelated: in the same draw, in the next one, and with the next seed', () => {
  const [first, second] = [numbers(1, 0), numbers(1, 1)];
  const pairs: readonly (readonly [string, readonly number[], readonly number[]])[] = [
    ['n and n + 1', first, first.slice(1)],
    ['n and n + 1, a draw later', second, first.slice(1)],
    ['n + 1 and n, a draw later', first, second.slice(1)],
    ['draws of one n', first, second],
    ['seeds', first, numbers(2, 0)],
    ['seeds and n', first, numbers(2, 0).slice(1)],
  ];
  for (const [name, left, right] of pairs) {
    const value = covariance(left, right);
    assert.ok(Math.abs(value) < NEAR_ZERO, `${name}: ${value}`);
  }
});

test('n up to 2^32 gives numbers of the same quality', () => {
  for (const [seed, n] of [
    [0, 0],
    [2 ** 32 - 1, 2 ** 32 - 1],
    [2 ** 31, 2 ** 31],
  ] as const) {
    const next = numbersOf(seed, n);
    const values = Array.from({ length: 1000 }, next);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    assert.ok(Math.abs(mean - 0.5) < 0.05, `${mean}`);
  }
});

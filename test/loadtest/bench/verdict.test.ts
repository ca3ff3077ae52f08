import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  differs,
  exitStatusOf,
  figureOf,
  goalVerdict,
  ratiosOf,
  STARTS,
  type Verdict,
  verdictOf,
} from '../../../loadtest/bench/verdict.ts';

const COMMITTED = { figure: 0.62, noise: 0.04 };
const around = (median: number): readonly number[] => [0.1, median - 0.01, median, median + 0.01, 2];

test('a figure is the median of its starts, and its noise is the distance from the median to the lowest', () => {
  assert.deepEqual(figureOf([0.7, 0.58, 0.61, 0.62, 0.66]), { figure: 0.62, noise: 0.04 });
  assert.deepEqual(figureOf([0.6, 0.64, 0.1, 0.9]), { figure: 0.62, noise: 0.52 });
  assert.deepEqual(figureOf([1 / 3]), { figure: 0.3333, noise: 0 });
  assert.throws(() => figureOf([]), /no start was measured/);
});

test('a bench is slower when its median is below the committed figure by more than the committed noise', () => {
  const kinds = [0.62, 0.9, 0.58, 0.5799, 0.3].map((median) => verdictOf(around(median), COMMITTED).kind);
  assert.deepEqual(kinds, ['held', 'held', 'held', 'slower', 'slower']);
});

test('fewer than five starts are not judged, however slow they were', () => {
  const starts = around(0.1).slice(0, STARTS - 1);
  assert.deepEqual(verdictOf(starts, COMMITTED), {
    kind: 'not judged',
    reason: 'measured 4 of at least 5 starts',
  });
});

test('the exit status is 1 for one bench that is slower, 2 when one was not judged, 0 when all held', () => {
  const held: Verdict = { kind: 'held', committed: COMMITTED };
  const slower: Verdict = { kind: 'slower', committed: COMMITTED };
  const unknown: Verdict = { kind: 'not judged', reason: 'errors' };
  const statuses = [[held, held], [held, slower, unknown], [held, unknown], []].map(exitStatusOf);
  assert.deepEqual(statuses, [0, 1, 2, 2]);
});

test('two versions differ when the median of their ratios is outside the range that one version shows against itself', () => {
  const same = [0.96, 1.02, 0.99, 1.03, 1];
  assert.equal(differs([0.97, 0.95, 1.1, 0.99, 0.9], same), false);
  assert.equal(differs([0.95, 0.94, 1.1, 0.95, 0.9], same), true);
  assert.equal(differs([1.04, 1.05, 1.1, 0.95, 1.2], same), true);
  assert.equal(differs([], same), undefined);
});

test('a goal is reached, its floor is held, or it is missed; a part that is not set is never reached', () => {
  const both = { goal: 1.25, floor: 1 };
  assert.deepEqual(
    [1.25, 1.2499, 1, 0.9999].map((figure) => goalVerdict(figure, both)),
    ['goal', 'floor', 'floor', 'below'],
  );
  assert.equal(goalVerdict(1.3, { floor: 1.2 }), 'floor');
  assert.equal(goalVerdict(1, { goal: 1.1 }), 'below');
});

test('ratios are of one start each', () => {
  const starts = [
    { a: 2, b: 1 },
    { a: 30, b: 60 },
  ];
  assert.deepEqual(ratiosOf(starts, 'a', 'b'), [2, 0.5]);
  assert.ok(ratiosOf(starts, 'a', 'c').every(Number.isNaN));
});

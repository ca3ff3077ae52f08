import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alternately, medianRun, onceMore, wholeRounds } from '../../../../loadtest/labs/kit/rounds.ts';

const measuredAs = async (...rows: readonly string[]) => {
  let [measured, again] = [0, 0];
  const row = await onceMore(
    async () => rows[measured++] ?? 'none',
    (one) => one.startsWith('disturbed'),
    () => {
      again += 1;
    },
  );
  return { row, measured, again };
};

test('a disturbed row is measured a second time, which is reported, and not a third time', async () => {
  assert.deepEqual(await measuredAs('calm', 'other'), { row: 'calm', measured: 1, again: 0 });
  assert.deepEqual(await measuredAs('disturbed', 'calm'), { row: 'calm', measured: 2, again: 1 });
  assert.deepEqual(await measuredAs('disturbed', 'disturbed twice', 'calm'), {
    row: 'disturbed twice',
    measured: 2,
    again: 1,
  });
});

test('variants alternate, forwards and backwards, and each keeps its median run', async () => {
  const order: string[] = [];
  const figures: Record<string, number[]> = { a: [9, 1, 5], b: [2, 3, 1] };
  const all = await alternately(
    ['a', 'b'],
    3,
    async (variant, before: readonly number[]) => {
      order.push(variant);
      return figures[variant]?.[before.length] ?? 0;
    },
    (run) => run,
  );
  assert.equal(order.join(''), 'abbaab');
  assert.deepEqual(all, [5, 2]);
  assert.equal(
    medianRun([4, 2], (run) => run),
    2,
  );
});

test('at least two rounds of the requests in flight are sent', () => {
  assert.equal(wholeRounds({ clients: 2, pipeline: 5000, perSecond: 10_000, seconds: 0.3 }), 20_000);
  assert.equal(wholeRounds({ clients: 2, pipeline: 4, perSecond: 1000, seconds: 0.5 }), 500);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onceMore } from '../../../../loadtest/labs/kit/rounds.ts';

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

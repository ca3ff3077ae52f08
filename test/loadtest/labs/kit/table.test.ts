import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillFirst } from '../../../../loadtest/labs/kit/table.ts';

const table = (...commands: readonly (string | undefined)[]) => ({
  title: '',
  columns: [],
  rows: commands.map((command) => ({ name: '', values: [], ...(command !== undefined && { command }) })),
});

test('only the first printed command fills the store', () => {
  const filled = fillFirst('fill', [table(undefined), table(undefined, 'a', 'b', 'a'), table('a')]);
  assert.deepEqual(
    filled.map(({ rows }) => rows.map(({ command }) => command)),
    [[undefined], [undefined, 'fill && a', 'b', 'fill && a'], ['a']],
  );
});

test('tables without commands stay unchanged', () => {
  assert.deepEqual(fillFirst('fill', [table(undefined)]), [table(undefined)]);
});

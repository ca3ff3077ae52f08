import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runMatrix } from './matrix.ts';
import { select } from './registry.ts';

/** What `npm run faults` runs in full, four rows of it, on a bed that is quick to warm. */
const ROWS = ['node-stopped', 'values-corrupted', 'engine-killed', 'out-of-memory'];

describe('the fault matrix, in short', { timeout: 240_000 }, () => {
  test(`keeps its promises: ${ROWS.join(', ')}`, async () => {
    const lines: string[] = [];
    const { rows } = select(ROWS);
    assert.equal(rows.length, ROWS.length);
    const held = await runMatrix(
      // Beside other tests the machine is nobody's: how quick the answers are is for `npm run faults` to judge.
      { rows: rows.map((row) => ({ ...row, bounds: { ...row.bounds, p95Ratio: 20 } })), figures: [] },
      {
        checkout: join(import.meta.dirname, '..', '..'),
        repeat: 1,
        seed: 1,
        repeated: 250,
        documents: 2500,
        print: (line) => lines.push(line),
      },
    );
    assert.ok(held, `\n${lines.join('\n')}`);
  });

  test('knows its rows by name only', () => {
    assert.throws(() => select(['node-killed', 'no-such-row']), /there is no no-such-row; known: store-nodes, /);
  });
});

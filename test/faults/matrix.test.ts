import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { EXIT } from '../../src/commands/arguments.ts';
import { temporaryFolder } from '../folder.ts';
import { pluck } from '../pluck.ts';
import { runMatrix } from './matrix.ts';
import { BY_NAME, FAMILIES, select } from './registry.ts';
import type { Row } from './row.ts';

/** Four rows of the matrix on a small harness, and the row that must be red. */
const ROWS = ['node-stopped', 'values-corrupted', 'engine-killed', 'out-of-memory'];
const RED = 'broken-on-purpose';
/** Why judge.ts calls an attempt invalid on a machine that is too slow for the load. */
const OF_A_SLOW_MACHINE = /^(?:the generator lagged|the control missed, too|the control|the machine is too busy): /;

interface Found {
  readonly name: string;
  readonly outcome: string;
  readonly tries: readonly { readonly harm: readonly string[]; readonly invalid?: string }[];
}

/** For a busy machine: half of the rate, no bound of time, and one attempt. `npm run faults` judges the times. */
const relaxed = (row: Row): Row => ({
  ...row,
  ratePerSecond: 100,
  changes: { ...row.changes, public: { maxLoopDelay: '1m', ...row.changes?.public } },
  bounds: { ...row.bounds, p95Ratio: 1000, recoverySeconds: 60, refusedWithinMs: Number.POSITIVE_INFINITY },
  maxAttempts: 1,
});

describe('the fault matrix, four rows of it', () => {
  test(`the promises of ${ROWS.join(', ')} are kept, and ${RED} is red although its attempt is invalid`, async (t) => {
    const jsonFile = join(temporaryFolder(t), 'out.json');
    const lines: string[] = [];
    const rows = select([...ROWS, RED]);
    const status = await runMatrix(rows.map(relaxed), {
      checkout: join(import.meta.dirname, '..', '..'),
      repeat: 1,
      seed: 1,
      repeated: 250,
      documents: 2500,
      jsonFile,
      print: (line) => lines.push(line),
    });
    const output = `\n${lines.join('\n')}`;
    const found = (JSON.parse(readFileSync(jsonFile, 'utf8')) as { readonly rows: readonly Found[] }).rows;
    const kept = found.filter(({ name }) => name !== RED);
    assert.deepEqual(pluck(kept, 'name'), ROWS, output);
    for (const { outcome, tries } of kept) {
      const [{ harm = [], invalid = '' } = {}] = tries;
      assert.ok(outcome === 'green' || OF_A_SLOW_MACHINE.test(invalid), output);
      // Nothing excuses a wrong answer.
      const wrong = harm.filter((one) => !/ hung requests$/.test(one));
      assert.deepEqual(wrong, [], output);
    }
    const red = found.find(({ name }) => name === RED);
    assert.equal(red?.outcome, 'red', output);
    assert.equal(red.tries.length, 1, output);
    assert.match(red.tries[0]?.harm.join() ?? '', /wrong answers/, output);
    assert.match(red.tries[0]?.invalid ?? '', /could not be run: given up on purpose/, output);
    assert.equal(status, EXIT.failed, output);
  });

  test('every row has its own name, an unknown one is refused, and the red one is not in the matrix', () => {
    const rows = select([]);
    const names = [...Object.values(FAMILIES).flat(), ...BY_NAME].map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    assert.deepEqual(select([RED]), BY_NAME);
    assert.ok(!rows.some((row) => BY_NAME.includes(row)));
    assert.throws(() => select(['node-killed', 'no-such-row']), /there is no no-such-row; known: store-nodes, /);
  });
});

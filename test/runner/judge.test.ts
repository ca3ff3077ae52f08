import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FinishedRun, type Judgement, judge } from './judge.ts';

/** The floors of runs. What else makes a run fail is shown by run.slow.test.ts on real runs. */

const FLOOR = { tests: 4, all: 5, quick: 3, optional: { server: 2 } };
const ABSENT = { name: 'server', how: 'set SERVER', file: 'test/b.test.ts', present: false };
const PRESENT = { ...ABSENT, present: true };

function judged(tests: number, run: Partial<FinishedRun> = {}): Judgement {
  const testsOf = new Map([['test/a.test.ts', tests]]);
  const whole = { scope: 'all', narrowed: false, tests, testsOf, skips: [], skipsAllowed: true, newFiles: [] } as const;
  return judge({ ...whole, optional: [ABSENT], ...run }, FLOOR);
}

test('a run at its floor passes, one below it fails with both numbers, and one above it says so', () => {
  for (const [scope, least] of [
    ['all', 5],
    ['quick', 3],
    ['tests', 4],
  ] as const) {
    assert.deepEqual(judged(least, { scope }).faults, []);
    assert.deepEqual(judged(least - 1, { scope }).faults, [
      `${least - 1} tests ran, test/floor.json asks for ${least}`,
    ]);
    assert.deepEqual(judged(9, { scope }).notes, [`test/floor.json may be raised: "${scope}": 9`]);
  }
});

test('an optional suite that is present raises the floor of a whole run by its tests', () => {
  const optional = [PRESENT];
  assert.deepEqual(judged(5, { optional }).faults, ['5 tests ran, test/floor.json asks for 5 and 2 for server']);
  assert.deepEqual(judged(7, { optional }), { faults: [], notes: [], lastLine: undefined });
  assert.deepEqual(judged(4, { optional, scope: 'tests' }), { faults: [], notes: [], lastLine: undefined });
});

test('an optional suite that the floor does not know, or that no file registers, fails', () => {
  assert.deepEqual(judged(5, { optional: [{ ...ABSENT, name: 'other' }] }).faults, [
    'test/floor.json does not say how many tests the optional suite other adds',
    'no test file registers the optional suite server of test/floor.json',
  ]);
});

test('the floor does not judge a run of named paths, or of tests with certain names', () => {
  assert.deepEqual(judged(1, { scope: 'named paths', optional: [] }).faults, []);
  assert.deepEqual(judged(1, { narrowed: true, optional: [] }).faults, []);
});

test('a run in which every test was skipped fails, wherever it runs', () => {
  const skips = [{ kind: 'skip', file: 'test/a.test.ts', name: 'one', reason: 'needs root' }] as const;
  const run = { scope: 'named paths', optional: [], skips } as const;
  assert.deepEqual(judged(1, run).faults, ['every test was skipped or todo']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FinishedRun, type Judgement, judge } from './judge.ts';

const FLOOR = { tests: 4, all: 5, quick: 3, optional: { server: 2 } };
const ABSENT = { name: 'server', how: 'set SERVER', file: 'test/b.test.ts', present: false };

const TESTS_OF: FinishedRun['testsOf'] = new Map([
  ['test/a.test.ts', 2],
  ['test/b.test.ts', 3],
]);

function judged({ testsOf = TESTS_OF, ...run }: Partial<FinishedRun>): Judgement {
  const whole: FinishedRun = {
    scope: 'all',
    narrowed: false,
    tests: testsOf.values().reduce((sum, count) => sum + count, 0),
    testsOf,
    skips: [],
    skipsAllowed: true,
    optional: [ABSENT],
    newFiles: [],
  };
  return judge({ ...whole, ...run }, FLOOR);
}

test('a run at the floor passes, and its last line names the absent optional suite', () => {
  assert.deepEqual(judged({}), { faults: [], notes: [], lastLine: 'optional suites not run: server (set SERVER)' });
});

test('a suite that several files register is named once', () => {
  const { lastLine } = judged({ optional: [ABSENT, { ...ABSENT, file: 'test/a.test.ts' }] });
  assert.equal(lastLine, 'optional suites not run: server (set SERVER)');
});

test('fewer tests than the floor fail, with both numbers', () => {
  const testsOf = new Map([['test/a.test.ts', 4]]);
  assert.deepEqual(judged({ testsOf }).faults, ['4 tests ran, test/floor.json asks for 5']);
});

test('an optional suite that is present raises the floor by its tests', () => {
  const optional = [{ ...ABSENT, present: true }];
  const short = judged({ optional });
  assert.deepEqual(short.faults, ['5 tests ran, test/floor.json asks for 5 and 2 for server']);
  assert.equal(short.lastLine, undefined);
  const enough = new Map([['test/a.test.ts', 7]]);
  assert.deepEqual(judged({ optional, testsOf: enough }), { faults: [], notes: [], lastLine: undefined });
});

test('more tests than the floor pass, and a note gives the new possible floor', () => {
  const testsOf = new Map([['test/a.test.ts', 9]]);
  const { faults, notes } = judged({ testsOf });
  assert.deepEqual(faults, []);
  assert.deepEqual(notes, ['test/floor.json may be raised: "all": 9']);
  const present = judged({ testsOf, optional: [{ ...ABSENT, present: true }] });
  assert.deepEqual(present.notes, ['test/floor.json may be raised: "all": 7']);
});

test('quick runs and runs without slow files have their own floors, without optional suites', () => {
  for (const [scope, least] of [
    ['quick', 3],
    ['tests', 4],
  ] as const) {
    const testsOf = new Map([['test/a.test.ts', least]]);
    for (const optional of [[], [{ ...ABSENT, present: true }]])
      assert.deepEqual(judged({ scope, testsOf, optional }), { faults: [], notes: [], lastLine: undefined });
    const short = judged({ scope, testsOf: new Map([['test/a.test.ts', least - 1]]) });
    assert.deepEqual(short.faults, [`${least - 1} tests ran, test/floor.json asks for ${least}`]);
  }
});

test('an optional suite that the floor does not know, or that no file registers, fails', () => {
  const { faults } = judged({ optional: [{ ...ABSENT, name: 'other' }] });
  assert.deepEqual(faults, [
    'test/floor.json does not say how many tests the optional suite other adds',
    'no test file registers the optional suite server of test/floor.json',
  ]);
});

test('the floor does not judge a run of named paths, or of tests with certain names', () => {
  const testsOf = new Map([['test/a.test.ts', 1]]);
  assert.deepEqual(judged({ scope: 'named paths', testsOf, optional: [] }).faults, []);
  assert.deepEqual(judged({ narrowed: true, testsOf, optional: [] }).faults, []);
});

test('a file that registers no test fails and is named', () => {
  const testsOf = new Map([
    ['test/a.test.ts', 5],
    ['test/empty.test.ts', 0],
  ]);
  assert.deepEqual(judged({ testsOf }).faults, ['test/empty.test.ts registers no test']);
});

test('a file whose only suite is optional and absent does not count as a file without tests', () => {
  const testsOf = new Map([
    ['test/a.test.ts', 5],
    ['test/b.test.ts', 0],
  ]);
  assert.deepEqual(judged({ testsOf }).faults, []);
});

test('a file without a matching test passes while another file has one; no match at all fails', () => {
  const one = new Map([
    ['test/a.test.ts', 1],
    ['test/b.test.ts', 0],
  ]);
  assert.deepEqual(judged({ narrowed: true, testsOf: one }).faults, []);
  const none = new Map([['test/a.test.ts', 0]]);
  assert.deepEqual(judged({ narrowed: true, testsOf: none }).faults, ['no test matched']);
});

test('a run without a test fails', () => {
  assert.deepEqual(judged({ scope: 'named paths', testsOf: new Map() }).faults, ['no test ran']);
});

test('a skip is reported with its reason, and fails when skips are not allowed', () => {
  const skips = [
    { kind: 'skip', file: 'test/a.test.ts', name: 'one', reason: 'needs root' },
    { kind: 'todo', file: 'test/a.test.ts', name: 'two', reason: '' },
  ] as const;
  const notes = ['skip: test/a.test.ts: one: needs root', 'todo: test/a.test.ts: two: no reason given'];
  const allowed = judged({ skips });
  assert.deepEqual([allowed.faults, allowed.notes], [[], notes]);
  const forbidden = judged({ skips, skipsAllowed: false });
  assert.deepEqual(forbidden.faults, ['as root in CI every test must run: none may be skipped or todo']);
  assert.deepEqual(forbidden.notes, notes);
});

test('a run in which every test was skipped fails, wherever it runs', () => {
  const skips = [{ kind: 'skip', file: 'test/a.test.ts', name: 'one', reason: 'needs root' }] as const;
  const one = { scope: 'named paths', testsOf: new Map([['test/a.test.ts', 1]]), optional: [] } as const;
  assert.deepEqual(judged({ ...one, skips }).faults, ['every test was skipped or todo']);
});

test('a file that the run left in the project fails', () => {
  assert.deepEqual(judged({ newFiles: ['.building-1'] }).faults, ['the run left a file in the project: .building-1']);
});

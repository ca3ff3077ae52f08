import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { NotRun } from '../../src/commands/arguments.ts';
import { type WantedRun, wantedRun } from './wanted.ts';

const FILES = {
  'test/cache/a.test.ts': "import { start } from './start.ts';\nimport '../../src/pure.ts';\n",
  'test/cache/b.test.ts': "import type { start } from './start.ts';\n",
  'test/cache/start.ts': "import { spawn } from 'node:child_process';\n",
  'test/contract/store.ts': 'export const contract = 1;\n',
  'test/load/k6.test.ts': "import '../../loadtest/run/k6-program.ts';\n",
  'test/store.test.ts': "import { contract } from './contract/store.ts';\nawait import('../src/pure.ts');\n",
  'test/worker.test.ts': "new Worker(new URL('./cache/start.ts', import.meta.url));\n",
  'loadtest/run/k6-program.ts': "import { execFile } from 'node:child_process';\n",
  'src/pure.ts': 'export {};\n',
  'src/node_modules/p/p.test.ts': '',
};

function projectOf(t: TestContext): (...args: readonly string[]) => WantedRun | NotRun {
  const root = mkdtempSync(join(tmpdir(), 'serpcache-wanted-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return (...args) => wantedRun(args, root);
}

function run(wanted: WantedRun | NotRun): WantedRun {
  assert.ok(wanted.kind === 'run', JSON.stringify(wanted));
  return wanted;
}

function faultOf(wanted: WantedRun | NotRun): string {
  return wanted.kind === 'wrong' ? wanted.faults.join('\n') : assert.fail(`it is a ${wanted.kind}`);
}

test('without arguments every test file is run', (t) => {
  const { files, ...rest } = run(projectOf(t)());
  assert.deepEqual(
    files,
    Object.keys(FILES)
      .filter((file) => /^test.*\.test\.ts$/.test(file))
      .sort(),
  );
  const all = {
    kind: 'run',
    scope: 'everything',
    quick: false,
    narrowed: false,
    startsPrograms: true,
    startsK6: true,
    node: {},
  };
  assert.deepEqual(rest, all);
});

test('a quick run leaves out files that import, even indirectly, a module that starts programs', (t) => {
  const { files, startsPrograms, startsK6, scope } = run(projectOf(t)('--quick'));
  assert.deepEqual(files, ['test/cache/b.test.ts', 'test/store.test.ts']);
  assert.deepEqual([scope, startsPrograms, startsK6], ['quick', false, false]);
});

test('files, folders and patterns are resolved to files, each run once', (t) => {
  const wanted = projectOf(t);
  const { files, scope } = run(wanted('test/store.test.ts', 'test/cache', 'test/*.test.ts'));
  const expected = ['test/cache/a.test.ts', 'test/cache/b.test.ts', 'test/store.test.ts', 'test/worker.test.ts'];
  assert.deepEqual([files, scope], [expected, 'named paths']);
  assert.deepEqual(run(wanted('test/load/')).startsK6, true);
  assert.deepEqual(run(wanted('test/cache')).startsK6, false);
  assert.deepEqual([run(wanted('.')).files.length, run(wanted('.')).scope], [5, 'everything']);
  assert.equal(run(wanted('test')).scope, 'everything', 'the floor judges it');
});

test('a path without tests is refused, and the files that import it are named', (t) => {
  const wanted = projectOf(t);
  assert.equal(faultOf(wanted('test/contract')), 'test/contract has no *.test.ts; imported by test/store.test.ts');
  assert.equal(faultOf(wanted('test/contract/')), 'test/contract/ has no *.test.ts; imported by test/store.test.ts');
  assert.equal(
    faultOf(wanted('test/cache/start.ts')),
    'test/cache/start.ts is no *.test.ts; imported by test/cache/a.test.ts, test/worker.test.ts',
  );
  assert.equal(faultOf(wanted('test/nothing')), 'there is no test/nothing');
  assert.equal(faultOf(wanted('test/cache', 'test/nothing-*')), 'test/nothing-* has no *.test.ts');
  assert.equal(
    faultOf(wanted('src/pure.ts')),
    'src/pure.ts is no *.test.ts; imported by test/cache/a.test.ts, test/store.test.ts',
  );
});

test('a quick run of files that may all start programs is refused', (t) => {
  assert.match(faultOf(projectOf(t)('--quick', 'test/load')), /no --quick for them$/);
});

test("options of node's runner are passed on, in both forms; a selection by name narrows the run", (t) => {
  const wanted = projectOf(t);
  const named = run(wanted('--test-name-pattern', 'one', '--test-name-pattern=/two/i', '--test-skip-pattern=three'));
  assert.deepEqual(named.node, { testNamePatterns: ['one', '/two/i'], testSkipPatterns: ['three'] });
  assert.deepEqual([named.narrowed, named.scope], [true, 'everything']);
  assert.deepEqual(run(wanted('--test-only')).narrowed, true);
  const other = run(wanted('--test-concurrency=1', '--test-timeout=2000'));
  assert.deepEqual([other.node, other.narrowed], [{ concurrency: 1, timeout: 2000 }, false]);
});

test('an unknown option, or one without a value, is refused with what is allowed', (t) => {
  const wanted = projectOf(t);
  assert.match(faultOf(wanted('--watch')), /^unknown option --watch \(allowed: --quick, --test-concurrency, /);
  assert.equal(faultOf(wanted('--test-name-pattern')), '--test-name-pattern needs a value: TEXT');
  assert.equal(faultOf(wanted('--quick=yes')), '--quick takes no value');
  assert.match(faultOf(wanted('--test-name-pattern=/(/')), /^a pattern of --test-name-pattern .*Invalid regular/);
  for (const text of ['x', '0', '-1', ''])
    assert.match(faultOf(wanted(`--test-timeout=${text}`)), /--test-timeout/, text);
});

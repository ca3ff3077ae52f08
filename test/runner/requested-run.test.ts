import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { NotRun } from '../../src/commands/arguments.ts';
import { type RequestedRun, requestedRun } from './requested-run.ts';

const FILES = {
  'test/cache/a.test.ts': "import { start } from './start.ts';\nimport '../../src/pure.ts';\n",
  'test/cache/b.test.ts': "import type { start } from './start.ts';\n",
  'test/cache/start.ts': "import { spawn } from 'node:child_process';\n",
  'test/contract/store.ts': 'export const contract = 1;\n',
  'test/load/server.slow.test.ts':
    "import '../../loadtest/stack/redis-node.ts';\nimport 'playwright-core';\nstart('valkey');\n",
  'test/load/k6.test.ts': "import '../../loadtest/runner/k6-program.ts';\n",
  'test/store.test.ts': "import { contract } from './contract/store.ts';\nawait import('../src/pure.ts');\n",
  'test/worker.test.ts': "new Worker(new URL('./cache/start.ts', import.meta.url));\n",
  'loadtest/runner/k6-program.ts': "import { execFile } from 'node:child_process';\n",
  'loadtest/stack/redis-node.ts': "import { spawn } from 'node:child_process';\nspawn('redis-server');\n",
  'src/pure.ts': "export const known = ['searchd', 'valkey'];\n",
  'src/node_modules/p/p.test.ts': '',
};

function projectOf(t: TestContext): (...args: readonly string[]) => RequestedRun | NotRun {
  const root = mkdtempSync(join(tmpdir(), 'serpcache-requested-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return (...args) => requestedRun(args, root);
}

function run(requested: RequestedRun | NotRun): RequestedRun {
  assert.ok(requested.kind === 'run', JSON.stringify(requested));
  return requested;
}

function faultOf(requested: RequestedRun | NotRun): string {
  return requested.kind === 'wrong' ? requested.faults.join('\n') : assert.fail(`it is a ${requested.kind}`);
}

function filesOf({ units }: RequestedRun): string[] {
  return units.flat().sort();
}

test('without arguments every test file is run but the slow ones, which --all adds', (t) => {
  const requested = projectOf(t);
  const { units, ...rest } = run(requested());
  const every = Object.keys(FILES).filter((file) => /^test.*\.test\.ts$/.test(file));
  const all = run(requested('--all'));
  assert.deepEqual(
    filesOf(run(requested())),
    every.filter((file) => !file.includes('.slow.')),
  );
  assert.deepEqual([filesOf(all), all.scope], [every.sort(), 'all']);
  const { node: _, ...shape } = rest;
  assert.deepEqual(shape, {
    kind: 'run',
    scope: 'tests',
    quick: false,
    narrowed: false,
    parts: [],
    startsK6: true,
  });
  assert.deepEqual(filesOf(run(requested('test/load'))), ['test/load/k6.test.ts']);
  const slow = 'test/load/server.slow.test.ts';
  assert.deepEqual(filesOf(run(requested(slow))), [slow], 'a file that is named itself is run');
  assert.match(faultOf(requested('test/load/*.slow.test.ts')), /has only slow files: name one of them, or add --all$/);
  assert.match(faultOf(requested('--quick', '--all')), /give one of them/);
});

test('a quick run leaves out files that import, even indirectly, a module that starts programs', (t) => {
  const quick = run(projectOf(t)('--quick'));
  assert.deepEqual(filesOf(quick), ['test/cache/b.test.ts', 'test/store.test.ts']);
  assert.deepEqual([quick.scope, quick.startsK6], ['quick', false]);
});

test('a run needs the servers that its files start, and no others', (t) => {
  const requested = projectOf(t);
  assert.deepEqual(run(requested('test/cache')).parts, []);
  assert.deepEqual(run(requested('test/load', '--all')).parts, ['redis', 'valkey']);
  assert.deepEqual(run(requested('test/load/k6.test.ts')).parts, []);
});

test('files, folders and patterns are resolved to files, each run once', (t) => {
  const requested = projectOf(t);
  const some = run(requested('test/store.test.ts', 'test/cache', 'test/*.test.ts'));
  const expected = ['test/cache/a.test.ts', 'test/cache/b.test.ts', 'test/store.test.ts', 'test/worker.test.ts'];
  assert.deepEqual([filesOf(some), some.scope], [expected, 'named paths']);
  assert.deepEqual(run(requested('test/load/')).startsK6, true);
  assert.deepEqual(run(requested('test/cache')).startsK6, false);
  assert.deepEqual([filesOf(run(requested('.'))).length, run(requested('.')).scope], [5, 'tests']);
  assert.equal(run(requested('test')).scope, 'tests', 'the floor judges it');
});

test('a path without tests, an unknown option and a quick run of files that start programs are refused', (t) => {
  const requested = projectOf(t);
  assert.equal(faultOf(requested('test/contract')), 'test/contract has no *.test.ts');
  assert.equal(faultOf(requested('test/cache/start.ts')), 'test/cache/start.ts is no *.test.ts');
  assert.equal(faultOf(requested('test/nothing')), 'there is no test/nothing');
  assert.equal(faultOf(requested('test/cache', 'test/nothing-*')), 'test/nothing-* has no *.test.ts');
  assert.match(faultOf(requested('--quick', 'test/load')), /no --quick for them$/);
  assert.match(faultOf(requested('--watch')), /^unknown option --watch \(allowed: --all, --quick, /);
  assert.match(faultOf(requested('--test-name-pattern=/(/')), /^a pattern of --test-name-pattern .*Invalid regular/);
});

test('a selection by name narrows the run', (t) => {
  const requested = projectOf(t);
  const named = run(requested('--test-name-pattern', 'one', '--test-name-pattern=/two/i', '--test-skip-pattern=three'));
  assert.deepEqual(named.node.testNamePatterns, ['one', '/two/i']);
  assert.deepEqual([named.narrowed, named.scope], [true, 'tests']);
  assert.equal(run(requested('--test-concurrency=1')).narrowed, false);
});

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const RUN = fileURLToPath(new URL('../run.ts', import.meta.url));
const TEST = "import { test } from 'node:test';\n";

const folder = mkdtempSync(join(tmpdir(), 'serpcache-runner-'));
after(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');

interface Ended {
  readonly status: unknown;
  readonly out: readonly string[];
}

/** `npm test` over files given as text; it always names them, so that it never runs this file. */
function testRun(
  files: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<Ended> {
  const paths = Object.entries(files).map(([name, text]) => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  });
  // Node's runner refuses to run inside a test file, unless it does not know that it does.
  const surroundings = { ...process.env, NODE_TEST_CONTEXT: undefined, CI: undefined, ...env };
  return new Promise((resolve) => {
    execFile(process.execPath, [RUN, ...paths, ...args], { env: surroundings }, (error, stdout) =>
      resolve({ status: error === null ? 0 : error.code, out: stdout.trimEnd().split('\n') }),
    );
  });
}

test('a test that fails makes the run fail', async () => {
  const { status, out } = await testRun({ 'bad.test.ts': `${TEST}test('one', () => { throw new Error('no'); });` });
  assert.equal(status, 1);
  assert.ok(out.includes('ℹ fail 1'));
});

test('a red run ends with the names of the failed tests, and of a file that does not load', async () => {
  const bad = "describe('door', () => { test('shuts', () => { throw new Error('no'); }); test('opens', () => {}); });";
  const { out } = await testRun({
    'door.test.ts': `import { describe, test } from 'node:test';\n${bad}`,
    'gone.test.ts': "import './nowhere.ts';\ntest('one');",
  });
  const ends = out.slice(-2).map((line) => line.replace(/[^ ]*\//, ''));
  assert.deepEqual(ends, ['serpcache: failed: door.test.ts: door > shuts', 'serpcache: failed: gone.test.ts']);
});

test('files of one room share a process, where each test names its file', async () => {
  const files = Object.fromEntries(
    ['one', 'two'].map((name) => [
      `test/room/${name}.test.ts`,
      `${TEST}test('first', () => {}); test('pid', () => { throw new Error(String(process.pid)); });`,
    ]),
  );
  const { out } = await testRun(files);
  const pids = new Set(out.flatMap((line) => /Error: (\d+)$/.exec(line)?.[1] ?? []));
  assert.equal(pids.size, 1, out.join('\n'));
  const named = (lines: readonly string[]): string[] => lines.map((line) => line.replaceAll(/[^ ]*\/room\//g, ''));
  assert.deepEqual(named(out.slice(-2)), [
    'serpcache: failed: one.test.ts: pid',
    'serpcache: failed: two.test.ts: pid',
  ]);
  const broken = await testRun({ ...files, 'test/room/zero.test.ts': "import './nowhere.ts';\ntest('one');" });
  assert.deepEqual(named(broken.out.slice(-1)), ['serpcache: failed: one.test.ts, two.test.ts, zero.test.ts']);
});

test('a pattern that matches nothing makes the run fail', async () => {
  const files = { 'named.test.ts': `${TEST}test('one', () => {});` };
  const { status, out } = await testRun(files, ['--test-name-pattern=nothing-like-this']);
  assert.deepEqual([status, out.at(-1)], [1, 'serpcache: no test matched']);
  const named = await testRun(files, ['--test-name-pattern=one']);
  assert.equal(named.status, 0);
  assert.ok(named.out.includes('ℹ tests 1') && named.out.includes('ℹ pass 1'));
});

test('a file that registers no test makes the run fail, also in the process of another file', async () => {
  const full = `${TEST}test('one', () => {});`;
  for (const [folder, text] of [
    ['.', 'export const tests = [];'],
    ['test/room', `${TEST}for (const name of []) test(name, () => {});`],
  ]) {
    const { status, out } = await testRun({ [`${folder}/full.test.ts`]: full, [`${folder}/empty.test.ts`]: `${text}` });
    assert.equal(status, 1, out.join('\n'));
    assert.match(out.at(-1) ?? '', /empty\.test\.ts registers no test$/);
    assert.equal(out.filter((line) => line.includes('registers no test')).length, 1);
  }
});

test('a skip is reported with its reason; as root in CI it makes the run fail', async () => {
  const text = `${TEST}test('one', { skip: 'no server' }, () => {});\ntest('two', () => {});`;
  const files = { 'skip.test.ts': text };
  const free = await testRun(files);
  assert.equal(free.status, 0);
  assert.match(free.out.at(-1) ?? '', /^serpcache: skip: .*skip\.test\.ts: one: no server$/);
  assert.equal((await testRun(files, [], { CI: 'true' })).status, process.getuid?.() === 0 ? 1 : 0);
});

test('an optional suite runs when its server is present; otherwise the last line names it', async () => {
  const optional = new URL('../optional.ts', import.meta.url);
  const text = `${TEST}import { optional } from '${optional}';
optional('cellar', process.env.CELLAR, 'set CELLAR', (path) => test(path, () => {}));
test('other', () => {});`;
  const files = { 'optional.test.ts': text };
  const absent = await testRun(files);
  assert.deepEqual([absent.status, absent.out.at(-1)], [0, 'serpcache: optional suites not run: cellar (set CELLAR)']);
  const present = await testRun(files, [], { CELLAR: '/a' });
  assert.equal(present.status, 0);
  assert.ok(present.out.includes('ℹ tests 2'));
});

test('a test of a quick run cannot start a program that its imports do not show', async () => {
  const hidden = "const programs = process.getBuiltinModule('node:child_process');";
  const starts = ['spawn', 'exec', 'execFile', 'fork', 'spawnSync', 'execSync', 'execFileSync'];
  const tests = starts.map((start) => `test('${start}', () => { programs.${start}('true'); });`);
  const { status, out } = await testRun({ 'hidden.test.ts': [TEST, hidden, ...tests].join('\n') }, ['--quick']);
  assert.equal(status, 1);
  assert.ok(out.includes(`ℹ fail ${starts.length}`), out.join('\n'));
  assert.ok(out.some((line) => line.includes('a quick run starts no program')));
});

test('a process that a test leaves running is ended, and makes the run fail', async () => {
  const left = "spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).unref();";
  const text = `${TEST}import { spawn } from 'node:child_process';\ntest('one', () => { ${left} });`;
  const { status, out } = await testRun({ 'left.test.ts': text });
  assert.equal(status, 1);
  const [, pid] = /^serpcache: a test left a process running, ended now: (\d+) sleep 600$/.exec(out.at(-1) ?? '') ?? [];
  assert.ok(pid !== undefined, out.join('\n'));
  assert.equal(existsSync(`/proc/${pid}/cwd`), false);
});

test('a file that a test leaves in the project makes the run fail', async (t) => {
  const file = fileURLToPath(new URL('left-by-a-test', import.meta.url));
  t.after(() => rmSync(file, { force: true }));
  const text = `${TEST}import { writeFileSync } from 'node:fs';\ntest('one', () => writeFileSync('${file}', ''));`;
  const { status, out } = await testRun({ 'file.test.ts': text });
  assert.equal(status, 1);
  assert.match(out.at(-1) ?? '', /test\/runner\/left-by-a-test/);
});

test('a run that gets a signal ends its tests and fails', async () => {
  const path = join(folder, 'hangs.test.ts');
  writeFileSync(
    path,
    `${TEST}test('one', () => {});\ntest('two', () => new Promise(() => setInterval(() => {}, 1000)));`,
  );
  const run = spawn(process.execPath, [RUN, path], { env: { ...process.env, NODE_TEST_CONTEXT: undefined } });
  const closed = once(run, 'close');
  let out = '';
  run.stdout.on('data', (text) => {
    if (out === '') run.kill('SIGTERM');
    out += text;
  });
  assert.deepEqual(await closed, [1, null], out);
  assert.match(out, /SIGTERM/);
});

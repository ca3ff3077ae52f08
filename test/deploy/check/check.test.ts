import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { type Checker, hold, runCheckers } from '../../../deploy/check/checker.ts';
import { run } from '../../../deploy/check/tools.ts';

function checker(name: string, run: Checker['run']): Checker {
  return { name, about: `checks ${name}`, run };
}

async function ran(checkers: readonly Checker[], signal = new AbortController().signal) {
  const lines: string[] = [];
  const said: string[] = [];
  const failed = await runCheckers(checkers, {
    signal,
    print: (line) => lines.push(line.replace(/\d+ s\)$/, 'N s)')),
    say: (text) => said.push(text),
  });
  return { failed, lines, said };
}

test('each check has one line, a failed one has its reason below, and the others still run', async () => {
  const { failed, lines, said } = await ran([
    checker('one', async ({ say }) => {
      say('building');
      return '3 files';
    }),
    checker('second', async () => hold(false, 'file.conf: line 3 opens port 80\nexpected none') as never),
    checker('third', async () => '1 file'),
  ]);
  assert.equal(failed, 1);
  assert.deepEqual(lines, [
    'ok    one     3 files (N s)',
    'FAIL  second  file.conf: line 3 opens port 80 (N s)',
    '      expected none',
    'ok    third   1 file (N s)',
    '\n2 of 3 passed',
  ]);
  assert.deepEqual(said, ['one: building']);
});

test('a check has a folder of its own, which is removed when it passes and when it fails', async () => {
  const folders: string[] = [];
  await ran([
    checker('one', async ({ folder }) => {
      folders.push(folder);
      return String(existsSync(folder));
    }),
    checker('two', async ({ folder }) => {
      folders.push(folder);
      throw new Error('fails');
    }),
  ]);
  assert.equal(new Set(folders).size, 2);
  assert.deepEqual(folders.map(existsSync), [false, false]);
});

test('after an abort no further check begins', async () => {
  const stopping = new AbortController();
  const begun: string[] = [];
  const one = checker('one', async () => {
    begun.push('one');
    stopping.abort(new Error('stopped by SIGINT'));
    return 'done';
  });
  const two = checker('two', async () => {
    begun.push('two');
    return 'done';
  });
  await assert.rejects(ran([one, two], stopping.signal), /stopped by SIGINT/);
  assert.deepEqual(begun, ['one']);
});

test('a check that is ended by an abort is no fault of the files', async () => {
  const stopping = new AbortController();
  const lines: string[] = [];
  const one = checker('one', async () => {
    stopping.abort(new Error('stopped by SIGINT'));
    throw new Error('connection refused');
  });
  const running = runCheckers([one], { signal: stopping.signal, print: (line) => lines.push(line), say: () => {} });
  await assert.rejects(running, /stopped by SIGINT/);
  assert.match(lines.join(), /^stop {2}one {2}not finished \(\d+ s\)$/);
});

test('an optional check that was not run does not count as passed', async () => {
  const { failed, lines } = await ran([checker('one', async () => ({ notRun: 'no program' }))]);
  assert.equal(failed, 0);
  assert.deepEqual(lines, ['skip  one  no program (N s)', '\n0 of 1 passed, 1 not run']);
});

test('a program that fails is told with its status and its last lines', async () => {
  await assert.rejects(
    run(process.execPath, ['-e', 'console.error("first\\nlast"); process.exit(3)']),
    /: exit status 3\nfirst\nlast$/,
  );
  const allowed = await run(process.execPath, ['-e', 'process.exit(3)'], { allowed: [0, 3] });
  assert.equal(allowed.status, 3);
});

test('a program that takes too long is ended and its limit is told', async () => {
  const endless = ['-e', 'setInterval(() => {}, 1000)'];
  await assert.rejects(run(process.execPath, endless, { limitMs: 300 }), /it took more than 0\.3 s/);
});

test('a program that writes without end is ended, whatever it writes', async () => {
  const endless = ['-e', 'const text = "x".repeat(2 ** 20); const go = () => process.stdout.write(text, go); go()'];
  await assert.rejects(run(process.execPath, endless, { limitMs: 60_000 }), /it wrote more than 64 MiB/);
});

test('what a program reads is given to it, also when it does not read it', async () => {
  const echoed = await run(process.execPath, ['-e', 'process.stdin.pipe(process.stdout)'], { input: 'text' });
  assert.equal(echoed.stdout, 'text');
  await run(process.execPath, ['-e', ''], { input: 'x'.repeat(2 ** 22) });
});

test('a check that does not exist is refused with the names of those that do, before anything is started', async () => {
  const { status, stderr } = await run(process.execPath, ['deploy/check/cli.ts', '--only', 'helm,nothing'], {
    allowed: [64],
  });
  assert.equal(status, 64);
  assert.match(stderr, /--only takes some of .*helm.*, not "nothing"/);
});

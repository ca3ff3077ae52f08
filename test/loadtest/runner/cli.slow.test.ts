import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { RunRecord } from '../../../loadtest/judge/record.ts';
import { temporaryFolder } from '../../folder.ts';
import { assertNone } from '../../pluck.ts';

const CLI = join(import.meta.dirname, '..', '..', '..', 'loadtest', 'runner', 'cli.ts');
const FAKE = join(import.meta.dirname, 'fake-k6.mjs');
const TOKEN = 'nobody-may-read-this';

const folder = temporaryFolder({ after });
const queries = join(folder, 'my-queries.tsv');
writeFileSync(queries, 'goods\tsofa\n');

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The names of the folders that the run left. */
  readonly runs: readonly string[];
}

let outs = 0;

/** @param heard is called with each chunk of standard output and the pid of the runner. */
async function call(
  does: string,
  more: readonly string[] = [],
  heard: (text: string, pid: number) => void = () => undefined,
): Promise<Ended> {
  outs += 1;
  const out = join(folder, `out-${outs}`);
  const staging = { '--base-url': 'http://127.0.0.1:9', '--queries': queries, '--k6': FAKE, '--out': out };
  const own = Object.entries(staging).filter(([option]) => !more.includes(option));
  const child = spawn(process.execPath, [CLI, 'smoke', ...own.flat(), ...more], {
    env: { ...process.env, FAKE_K6: does, ADMIN_TOKEN: TOKEN, SEED: '7' },
  });
  const [stdout, stderr]: [string[], string[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => {
    stdout.push(chunk.toString());
    heard(chunk.toString(), child.pid ?? 0);
  });
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const runs = (() => {
    try {
      return readdirSync(out).map((name) => join(out, name));
    } catch {
      return [];
    }
  })();
  return { code, stdout: stdout.join(''), stderr: stderr.join(''), runs };
}

interface FakeK6Summary {
  readonly told: Readonly<Record<string, string>> & { readonly args: readonly string[]; readonly interrupts?: number };
}

function recordIn(run: string | undefined): RunRecord & { readonly summary: FakeK6Summary } {
  return JSON.parse(readFileSync(join(run ?? assert.fail('no run'), 'run.json'), 'utf8'));
}

for (const [does, code] of [
  ['passed', 0],
  ['failed', 1],
  ['invalid', 2],
] as const) {
  test(`a run whose verdict is ${does} ends with ${code}, and leaves its record and its report`, async () => {
    const { code: ended, stdout, runs } = await call(does);
    assert.equal(ended, code);
    const record = recordIn(runs[0]);
    assert.deepEqual([record.verdict.kind, record.exitCode], [does, code]);
    assert.match(readFileSync(join(runs[0] ?? '', 'report.html'), 'utf8'), /^<!doctype html>/i);
    assert.match(stdout, /k6 has summed up[\s\S]*report\.html/);
  });
}

test('k6 gets the token, but its arguments and the record do not contain it', async () => {
  const { runs, stdout, stderr } = await call('passed');
  const { summary, ...record } = recordIn(runs[0]);
  assert.equal(summary.told['ADMIN_TOKEN'], TOKEN);
  for (const text of [JSON.stringify(summary.told.args), JSON.stringify(record), stdout, stderr]) {
    assert.ok(!text.includes(TOKEN));
  }
});

test('a script that cannot be read gives no run, and the message of k6 is shown', async () => {
  const { code, stderr } = await call('unreadable');
  assert.equal(code, 3);
  assert.match(stderr, /MAX_VUS is odd/);
});

test('without a summary there is no verdict', async () => {
  const { code, stderr, runs } = await call('silent');
  assert.equal(code, 3);
  assert.match(stderr, /left no summary[\s\S]*nobody answers there/);
  assertNone(
    runs.flatMap((run) => readdirSync(run)),
    (name) => name === 'run.json',
  );
});

test('two interrupts reach k6 as one, and the run is invalid', async () => {
  let sent = false;
  const { code, runs, stdout } = await call('waits', [], (text, pid) => {
    if (sent || !text.includes('k6 is under way')) return;
    sent = true;
    process.kill(pid, 'SIGINT');
    setTimeout(() => process.kill(pid, 'SIGTERM'), 50);
  });
  assert.equal(code, 2);
  const { verdict, summary } = recordIn(runs[0]);
  assert.equal(summary.told.interrupts, 1);
  assert.ok(verdict.kind === 'invalid' && verdict.reasons.includes('stopped by hand'), JSON.stringify(verdict));
  assert.match(stdout, /stopping/);
});

test('a run is compared with the last valid run', async () => {
  const out = join(folder, 'beside');
  mkdirSync(out);
  const first = await call('passed', ['--out', out]);
  assert.equal(first.code, 0);
  await call('invalid', ['--out', out]);
  const { code } = await call('passed', ['--out', out, '--against', 'latest']);
  assert.equal(code, 0);
  const [earlier = '', , last = ''] = readdirSync(out).sort();
  assert.ok(readFileSync(join(out, last, 'report.html'), 'utf8').includes(earlier), 'the report names the earlier run');
});

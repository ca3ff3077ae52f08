import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { EXIT } from '../../src/commands/arguments.ts';
import { runMatrix } from './matrix.ts';
import type { Report } from './report.ts';
import { reportWith } from './report-fixture.ts';
import { type Harness, type Row, WarmUpError } from './row.ts';

const NO_TRACE = { found: false, evidence: 'process: runs → runs' };

/** Runs the matrix on one row whose attempts give these reports in turn; an Error is thrown. */
async function runOf(
  attempts: readonly (Report | Error)[],
  over: Partial<Row> = {},
  startHarness = async () => ({ stop: async () => undefined }) as Harness,
) {
  const directory = mkdtempSync(join(tmpdir(), 'serpcache-tries-'));
  const jsonFile = join(directory, 'out.json');
  const lines: string[] = [];
  const seeds: number[] = [];
  const row: Row = {
    name: 'some-row',
    summary: 'something',
    begin: async () => undefined,
    effect: { watch: async () => async () => NO_TRACE },
    ...over,
  };
  try {
    const status = await runMatrix([row], {
      checkout: directory,
      repeat: 1,
      seed: 7,
      jsonFile,
      print: (line) => lines.push(line),
      parts: {
        originOf: async () => ({ machine: 'one machine', startedAt: '2026-11-22T15:00:00.000Z' }),
        startHarness,
        runRow: async (_harness, _row, seed) => {
          const one = attempts[seeds.length] ?? new Error('one attempt more than expected');
          seeds.push(seed);
          if (one instanceof Error) throw one;
          return one;
        },
      },
    });
    return { status, lines: lines.join('\n'), seeds, json: JSON.parse(readFileSync(jsonFile, 'utf8')) };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const green = reportWith();
const traceless = reportWith({ trace: NO_TRACE });

test('a row whose first attempt is valid has one attempt, also when it breaks a promise', async () => {
  const kept = await runOf([green]);
  assert.deepEqual([kept.status, kept.seeds], [EXIT.passed, [7]]);
  assert.match(kept.lines, /^some-row +green/m);
  const broken = await runOf([reportWith({ recoveredAfterMs: 60_000 }), green]);
  assert.deepEqual([broken.status, broken.seeds.length], [EXIT.failed, 1]);
});

test('an invalid attempt is repeated with another seed, and the row is green when an attempt is', async () => {
  const { status, seeds } = await runOf([traceless, green]);
  assert.equal(status, EXIT.passed);
  assert.deepEqual(seeds, [7, 1007]);
});

test('a row whose attempts are all invalid is undecided, not broken', async () => {
  const slow = reportWith({ trace: NO_TRACE, recoveredAfterMs: 60_000 });
  const { status, seeds, lines } = await runOf([slow, slow, slow]);
  assert.equal(status, EXIT.undecided);
  assert.equal(seeds.length, 3);
  assert.match(lines, /^some-row +INVALID/m);
});

const harms: readonly (readonly [harm: RegExp, over: Partial<Report>])[] = [
  [/1 wrong answers, such as стул/, { wrong: ['стул (hit-l2)'] }],
  [/1 hung requests/, { hung: 1 }],
  [/1 answers that a client cannot act on, such as 500/, { dishonest: ['500'] }],
];
for (const [harm, over] of harms) {
  test(`a violation in an invalid attempt counts although a later attempt is green: ${harm.source}`, async () => {
    const { status, lines, json } = await runOf([reportWith({ trace: NO_TRACE, ...over }), green]);
    assert.equal(status, EXIT.failed);
    assert.match(lines, /^some-row +RED/m);
    const [written] = json.rows;
    assert.match(written.broken[0], harm);
    assert.equal(written.tries.length, 2);
    assert.match(written.tries[0].invalid, /no trace/);
    assert.match(written.tries[0].harm[0], harm);
    assert.equal(written.tries[0].report.samples, undefined);
  });
}

test('an aborted attempt and a warm-up count their violations; a refusal in the warm-up is none', async () => {
  const aborted = await runOf([reportWith({ failure: 'no store', wrong: ['стул (hit-l2)'] }), green]);
  assert.equal(aborted.status, EXIT.failed);
  assert.match(aborted.lines, /says nothing: the row could not be run: no store/);
  assert.equal((await runOf([new WarmUpError('warm-up: стул: shed', []), green])).status, EXIT.passed);
  assert.equal((await runOf([new WarmUpError('warm-up: стул', ['1 wrong answers']), green])).status, EXIT.failed);
});

test('the check of a row can break it; a check without samples or with an error makes the attempt invalid', async () => {
  const broken = await runOf([green], { check: () => ({ broken: ['its own promise'] }) });
  assert.equal(broken.status, EXIT.failed);
  const idle = await runOf([green, green, green], { check: () => ({ unmeasured: ['refusals'] }) });
  assert.equal(idle.status, EXIT.undecided);
  const check = (): never => {
    throw new Error('no metrics');
  };
  const failed = await runOf([reportWith({ hung: 1 }), green, green], { check });
  assert.equal(failed.status, EXIT.failed);
  assert.match(failed.lines, /says nothing: there were no samples of: what the row checks itself: no metrics/);
});

test('a harness that does not start is reported as failed, and the results are still written', async () => {
  const { status, lines, json } = await runOf([], {}, () => Promise.reject(new Error('no searchd')));
  assert.equal(status, EXIT.notDone);
  assert.match(lines, /could not be done: rows of layout plain: no searchd/);
  assert.deepEqual([json.rows, json.failures], [[], ['rows of layout plain: no searchd']]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../../../loadtest/judge/judge.ts';
import type { RunRecord } from '../../../loadtest/judge/record.ts';
import { runText } from '../../../loadtest/report/print-run.ts';
import { runTables } from '../../../loadtest/report/section.ts';
import { runOf } from '../../fakes/load-run.ts';
import { hostileRun, SAMPLE_RUNS } from './sample-runs.ts';

function textOf(record: RunRecord): string {
  return runText({ record, judged: judge(record) });
}

for (const [name, sampleRun] of Object.entries(SAMPLE_RUNS)) {
  test(`${name}: the printed text fits into 110 columns, and no cell is cut off`, () => {
    const text = textOf(sampleRun());
    const wide = text.split('\n').filter((one) => one.length > 110);
    assert.deepEqual(wide, []);
    assert.doesNotMatch(text, /NaN|Infinity|undefined|null|\[object/);
  });
}

test('the first printed line is the verdict, and the last one gives the path of the report', () => {
  const lines = textOf(runOf({ breaksAt: 4 }))
    .trimEnd()
    .split('\n');
  assert.match(lines[0] ?? '', /^x-load: FAILED\. x4 broke: error rate 20 %/);
  assert.match(lines.at(-1) ?? '', /^Report: loadtest\/results\/2026-11-21T10-20-30-x-load\/report\.html$/);
  const record = runOf();
  const elsewhere = runText({ record, judged: judge(record), reportFile: 'other/page.html' });
  assert.match(elsewhere, /\nReport: other\/page\.html\n$/);
});

test('an invalid run prints its reasons before its figures', () => {
  const text = textOf(runOf({ starvedAt: 4 }));
  const [reason, table] = [text.indexOf('  - 13,500 requests could not be begun'), text.indexOf('Step ')];
  assert.ok(reason > 0 && table > reason, `${reason}, ${table}`);
  assert.match(text, /^x3 .* \(held\)$/m);
  assert.doesNotMatch(text, /✓/);
});

test('columns are aligned, and each row ends with its result', () => {
  const rows = textOf(runOf({ breaksAt: 4, isAborted: true }))
    .split('\n')
    .filter((one) => /^(?:Step|warm-up|x\d) /.test(one));
  assert.equal(rows.length, 7);
  assert.equal(new Set(rows.map((row) => row.length)).size, 1);
  assert.match(rows.at(-1) ?? '', /– not run$/);
  assert.match(rows.at(-2) ?? '', /✕ broke$/);
});

test('where columns do not fit, whole columns are left out and the result stays', () => {
  const record = runOf();
  const steps = record.summary.steps.map((one) => ({
    ...one,
    step: { ...one.step, name: `${one.step.name}${'-long'.repeat(9)}` },
  }));
  const text = textOf({ ...record, summary: { ...record.summary, steps } });
  const header = /^Step .*$/m.exec(text)?.[0] ?? '';
  assert.ok(header.endsWith('Result') && !header.includes('k6 cores') && header.length <= 110, header);
});

test('the knee, the binding resource and the losses are printed', () => {
  assert.match(textOf(runOf({ breaksAt: 4 })), /The knee: x3 \(2,250 searches\/s\) held/);
  const record = runOf({ script: 'flush-survival' });
  const text = textOf(record);
  assert.match(text, /^flush +all keys +\+1:25\.0 min /m);
  const [first = ''] = judge(record).bottleneck.words.replaceAll('\u00a0', ' ').split('. ');
  assert.ok(text.replaceAll(/\s+/g, ' ').includes(first), first);
});

test('control characters in external text do not reach the terminal', () => {
  const text = textOf(hostileRun('\u001b[31mred\u0007 \u202e'));
  assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\u202e]/u);
});

test('each row of a README table has as many cells as the header, whatever a step is called', () => {
  for (const record of [runOf({ breaksAt: 4, isAborted: true }), runOf({ script: 'flush-survival' }), hostileRun()]) {
    for (const table of runTables(record, judge(record)).trimEnd().split('\n\n')) {
      const cells = table.split('\n').map((row) => row.replaceAll('\\|', '').split('|').length);
      assert.equal(new Set(cells).size, 1, table);
      assert.doesNotMatch(table, /<(?:script|img)|\u202e/u);
    }
  }
});

test('a README table has a row for each step and one for each loss', () => {
  const ladder = runTables(runOf(), judge(runOf()));
  assert.match(ladder, /^\| x5 \| 3,750\/s \| 3,750\/s \| 0\.6 ms \| .* \| held \| – \|$/m);
  assert.equal(ladder.split('\n\n').length, 1);
  const record = runOf({ script: 'flush-survival' });
  assert.equal(runTables(record, judge(record)).match(/^\| flush \| .* keys \| \\\+/gm)?.length, 3);
});

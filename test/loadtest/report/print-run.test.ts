import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../../../loadtest/judge/judge.ts';
import type { RunRecord } from '../../../loadtest/judge/record.ts';
import { runText } from '../../../loadtest/report/print-run.ts';
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

test('control characters in external text do not reach the terminal', () => {
  const text = textOf(hostileRun('\u001b[31mred\u0007 \u202e'));
  assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\u202e]/u);
});

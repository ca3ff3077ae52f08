import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { judge } from '../../../loadtest/judge/judge.ts';
import type { RunRecord } from '../../../loadtest/judge/record.ts';
import { reportPage } from '../../../loadtest/report/page.ts';
import { runText } from '../../../loadtest/report/print-run.ts';
import { runOf } from '../../fakes/load-run.ts';
import { testPage, textOf } from '../../report/page-tests.ts';
import { markupFaults } from '../../report/well-formed.ts';
import { hostileRun, SAMPLE_RUNS } from './sample-runs.ts';

const MOST_BYTES = 400 * 1024;
const FOREIGN = /<script|<iframe|<img|@import|url\(|javascript:|\son[a-z]+="/i;

function pageOf(record: RunRecord): string {
  return reportPage({ record, judged: judge(record) });
}

suite('the report of any run', () => {
  for (const [name, sampleRun] of Object.entries(SAMPLE_RUNS)) {
    testPage(name, pageOf(sampleRun()), { maxBytes: MOST_BYTES, foreign: FOREIGN });
  }
});

test('an invalid run gives all its reasons, and marks none of its steps as good', () => {
  const record = runOf({ starvedAt: 4 });
  const { verdict } = record;
  assert.ok(verdict.kind === 'invalid' && verdict.reasons.length > 1);
  const page = pageOf(record);
  const text = textOf(page);
  for (const reason of verdict.reasons) assert.ok(text.includes(reason.replaceAll(/\s+/g, ' ')), reason);
  assert.doesNotMatch(page, /✓ held|✕ broke/);
  assert.match(text, /\? held, not counted/);
  assert.match(text, /nothing of it counts for or against the service/);
});

test('external text is escaped and stays text', () => {
  const page = pageOf(hostileRun());
  assert.deepEqual(markupFaults(page), []);
  assert.doesNotMatch(page, /<script|<img|\u202e|"\s+onload=/u);
  assert.ok(!page.includes('\u0000'));
  assert.ok(page.includes('&lt;script&gt;alert(1)&lt;/script&gt;'));
});

test('control characters in external text do not reach the terminal', () => {
  const record = hostileRun('\u001b[31mred\u0007 \u202e');
  const text = runText({ record, judged: judge(record) });
  assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\u202e]/u);
});

test('a very long list of events keeps the page small and shows its beginning and its end', () => {
  const record = runOf();
  const events = Array.from({ length: 5000 }, (_, i) => ({
    atMs: record.summary.startedAtMs + i * 20,
    kind: 'flush',
    text: `loss ${i}`,
  }));
  const page = pageOf({ ...record, events });
  assert.ok(Buffer.byteLength(page) < MOST_BYTES, `${Buffer.byteLength(page)} bytes`);
  assert.match(textOf(page), /loss 0 .*loss 4999 4,800 in the middle are not shown/);
});

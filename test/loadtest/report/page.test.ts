import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { compareRuns } from '../../../loadtest/judge/compare.ts';
import { judge } from '../../../loadtest/judge/judge.ts';
import type { RunRecord } from '../../../loadtest/judge/record.ts';
import { reportPage } from '../../../loadtest/report/page.ts';
import { runText } from '../../../loadtest/report/print-run.ts';
import { runOf } from '../../fakes/load-run.ts';
import { markupFaults } from '../../report/well-formed.ts';
import { hostileRun, SAMPLE_RUNS } from './sample-runs.ts';

const MOST_BYTES = 400 * 1024;

function pageOf(record: RunRecord): string {
  return reportPage({ record, judged: judge(record) });
}

/** The visible text, without tags; no-break spaces within figures become plain spaces. */
function textOf(page: string): string {
  const body = page.slice(page.indexOf('<body'));
  const spaced = body.replaceAll(/<\/(?:p|td|th|dt|dd|li|h1|h2|h3|h4|caption|text)>/g, ' ').replaceAll(/<[^>]*>/g, '');
  return spaced.replaceAll(/\s+/g, ' ').replaceAll('&#39;', "'");
}

suite('the report of any run', () => {
  for (const [name, sampleRun] of Object.entries(SAMPLE_RUNS)) {
    const page = pageOf(sampleRun());

    test(`${name}: is well-formed, and every reference points into the page`, () => {
      assert.deepEqual(markupFaults(page), []);
    });

    test(`${name}: loads nothing from elsewhere and runs no script`, () => {
      assert.doesNotMatch(page, /<script|<iframe|<img|@import|url\(|javascript:|\son[a-z]+="/i);
      const references = [...page.matchAll(/\s(?:href|src|action)="([^"]*)"/g)].map((match) => match[1] ?? '');
      assert.deepEqual(
        references.filter((one) => !one.startsWith('#') && one !== 'data:,'),
        [],
      );
    });

    test(`${name}: shows no NaN, Infinity or undefined`, () => {
      const at = page.search(/NaN|Infinity|undefined|null|\[object/);
      assert.equal(at, -1, page.slice(Math.max(0, at - 80), at + 60));
    });

    test(`${name}: is small enough to be sent by mail`, () => {
      assert.ok(Buffer.byteLength(page) < MOST_BYTES, `${Buffer.byteLength(page)} bytes`);
    });
  }
});

test('the verdict comes before every figure, as a word and a sentence', () => {
  for (const [wish, word] of [
    [{}, 'Passed All 5 steps held'],
    [{ breaksAt: 4 }, 'Failed x4 broke: error rate 20 %'],
    [{ starvedAt: 4 }, 'Invalid This run says nothing about the service. 13,500 requests could not be begun'],
  ] as const) {
    const text = textOf(pageOf(runOf(wish)));
    assert.ok(text.includes(word), `${word} in ${text.slice(0, 400)}`);
    assert.ok(text.indexOf(word) < text.indexOf('Base rate, x1'), word);
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

test('the knee and the binding resource come before the tables', () => {
  const record = runOf({ breaksAt: 4, isAborted: true });
  const text = textOf(pageOf(record));
  const knee = text.indexOf('The knee: x3 (2,250 searches/s) held, x4 (3,000 searches/s) broke');
  const binds = text.indexOf(judge(record).bottleneck.words.replaceAll(/\s+/g, ' '));
  assert.ok(knee > 0 && binds > knee && binds < text.indexOf('Step by step'), `${knee}, ${binds}`);
});

test('each step has a row; a step that did not run has dashes and says so', () => {
  const text = textOf(pageOf(runOf({ breaksAt: 4, isAborted: true })));
  assert.match(text, /x3 3 × the base rate 2,250\/s 2,250\/s 0\.6 ms [\d.]+ ms [\d.]+ ms 0 % 91 % hit-l1 6.*?✓ held/);
  assert.match(text, /x4 4 × the base rate .*?shed 20 % ✕ broke: error rate 20 % \(limit 0\.1 %\)/);
  assert.match(text, /x5 5 × the base rate 3,750\/s – – – – – – – – not run/);
});

test('every loss has its depth and its recovery time, or says that it did not recover', () => {
  const text = textOf(pageOf(runOf({ script: 'flush-survival' })));
  assert.match(text, /flush 10 % of the keys \+1:05\.0 min 91 % 84\.7 % [\d.]+ s \d+\/s \d+\/s 0 0/);
  const never = textOf(pageOf(runOf({ script: 'flush-survival', refillSeconds: Number.POSITIVE_INFINITY })));
  assert.match(never, /\+1:25\.0 min \d.*? not in its time/);
});

test('events are listed and drawn across the plots', () => {
  const page = pageOf(runOf({ script: 'flush-survival' }));
  assert.match(textOf(page), /\+1:25\.0 min drill-stage all keys goods-20261121-102114/);
  assert.equal(page.match(/<g id="over-time-m">.*?<\/g><g id="over-time-a">/)?.[0].match(/moment noted/g)?.length, 3);
});

test('a plot without data is a line of text', () => {
  const page = pageOf(runOf({ stack: 'none', isBlind: true }));
  const text = textOf(page);
  assert.match(text, /Engine calls, per second: no admin address was given, or it answered nothing/);
  assert.match(text, /Processor use, in cores: no process could be looked at/);
  assert.match(text, /Errors and sheds, per second: there were none in any second/);
  assert.doesNotMatch(page, /id="plot-engine-title"|id="plot-processors-title"/);
  assert.match(page, /id="plot-rate-title"/);
});

test('a run without any data yet is still a page', () => {
  const empty = runOf({ record: { seconds: [], samples: [], events: [] } });
  assert.match(textOf(pageOf(empty)), /Rate, searches per second: the generator told of no second/);
});

test('compared with an earlier run, the differences come first, then each step with its earlier figures', () => {
  const record = runOf({ breaksAt: 4 });
  const earlier = runOf({ record: { machine: { ...record.machine, cores: 8 } } });
  const text = textOf(reportPage({ record, judged: judge(record), against: compareRuns(record, earlier) }));
  const note = text.indexOf('Cores of the machine: 4, earlier 8.');
  const row = text.search(/x4 3,000\/swas 3,000\/s .*?4\d\d mswas 26\.1 msnow 17\.\d ×/);
  assert.ok(note > 0 && row > note, `${note}, ${row}`);
  assert.doesNotMatch(textOf(pageOf(record)), /Beside an earlier run/);
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

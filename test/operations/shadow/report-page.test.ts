import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shadowReportPage } from '../../../src/operations/shadow/report-page.ts';
import type { ShadowReport } from '../../../src/operations/shadow/shadow.ts';
import { eachPlace, HOSTILE_VALUES, partsOf } from '../../fakes/hostile.ts';
import { textOf } from '../../report/page-tests.ts';
import { markupFaults } from '../../report/well-formed.ts';
import { GOOD, reportOf } from './report-fixture.ts';

const QUIET: ShadowReport = { ...reportOf(), samples: [], changes: [] };
const ONE = reportOf({ lengthMs: 2000 });
const BAD = reportOf(
  { ...GOOD, errorsAt: () => 0.2, wrongAt: () => 1, p99Ms: { primary: 1, candidate: 80 } },
  { wrongKeys: ['serp:{goods:3}:aXk29', 'serp:{goods:9}:bYl31'] },
);
const LONG = reportOf({ ...GOOD, lengthMs: 1_800_000 });
const SCENES = { good: reportOf(), bad: BAD, 'without samples': QUIET, 'with one sample': ONE, long: LONG };

for (const [name, report] of Object.entries(SCENES)) {
  test(`the report of a shadow, ${name}: it is well-formed, loads nothing and shows no number without a format`, () => {
    const page = shadowReportPage(report);
    assert.deepEqual(markupFaults(page), []);
    assert.doesNotMatch(page, /https?:|\/\/[a-z]|<script|<iframe|<img|@import|url\(|javascript:|\son[a-z]+=/i);
    assert.doesNotMatch(textOf(page), /NaN|undefined|Infinity|\[object|\d\.\d{4}/);
    assert.ok(page.length < 200_000, String(page.length));
  });
}

test('the page says what to do, and why, criterion by criterion', () => {
  const page = textOf(shadowReportPage(BAD));
  assert.match(page, /valkey as the shadow of main in goods/);
  assert.match(page, /Do not cut over .*The p99 is [\d.]+ ms, the primary's 1 ms/);
  for (const [criterion, met] of [
    ['Recorded time', 'at least 8 min 00 s met'],
    ['Compared reads', 'at least 1,000 met'],
    ['Hit ratio', 'lower at most 2 points lower met'],
    ['p99 of reads', 'at most 2 ms missed'],
    ['Errors', 'points more at most 0.1 points more missed'],
    ['Values', 'wrong at most 0 wrong missed'],
  ]) {
    assert.match(page, new RegExp(` ${criterion} [−\\d.,]+ (?:\\w+ )*${met} `), `${criterion}`);
  }
  assert.match(textOf(shadowReportPage(reportOf())), /Cut over .*no value of [\d,]+ compared is wrong/);
  assert.match(textOf(shadowReportPage(ONE)), /Undecided .*Not measured yet/);
});

test('the figures of both sides, of the agreement and of the copies are those of the report', () => {
  const { total } = BAD;
  const page = textOf(shadowReportPage(BAD));
  const count = (value: number): string => value.toLocaleString('en-US');
  assert.match(page, new RegExp(` Reads ${count(total.primary.reads)} ${count(total.candidate.reads)} `));
  assert.match(page, new RegExp(`Errors: store-slow 0 ${count(total.candidate.errors['store-slow'])} `));
  assert.match(page, new RegExp(` missing ${count(total.agreement.missing)} `));
  assert.match(page, new RegExp(` wrong ${count(total.agreement.wrong)} `));
  for (const name of ['sampled', 'sent', 'dropped', 'paused', 'filled'] as const) {
    assert.match(page, new RegExp(` ${name} ${count(total.copying[name])} `), name);
  }
  assert.match(page, /serp:\{goods:3\}:aXk29 .*serp:\{goods:9\}:bYl31/);
});

test('each plot has curves of both sides, and the changes of the copied traffic are marked', () => {
  const page = shadowReportPage(reportOf());
  for (const side of ['primary', 'candidate']) {
    // Beside each curve the same path stands in its legend.
    assert.equal([...page.matchAll(new RegExp(`<path class="line ${side}" d="M[^"]{40,}"`, 'g'))].length, 8, side);
  }
  assert.equal(
    page.match(/class="moment restored"><line/g)?.length,
    2 * 2,
    'two changes, in two groups of the backdrop',
  );
  assert.match(textOf(page), /5 % ×1 25 % ×1 25 % ×3/);
});

test('a time without samples is a gap in the curves', () => {
  const { samples, ...report } = reportOf();
  const curve = (page: string): string => /<path class="line candidate" d="(M[^"]{40,})"/.exec(page)?.[1] ?? '';
  const cut = samples.filter(({ atMs }) => atMs < 200_000 || atMs > 260_000);
  assert.equal(curve(shadowReportPage({ ...report, samples })).match(/M/g)?.length, 1);
  assert.equal(curve(shadowReportPage({ ...report, samples: cut })).match(/M/g)?.length, 2);
});

test('a hostile text in any place of a report stays text', () => {
  const small = { ...BAD, samples: BAD.samples.slice(0, 2) };
  const ours = partsOf(shadowReportPage(small));
  const texts = HOSTILE_VALUES.filter(([, value]) => typeof value === 'string' || Array.isArray(value));
  let turn = 0;
  for (const [path, put] of eachPlace(small)) {
    if (!/(?:^id|domain|\.name|fingerprint|by|ended|why|what|met|wrongKeys\.\d+)$/.test(path)) continue;
    turn += 1;
    const [name, value] = texts[turn % texts.length] ?? assert.fail();
    const page = shadowReportPage(put(value));
    assert.deepEqual(
      [...partsOf(page)].filter((part) => !ours.has(part)),
      [],
      `${path}: ${name}`,
    );
    assert.deepEqual(markupFaults(page), [], `${path}: ${name}`);
  }
  assert.ok(turn > 8, String(turn));
});

test('a planted number of any size is shown', () => {
  const small = { ...BAD, samples: BAD.samples.slice(0, 3) };
  for (const [path, put] of eachPlace(small)) {
    for (const planted of [0, 1e30]) {
      const before = path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], small);
      if (typeof before !== 'number' || /(?:started|ended)AtMs$/.test(path)) continue;
      const page = shadowReportPage(put(planted));
      assert.deepEqual(markupFaults(page), [], path);
      assert.doesNotMatch(page, /NaN|Infinity/, path);
    }
  }
});

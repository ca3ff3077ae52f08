import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { judge } from '../../../loadtest/judge/judge.ts';
import type { RunRecord } from '../../../loadtest/judge/record.ts';
import { MAX_RECORD_BYTES, parseRecord, recordText } from '../../../loadtest/labs/kit/publish.ts';
import { plotSvg, publishRun, runSection, runTables } from '../../../loadtest/report/section.ts';
import { pack, runOfThinned, type ThinnedRun, thinRun, unpack } from '../../../loadtest/report/thin-run.ts';
import { runOf } from '../../fakes/load-run.ts';
import { temporaryFolder } from '../../folder.ts';
import { markupFaults } from '../../report/well-formed.ts';
import { hostileRun } from './sample-runs.ts';

const COMMIT = { commit: '0123abc' };
const SCRIPTS = ['x-load', 'flush-survival'] as const;

function kept(record: RunRecord): RunRecord {
  return runOfThinned(parseRecord(recordText(thinRun({ ...COMMIT, ...record }))) as ThinnedRun);
}

for (const script of SCRIPTS) {
  test(`${script}: a thinned run has the same tables, verdict and plots as the full one`, () => {
    const whole = runOf({ script });
    const thinned = kept(whole);
    assert.equal(runTables(thinned, judge(thinned)), runTables(whole, judge(whole)));
    assert.equal(judge(thinned).bottleneck.words, judge(whole).bottleneck.words);
    for (const plot of ['rate', 'latency', 'processors', 'outcomes', 'permits'] as const) {
      // Rounding moves a line by less than one pixel.
      const drawn = (record: RunRecord) =>
        plotSvg({ record, judged: judge(record) }, plot)?.replaceAll(/(?<= d=")[^"]*/g, '');
      assert.ok(drawn(thinned) === drawn(whole) && drawn(whole) !== undefined, plot);
    }
  });
}

test('a run that is too long keeps every second and as many samples as fit', () => {
  const long = { ...COMMIT, ...runOf({ script: 'flush-survival', holdSeconds: 80 }) };
  const text = recordText(thinRun(long));
  const { sampleStride } = thinRun(long);
  assert.ok(sampleStride > 1 && Buffer.byteLength(text) <= MAX_RECORD_BYTES, `${sampleStride}, ${text.length}`);
  const thinned = runOfThinned(parseRecord(text) as ThinnedRun);
  assert.equal(thinned.seconds.length, long.seconds.length);
  assert.equal(thinned.samples.length, Math.ceil(long.samples.length / sampleStride));
  assert.match(runSection(text).markdown, new RegExp(`One sample of ${sampleStride} is kept there`));
});

test('records of one shape are packed into a table and unpacked unchanged, also when some lack fields', () => {
  const records = [
    { atMs: 1, parts: [{ name: 'a', n: 0.5 }, { name: 'b' }], by: {}, same: 'x' },
    { atMs: 2, parts: [], by: { ok: 3 }, same: 'x' },
    { atMs: 3, parts: [{ name: 'b', n: 1 }], by: { ok: 0 }, same: 'x' },
  ];
  const packed = parseRecord(JSON.stringify(pack(records)));
  assert.deepEqual(unpack(packed as ReturnType<typeof pack>), records);
});

test('the searches of a published run contain no folder, and its record contains no address of another machine', () => {
  const { summary } = runOf();
  const queries = { ...summary.queries, file: '/home/user/queries.tsv' };
  const text = recordText(thinRun({ ...COMMIT, ...runOf(), summary: { ...summary, queries } }));
  assert.doesNotMatch(text, /\/home/);
  assert.throws(() => thinRun({ ...COMMIT, ...runOf({ stack: 'none' }) }), /not measured on the local stack/);
});

test('a run is published with its plots and its record, unless it is invalid or its commit is unknown', (t) => {
  const folder = temporaryFolder(t);
  const page = join(folder, 'README.md');
  const [start, end] = ['<!-- finding: x-load -->', '<!-- /finding: x-load -->'];
  writeFileSync(page, `${start}\n${end}\n`);
  assert.throws(() => publishRun({ ...COMMIT, ...runOf({ starvedAt: 4 }) }, page), /is invalid: it says nothing/);
  assert.throws(() => publishRun(runOf(), page), /does not say which commit was measured/);
  assert.equal(readFileSync(page, 'utf8'), `${start}\n${end}\n`);
  publishRun({ ...COMMIT, ...runOf() }, page);
  const { markdown, plots } = runSection(readFileSync(join(folder, 'records', 'x-load.json'), 'utf8'));
  assert.equal(readFileSync(page, 'utf8'), `${start}\n${markdown}${end}\n`);
  assert.deepEqual(readdirSync(join(folder, 'plots')).sort(), [...plots.keys()].sort());
  assert.match(markdown, /^## x-load: passed\n/);
  assert.match(markdown, /4 cores, 8 GiB, Linux 6\.1, x64, k6 v1\.8\.1, commit `0123abc` \(\[all figures\]/);
});

const NAMES = [
  'rate',
  'latency',
  'outcomes',
  'hit-ratio',
  'engine',
  'permits',
  'store',
  'memory',
  'processors',
] as const;

function svgOf(record: RunRecord, name: (typeof NAMES)[number]): string {
  return plotSvg({ record, judged: judge(record) }, name) ?? assert.fail(`${name} was not measured`);
}

test('every plot is a well-formed file that needs no other file', () => {
  for (const record of [runOf(), hostileRun()]) {
    for (const name of NAMES) {
      const svg = svgOf(record, name);
      assert.deepEqual(markupFaults(svg), [], name);
      assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="960"/);
      assert.doesNotMatch(svg.replace('xmlns="http://www.w3.org/2000/svg"', ''), /https?:|<script|url\(|@import/, name);
    }
  }
});

test('a plot without measurements has no file', () => {
  const record = runOf({ stack: 'none', isBlind: true });
  assert.equal(plotSvg({ record, judged: judge(record) }, 'engine'), undefined);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../../../loadtest/judge/judge.ts';
import type { RunRecord } from '../../../loadtest/judge/record.ts';
import { plotSvg } from '../../../loadtest/report/section.ts';
import { runOf } from '../../fakes/load-run.ts';
import { markupFaults } from '../../report/well-formed.ts';
import { hostileRun, SAMPLE_RUNS } from './sample-runs.ts';

const NAMES = [
  'rate',
  'latency',
  'outcomes',
  'hit-ratio',
  'engine',
  'places',
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

test('a standalone plot contains its title, its legend and the events', () => {
  const svg = svgOf(runOf({ script: 'flush-survival' }), 'hit-ratio');
  for (const words of [
    'flush-survival: Hit ratio',
    'hits: fresh from L1 or L2',
    'a stage of a drill',
    'was back, and',
  ]) {
    assert.ok(svg.includes(words), words);
  }
});

test('a standalone plot has the paper colours, whatever the reader prefers', () => {
  const svg = svgOf(runOf(), 'rate');
  assert.match(svg, /--ground:#fcfbf9/);
  assert.doesNotMatch(svg, /prefers-color-scheme/);
});

test('a plot of an hour is not much larger than a plot of a minute', () => {
  const hour = SAMPLE_RUNS['an hour']?.() ?? assert.fail();
  for (const name of NAMES) assert.ok(svgOf(hour, name).length < 100 * 1024, name);
});

test('a plot without measurements has no file', () => {
  const record = runOf({ stack: 'none', isBlind: true });
  assert.equal(plotSvg({ record, judged: judge(record) }, 'engine'), undefined);
});

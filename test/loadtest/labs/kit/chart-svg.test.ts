import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chartSvg } from '../../../../loadtest/labs/kit/chart.ts';
import { chartScale } from '../../../../loadtest/labs/kit/chart-layout.ts';
import type { Chart } from '../../../../loadtest/labs/kit/finding.ts';
import { asksChart, rateChart } from '../../../fakes/finding.ts';
import { markupFaults } from '../../../report/well-formed.ts';
import { HOSTILE } from '../../report/sample-runs.ts';

const hostile = (chart: Chart, word: string): Chart => ({
  ...chart,
  title: word,
  across: word,
  places: chart.places.map(() => word),
  series: chart.series.map((one) => ({ ...one, name: word })),
});

const bars = (svg: string): readonly string[] => svg.match(/<rect class="bar [^>]*>/g) ?? [];

test('every chart is a well-formed file that needs no other file, whatever its texts are', () => {
  for (const chart of [rateChart(), asksChart()])
    for (const svg of [chartSvg(chart), chartSvg(hostile(chart, HOSTILE)), chartSvg(hostile(chart, ''))]) {
      assert.deepEqual(markupFaults(svg), [], chart.title);
      const own = svg.replace('xmlns="http://www.w3.org/2000/svg"', '');
      assert.doesNotMatch(own, /https?:|<script|url\(|@import|NaN|Infinity|undefined/);
    }
});

test('the height of a bar is proportional to its value, from 0, and a missing value is a dash', () => {
  const svg = chartSvg({ ...asksChart(), series: [{ name: 'one', values: [100, 50, undefined] }] });
  const [full = 0, half = 0, ...more] = bars(svg)
    .map((bar) => Number(/ height="([\d.]+)"/.exec(bar)?.[1]))
    .slice(1);
  assert.ok(Math.abs(full - 2 * half) < 0.1 && half > 50, `${full}, ${half}`);
  assert.deepEqual(more, []);
  assert.equal(svg.match(/<text class="value"[^>]*>–<\/text>/g)?.length, 1);
});

test('on a logarithmic axis each factor of ten has the same height, and the lowest bar is visible', () => {
  const { at } = chartScale({ ...asksChart(), isLog: true, series: [{ name: 'one', values: [3, 40_000] }] }, 280);
  assert.ok(Math.abs(at(10) - at(100) - (at(100) - at(1000))) < 1e-6);
  assert.ok(at(3) < 275 && at(40_000) >= 0);
});

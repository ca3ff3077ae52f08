import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chartSvg, INKS, looksOf } from '../../../../loadtest/labs/kit/chart.ts';
import { chartScale } from '../../../../loadtest/labs/kit/chart-layout.ts';
import type { Chart } from '../../../../loadtest/labs/kit/finding.ts';
import { GROUND, luminanceOf } from '../../../../src/report/palette.ts';
import { asksChart, fullChart, rateChart } from '../../../fakes/finding.ts';
import { markupFaults } from '../../../report/well-formed.ts';
import { HOSTILE } from '../../report/sample-runs.ts';

function hostile(chart: Chart, word = HOSTILE): Chart {
  return {
    ...{ ...chart, title: word, across: word },
    places: chart.places.map(() => word),
    series: chart.series.map((one) => ({ ...one, name: word })),
  };
}

function bars(svg: string): readonly string[] {
  return svg.match(/<rect class="bar [^>]*>/g) ?? [];
}

test('every chart is a well-formed file that needs no other file, whatever its texts are', () => {
  for (const chart of [rateChart(), asksChart(), fullChart('bars'), fullChart('lines')]) {
    for (const svg of [chartSvg(chart), chartSvg(hostile(chart)), chartSvg(hostile(chart, ''))]) {
      assert.deepEqual(markupFaults(svg), [], chart.title);
      assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="960" /);
      assert.doesNotMatch(
        svg.replace('xmlns="http://www.w3.org/2000/svg"', ''),
        /https?:|<script|url\(|@import|NaN|Infinity|undefined/,
      );
    }
  }
});

test('a screen reader gets the title and every figure', () => {
  const svg = chartSvg(asksChart()).replaceAll('\u00a0', ' ');
  assert.match(svg, /<title id="chart-title">Keys a second, by how they are asked for<\/title>/);
  assert.match(
    svg,
    /<desc id="chart-desc">Over how ten keys are asked for\. Redis: MGET: 1,201,882\/s; .*; Lua: –\. Valkey: MGET/,
  );
  assert.match(svg, / role="img" aria-labelledby="chart-title chart-desc"/);
  assert.match(chartSvg(rateChart()), /, on a logarithmic axis\. .* another site \(published\): 1: 5,000\/s; /);
});

test('the height of a bar is proportional to its value, from 0', () => {
  const chart: Chart = { ...asksChart(), series: [{ name: 'one', values: [100, 50, 0] }] };
  const [full = 0, half = 0, ...more] = bars(chartSvg(chart))
    .map((bar) => Number(/ height="([\d.]+)"/.exec(bar)?.[1]))
    .slice(1);
  assert.ok(Math.abs(full - 2 * half) < 0.1 && half > 50, `${full}, ${half}`);
  assert.deepEqual(more, []);
});

test('on a logarithmic axis each factor of ten has the same height, and the lowest bar is visible', () => {
  const { at } = chartScale({ ...asksChart(), isLog: true, series: [{ name: 'one', values: [3, 40_000] }] }, 280);
  assert.ok(Math.abs(at(10) - at(100) - (at(100) - at(1000))) < 1e-6);
  assert.ok(at(3) < 275 && at(40_000) >= 0);
});

test('a missing value has no bar and no line, and a dash distinguishes it from 0', () => {
  const svg = chartSvg({ ...asksChart(), series: [{ name: 'one', values: [1, undefined, Number.NaN] }] });
  assert.equal(bars(svg).length, 2);
  assert.equal(svg.match(/<text class="value"[^>]*>–<\/text>/g)?.length, 2);
  const line = /<path class="line s1" d="([^"]*M[^"]*M[^"]*)"/.exec(chartSvg(rateChart()));
  assert.ok(line !== null);
});

test('colours have a contrast of 3 : 1 to the background, and differ from all others in lightness or stripes', () => {
  const looks = looksOf(fullChart('bars'));
  const contrast = (a: number, b: number): number => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const lights = INKS.map(({ light }) => luminanceOf(light));
  for (const [at, own] of lights.entries()) {
    assert.ok(contrast(own, luminanceOf(GROUND.ground.light)) >= 3, String(at));
    const next = lights[at + 1];
    if (next !== undefined) assert.ok(contrast(own, next) >= 1.4, `${at} and the next: ${contrast(own, next)}`);
  }
  const solid = lights.filter((_, at) => looks[at]?.isStriped === false).sort((a, b) => a - b);
  for (const [at, own] of solid.entries()) assert.ok(contrast(own, solid[at + 1] ?? 1) >= 1.2, `solid ${at}`);
  assert.equal(solid.length, 4);
  assert.equal(new Set(looks.map(({ point }) => point)).size, 8);
});

test('the axis shows its unit and round numbers', () => {
  const texts = (chart: Chart): readonly (string | undefined)[] =>
    chartScale(chart, 280).ticks.map(({ text }) => text?.replaceAll('\u00a0', ' '));
  const one = (unit: Chart['unit'], values: readonly number[]): Chart => ({
    ...asksChart(),
    unit,
    series: [{ name: 'a', values }],
  });
  assert.deepEqual(texts(one('ms', [93])), ['0 ms', '20 ms', '40 ms', '60 ms', '80 ms', '100 ms']);
  assert.deepEqual(texts(one('count', [2])), ['0', '1', '2']);
  assert.deepEqual(texts(one('bytes', [4.5 * 2 ** 20])), ['0 B', '1 MiB', '2 MiB', '3 MiB', '4 MiB', '5 MiB']);
  assert.deepEqual(texts({ ...one('bytes', [2048, 2 ** 30]), isLog: true })[0], '1 KiB');
});

test('a logarithmic axis accepts values that have no logarithm', () => {
  for (const values of [[0, 0], [-1, 5], [], [1e-300, 1e300], [Number.MAX_VALUE, 1]]) {
    for (const unit of ['ms', 'bytes'] as const) {
      for (const shape of ['bars', 'lines'] as const) {
        const svg = chartSvg({ ...asksChart(), shape, unit, isLog: true, series: [{ name: 'one', values }] });
        assert.deepEqual(markupFaults(svg), []);
        assert.doesNotMatch(svg, /NaN|Infinity/, `${values}`);
      }
    }
  }
});

test('a chart without places, series or values says that nothing was measured', () => {
  const nothing = { ...asksChart(), series: [{ name: 'one', values: [undefined, undefined, undefined, 7] }] };
  for (const chart of [nothing, { ...asksChart(), series: [] }, { ...asksChart(), places: [], series: [] }]) {
    assert.match(chartSvg(chart), />nothing was measured</);
  }
  assert.doesNotMatch(chartSvg(asksChart()), /nothing was measured/);
});

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { chartSvg } from '../../../../loadtest/labs/kit/chart.ts';
import type { Chart } from '../../../../loadtest/labs/kit/finding.ts';
import { startBrowser, type TestBrowser } from '../../../e2e/browser.ts';
import { asksChart, fullChart, rateChart } from '../../../fakes/finding.ts';

const LONG = [
  'nginx proxy_cache',
  'Varnish with a file of 2 GiB on a disk',
  'WWWWWW@WWWWWW@WWWWWW@WWWWWW@WWWWWW@WWWWWW@WWWWWW@WWWWWW@WWWWWW',
  'Fastify + async-cache-dedupe, in memory',
  'кэш страниц выдачи, один на домен',
  'x'.repeat(200),
  '検索結果のキャッシュサーバー検索結果のキャッシュサーバー',
];
const long = (at: number): string => LONG[at % LONG.length] ?? '';
const words = (at: number): string => `a store of ${at + 1} shards each`;

const measured = fullChart('lines', { series: 5, places: 9 });
const [widest = ''] = [...LONG].sort((a, b) => b.length - a.length);
/** Texts that could overlap others or leave the drawing. */
const DIFFICULT: Readonly<Record<string, Chart>> = {
  'as in life': rateChart(),
  'two bars a place': asksChart(),
  'eight series over twelve places': fullChart('bars'),
  'eight lines over twelve places': fullChart('lines'),
  'names of three lines': fullChart('bars', { series: 2, places: 9, name: words }),
  'long names of twelve places': fullChart('lines', { series: 3, places: 12, name: long }),
  'long names of two places': fullChart('bars', { series: 4, places: 2, name: long }),
  'sixty places': fullChart('bars', { series: 1, places: 60, name: long }),
  'values that stand upright': {
    ...fullChart('bars', { series: 4, places: 6 }),
    series: fullChart('bars', { series: 4, places: 6 }).series.map((one) => ({
      ...one,
      values: [1, 1e6, 1e9, 0, 3e9, 5],
    })),
    unit: 'bytes-per-second',
  },
  'a logarithmic axis of bars': {
    ...asksChart(),
    isLog: true,
    series: [
      { name: 'a', values: [0.003, 5e6, 17] },
      { name: 'b', values: [0, 1, 5e6] },
    ],
  },
  'a logarithmic axis with short ticks': {
    ...fullChart('bars', { series: 8, places: 12 }),
    series: [{ name: 'a', values: [9, 2, 3] }],
    isLog: true,
    unit: 'count',
  },
  'values wider than their bars': {
    ...fullChart('bars', { series: 4, places: 5 }),
    series: fullChart('bars', { series: 4, places: 5 }).series.map((one) => ({ ...one, values: Array(5).fill(5e6) })),
    unit: 'per-second',
  },
  'endless words everywhere': {
    ...measured,
    title: widest.repeat(9),
    across: widest.repeat(9),
    series: measured.series.map((one, at) => ({ ...one, name: long(at).repeat(5) })),
  },
};

/** The four corners of every text: of its rotated letters, not of its upright bounding box. */
const CORNERS = `(() => [...document.querySelectorAll('svg text')].map((text) => {
  const [box, matrix] = [text.getBBox(), text.getScreenCTM()];
  const corner = (x, y) => { const at = new DOMPoint(x, y).matrixTransform(matrix); return [at.x, at.y]; };
  const [l, r, t, b] = [box.x, box.x + box.width, box.y + 2, box.y + box.height - 2];
  return { text: text.textContent, corners: [corner(l, t), corner(r, t), corner(r, b), corner(l, b)] };
}).filter(({ text }) => text.trim() !== ''))()`;

interface DrawnText {
  readonly text: string;
  readonly corners: readonly (readonly [number, number])[];
}

/** Two rotated rectangles are apart when a line parallel to a side of one of them separates them. */
function overlap(a: DrawnText, b: DrawnText): boolean {
  return [a, b].every(({ corners }) =>
    [0, 1].every((side) => {
      const [[fromX, fromY] = [0, 0], [toX, toY] = [0, 0]] = [corners[side], corners[side + 1]];
      const along = (one: DrawnText): readonly number[] =>
        one.corners.map(([x, y]) => x * (toX - fromX) + y * (toY - fromY));
      const [own, other] = [along(a), along(b)];
      return Math.max(...own) > Math.min(...other) && Math.max(...other) > Math.min(...own);
    }),
  );
}

suite('charts in a browser', () => {
  let browser: TestBrowser;
  before(async () => {
    browser = await startBrowser();
  });
  after(() => browser?.close());

  for (const [name, chart] of Object.entries(DIFFICULT)) {
    test(`${name}: no text overlaps another or leaves the drawing`, async () => {
      const { page, complaints } = await browser.open({ viewport: { width: 1000, height: 1200 } });
      const svg = chartSvg(chart);
      const source = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
      await page.setContent(`<img src="${source}">`);
      const width = `document.querySelector('img').decode().then(() => document.images[0].naturalWidth)`;
      assert.equal(await page.evaluate(width), 960);

      await page.setContent(`<body style="margin:0">${svg}`);
      const written: readonly DrawnText[] = await page.evaluate(CORNERS);
      const height: number = await page.evaluate('document.querySelector("svg").getBoundingClientRect().height');
      const outside = written.filter(({ corners }) =>
        corners.some(([x, y]) => x < 0 || x > 960 || y < 0 || y > height),
      );
      assert.deepEqual(
        outside.map(({ text }) => text),
        [],
      );
      const pairs = written.flatMap((a, at) =>
        written
          .slice(at + 1)
          .filter((b) => overlap(a, b))
          .map((b) => [a.text, b.text]),
      );
      assert.deepEqual(pairs, []);
      assert.ok(written.length > chart.series.length);
      assert.deepEqual(complaints, []);
      await page.context().close();
    });
  }

  test('bars stay on their own side of the zero line, in the order of the legend, and none covers another', async () => {
    const { page } = await browser.open();
    await page.setContent(`<body style="margin:0">${chartSvg(fullChart('bars'))}`);
    const boxes: readonly { readonly left: number; readonly right: number; readonly bottom: number }[] =
      await page.evaluate(
        `[...document.querySelectorAll('rect.bar')].slice(8).map((bar) => {
        const { left, right, bottom } = bar.getBoundingClientRect();
        return { left, right, bottom };
      })`,
      );
    const floor: number = await page.evaluate(`document.querySelector('line.base').getBoundingClientRect().bottom`);
    assert.ok(boxes.length > 70, String(boxes.length));
    for (const [at, { right, bottom }] of boxes.entries()) {
      assert.ok(right <= (boxes[at + 1]?.left ?? 960), `bar ${at}`);
      assert.ok(bottom <= floor + 1, `bar ${at}`);
    }
    await page.context().close();
  });
});

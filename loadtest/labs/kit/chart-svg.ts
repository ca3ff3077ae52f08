import { lightStyle } from '../../../src/report/document.ts';
import { element, type Markup, styleSheet } from '../../../src/report/markup.ts';
import { bars } from './chart/bars.ts';
import { HEAD_PX } from './chart/drawing.ts';
import { legendOf } from './chart/legend.ts';
import { lines } from './chart/lines.ts';
import { looksOf, seriesName } from './chart/look.ts';
import { placeNames } from './chart/places.ts';
import { type ChartScale, chartScale, isKnown } from './chart/scale.ts';
import { CHART_STYLE } from './chart/style.ts';
import { fitted, textPx } from './chart/text-room.ts';
import type { Chart } from './finding.ts';
import { valueText } from './value-text.ts';

const [WIDTH_PX, EDGE_PX, PLOT_PX] = [960, 16, 280];
const TITLE = { fontPx: 16, isBold: true, px: WIDTH_PX - 2 * EDGE_PX, lines: 3 } as const;
const TITLE_LINE_PX = 21;
const TICK = { fontPx: 12 } as const;
const LOGARITHMIC = 'logarithmic';
const ACROSS = { fontPx: 12.5, lines: 2 } as const;

/** One chart as an SVG file of its own, on light ground, for pages that are not ours. Any text makes a well-formed one. */
export function chartSvg(chart: Chart): string {
  const looks = looksOf(chart);
  const scale = chartScale(chart, PLOT_PX);
  const title = fitted(chart.title, TITLE).lines;
  const legend = legendOf(chart, looks, {
    ...{ x: EDGE_PX, y: EDGE_PX + title.length * TITLE_LINE_PX },
    width: WIDTH_PX - 2 * EDGE_PX,
  });
  const topPx = EDGE_PX + title.length * TITLE_LINE_PX + legend.heightPx + HEAD_PX + 6;
  const floor = topPx + PLOT_PX;
  const tickTexts = [chart.isLog ? LOGARITHMIC : '', ...scale.ticks.map(({ text = '' }) => text)];
  const leftPx = EDGE_PX + 8 + Math.max(30, ...tickTexts.map((text) => textPx(text, TICK)));
  const wide = WIDTH_PX - EDGE_PX - leftPx;
  const stepPx = wide / Math.max(1, chart.places.length);
  const startPx = leftPx + stepPx / 2;
  const names = placeNames({ places: chart.places, startPx, stepPx, y: floor + 2 });
  const across = fitted(chart.across, { ...ACROSS, px: wide }).lines;
  const drawing = { chart, looks, scale, startPx, stepPx, topPx, heightPx: PLOT_PX };
  const acrossPx = floor + names.heightPx + 20;
  const heightPx = acrossPx + (across.length - 1) * 16 + 12;
  const isEmpty = !chart.series.some(({ values }) => values.slice(0, chart.places.length).some(isKnown));
  const file = element(
    'svg',
    {
      ...{ xmlns: 'http://www.w3.org/2000/svg', width: WIDTH_PX, height: heightPx },
      ...{ viewBox: `0 0 ${WIDTH_PX} ${Math.round(heightPx * 100) / 100}`, role: 'img' },
      'aria-labelledby': 'chart-title chart-desc',
    },
    element('title', { id: 'chart-title' }, chart.title),
    element('desc', { id: 'chart-desc' }, words(chart)),
    // Constants of ours: a style is not escaped.
    styleSheet(`${lightStyle()}${CHART_STYLE}`),
    element('rect', { class: 'paper', width: WIDTH_PX, height: heightPx, rx: 6 }),
    title.map((line, i) => element('text', { class: 'heading', x: EDGE_PX, y: 24 + i * TITLE_LINE_PX }, line)),
    legend.drawn,
    axis(scale, { leftPx, topPx }),
    chart.isLog ? element('text', { class: 'tick', x: leftPx - 8, y: topPx - 12 }, LOGARITHMIC) : undefined,
    names.drawn,
    isEmpty
      ? element('text', { class: 'nothing', x: leftPx + wide / 2, y: topPx + PLOT_PX / 2 }, 'nothing was measured')
      : (chart.shape === 'bars' ? bars : lines)(drawing),
    across.map((line, i) => element('text', { class: 'across', x: leftPx + wide / 2, y: acrossPx + i * 16 }, line)),
  );
  return `${file.markup}\n`;
}

function axis({ ticks }: ChartScale, { leftPx, topPx }: { readonly leftPx: number; readonly topPx: number }): Markup {
  return element(
    'g',
    {},
    ticks.map(({ y }, i) => {
      const at = topPx + y;
      return element('line', { class: i === 0 ? 'base' : 'grid', x1: leftPx, x2: WIDTH_PX - EDGE_PX, y1: at, y2: at });
    }),
    ticks.map(({ y, text }) =>
      text === undefined ? undefined : element('text', { class: 'tick', x: leftPx - 8, y: topPx + y + 4 }, text),
    ),
  );
}

/** All of its figures, for who cannot see them. */
function words({ across, places, unit, isLog, series }: Chart): string {
  const figures = series.map((one) => {
    const points = places.map((place, at) => `${place}: ${valueText(one.values[at], unit)}`);
    return `${seriesName(one)}: ${points.join('; ')}.`;
  });
  return [`Over ${across}${isLog ? ', on a logarithmic axis' : ''}.`, ...figures].join(' ');
}

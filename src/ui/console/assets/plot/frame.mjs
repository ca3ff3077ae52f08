import { WINDOW_MS } from '../data/history.mjs';
import uPlot from '../uplot.mjs';
import { UNKNOWN } from '../view/format.mjs';

/**
 * @typedef {import('uplot').Options} Options
 * @typedef {import('uplot').Axis} Axis
 * @typedef {import('uplot').Scale.Range} Range
 * @typedef {import('./charts.mjs').Chart} Chart
 * @typedef {import('./palette.mjs').Palette} Palette
 */

const FONT = '11px system-ui, sans-serif';
const DASH = [5, 4];
const AXIS_PX = 52;
const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' });

/** @type {Readonly<Record<Chart['scale'], Range>>} */
const RANGES = {
  share: [0, 1],
  count: (_plot, _min, max) => [0, Math.max(1, max * 1.1)],
  log: (_plot, min, max) => [
    10 ** Math.floor(Math.log10(min || 1)),
    10 ** Math.ceil(Math.log10(Math.max(max || 100, (min || 1) * 1.01))),
  ],
};

/**
 * How a chart is drawn: one window of time for all, one pointer over all.
 * @param {Chart} chart
 * @param {object} surroundings
 * @param {Palette} surroundings.colour
 * @param {number} surroundings.width
 * @param {number} surroundings.height
 * @param {() => number} surroundings.nowS The right edge.
 * @param {(plot: import('uplot')) => void} surroundings.under Draws what lies behind the lines.
 * @param {(at: number | null | undefined) => void} surroundings.point The pointer has moved to a moment, or away.
 * @returns {Options}
 */
export function optionsOf(chart, { colour, width, height, nowS, under, point }) {
  const isLog = chart.scale === 'log';
  return {
    width,
    height,
    padding: [8, 18, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, sync: { key: 'ops' }, y: false, points: { size: 6 } },
    scales: {
      x: { time: true, range: () => [nowS() - WINDOW_MS / 1000, nowS()] },
      y: { distr: isLog ? 3 : 1, range: RANGES[chart.scale] },
    },
    axes: [
      {
        ...axisStyle(colour),
        incrs: [60],
        space: 50,
        size: 24,
        values: (_plot, splits) => splits.map((s) => TIME.format(s * 1000)),
      },
      {
        ...axisStyle(colour),
        size: AXIS_PX,
        space: 26,
        ...(chart.scale === 'count'
          ? { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000] }
          : {}),
        ...(isLog
          ? { splits: (_plot, _axis, min, max) => powersBetween(min, max), filter: (_plot, splits) => splits }
          : {}),
        values: (_plot, splits) => splits.map((value) => (value === null ? '' : labelOf(chart, value))),
      },
    ],
    series: [
      {},
      ...chart.lines.map((line, at) => ({
        label: line.name,
        stroke: () => colour(line.colour),
        width: chart.stacked === true ? 1 : 1.75,
        points: { show: false },
        spanGaps: false,
        ...(line.dashed === true ? { dash: DASH } : {}),
        ...(line.stepped === true && stepped !== undefined ? { paths: stepped } : {}),
        ...(chart.stacked === true ? { fill: () => colour(line.colour, 'd0') } : {}),
        ...(chart.scale === 'share' && at === 0 ? { fill: () => colour(line.colour, '26') } : {}),
      })),
    ],
    ...(chart.stacked === true
      ? { bands: chart.lines.slice(1).map((_, i) => ({ series: /** @type {[number, number]} */ ([i + 2, i + 1]) })) }
      : {}),
    hooks: { drawClear: [under], setCursor: [({ cursor }) => point(cursor.idx)] },
  };
}

/**
 * @param {number} min
 * @param {number} max
 */
function powersBetween(min, max) {
  const first = Math.round(Math.log10(min));
  return Array.from({ length: Math.round(Math.log10(max)) - first + 1 }, (_, i) => 10 ** (first + i));
}

/**
 * @param {Palette} colour
 * @returns {Axis}
 */
function axisStyle(colour) {
  return {
    stroke: () => colour('soft'),
    font: FONT,
    grid: { stroke: () => colour('line'), width: 1 },
    ticks: { stroke: () => colour('line'), width: 1, size: 4 },
    gap: 4,
  };
}

/**
 * @param {Chart} chart
 * @param {number} value
 */
function labelOf({ scale, format }, value) {
  if (scale === 'share') return `${Math.round(value * 100)} %`;
  if (scale === 'count') return value === 0 ? '0' : String(value);
  const text = format(value);
  return text === UNKNOWN ? '' : text.replace(/[.]0+ /, ' ').replace(/(\.\d)0 /, '$1 ');
}

/** A limit holds until the next one. */
const stepped = uPlot.paths.stepped?.({ align: 1 });

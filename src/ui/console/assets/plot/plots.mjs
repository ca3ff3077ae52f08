/**
 * Charts with one axis of time, drawn with uPlot.
 * @typedef {import('uplot').Options} Options
 * @typedef {import('uplot').Axis} Axis
 * @typedef {import('uplot').Scale.Range} Range
 * @typedef {import('./charts.mjs').DomainLook} DomainLook
 * @typedef {import('./charts.mjs').Palette} Palette
 * @typedef {{ readonly redraw: () => void, readonly end: () => void }} DrawnChart
 *
 * @typedef {object} TimeAxis
 * @property {boolean} isWallTime
 * @property {(lastMs: number | undefined) => [fromS: number, toS: number]} range `lastMs`: the last moment.
 * @property {number[]} stepsS Distances of the ticks.
 * @property {(seconds: number) => string} tickText
 * @property {(atMs: number | undefined) => string} momentText The time at the pointer.
 */

/**
 * @template Look
 * @typedef {import('./charts.mjs').Chart<Look>} Chart
 */

/**
 * @template Look
 * @typedef {import('./charts.mjs').Moment<Look>} Moment
 */

/**
 * @template Look
 * @typedef {object} Plotted
 * @property {readonly Chart<Look>[]} charts
 * @property {Palette} colour
 * @property {TimeAxis} axis
 * @property {(host: HTMLElement) => readonly Moment<Look>[]} momentsOf
 * @property {(plot: uPlot, moments: readonly Moment<Look>[]) => void} [drawBehind] Draws behind the lines.
 */

import { countText } from '../../../../report/format.mjs';
import { patch } from '../../../shared/patch.mjs';
import { h } from '../../../shared/tree.mjs';
import uPlot from '../uplot.mjs';
import { clockTime } from '../view/format.mjs';
import { columnsOf, WINDOW_MS } from './charts.mjs';

const DASH = [5, 4];
const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' });
export const VALUE_AXIS_PX = 52;

/** @type {Readonly<Record<Chart<never>['scale'], Range>>} */
const RANGES = {
  share: [0, 1],
  // Rare errors are visible, and none at all is a line at the bottom.
  part: (_plot, _min, max) => [0, Math.min(1, Math.max(0.01, max * 1.1))],
  count: (_plot, _min, max) => [0, Math.max(1, max * 1.1)],
  log: (_plot, min, max) => [
    10 ** Math.floor(Math.log10(min || 1)),
    10 ** Math.ceil(Math.log10(Math.max(max || 100, (min || 1) * 1.01))),
  ],
};

/**
 * The last five minutes, by the clock.
 * @type {TimeAxis}
 */
export const LIVE_AXIS = {
  isWallTime: true,
  range: (lastMs = Date.now()) => [(lastMs - WINDOW_MS) / 1000, lastMs / 1000],
  stepsS: [60],
  tickText: (seconds) => TIME.format(seconds * 1000),
  momentText: clockTime,
};

/**
 * Draws into the element that the view keeps for the charts.
 * @template Look
 * @param {Plotted<Look>} plotted
 */
export function createPlots(plotted) {
  /** @type {{ readonly host: Element, readonly charts: readonly DrawnChart[] } | undefined} */
  let current;
  /** @type {unknown} */
  let drawnState;
  const redraw = () => {
    for (const chart of current?.charts ?? []) chart.redraw();
  };

  return {
    /**
     * @param {HTMLElement | null} host Null when the view has no charts.
     * @param {unknown} state What the moments are made of. The charts are redrawn only when it has changed.
     */
    show: (host, state) => {
      if (current !== undefined && current.host !== host) {
        for (const chart of current.charts) chart.end();
        current = undefined;
      }
      if (host === null) return;
      if (current === undefined) {
        drawnState = undefined;
        current = { host, charts: plotted.charts.map((chart) => drawChart(chart, host, plotted)) };
      }
      if (drawnState !== state) redraw();
      drawnState = state;
    },
    recolour: redraw,
  };
}

/**
 * @param {Palette} colour
 * @returns {Axis}
 */
export function axisStyle(colour) {
  return {
    stroke: () => colour('soft'),
    font: '11px system-ui, sans-serif',
    grid: { stroke: () => colour('line'), width: 1 },
    ticks: { stroke: () => colour('line'), width: 1, size: 4 },
  };
}

/**
 * @template Look
 * @param {Chart<Look>} chart
 * @param {HTMLElement} host
 * @param {Plotted<Look>} plotted
 * @returns {DrawnChart}
 */
function drawChart(chart, host, { colour, axis, momentsOf, drawBehind }) {
  const moments = () => momentsOf(host);
  const figure = document.createElement('figure');
  figure.className = `plot ${chart.id}`;
  const caption = document.createElement('figcaption');
  const canvas = document.createElement('div');
  canvas.className = 'canvas';
  // The legend says in words what the lines show.
  canvas.setAttribute('aria-hidden', 'true');
  figure.append(caption, canvas);
  host.append(figure);

  /** @type {number | null | undefined} */
  let pointedAt;
  const drawLegend = () => {
    const all = moments();
    const isPointed = typeof pointedAt === 'number';
    const moment = isPointed ? all[/** @type {number} */ (pointedAt)] : all.at(-1);
    patch(caption, legendView(chart, moment, isPointed ? axis.momentText(moment?.atMs) : undefined));
  };
  const plot = new uPlot(
    optionsOf(chart, {
      colour,
      axis,
      width: canvas.clientWidth,
      height: canvas.clientHeight,
      range: () => axis.range(moments().at(-1)?.atMs),
      drawBehind: (self) => drawBehind?.(self, moments()),
      onPointer: (at) => {
        pointedAt = at;
        drawLegend();
      },
    }),
    columnsOf(chart, moments()),
    canvas,
  );
  const sizes = new ResizeObserver(() => plot.setSize({ width: canvas.clientWidth, height: canvas.clientHeight }));
  sizes.observe(canvas);
  return {
    redraw: () => {
      plot.setData(columnsOf(chart, moments()));
      drawLegend();
    },
    end: () => {
      sizes.disconnect();
      plot.destroy();
      figure.remove();
    },
  };
}

/**
 * The lines with their values: the latest, or those at the pointer.
 * @template Look
 * @param {Chart<Look>} chart
 * @param {Moment<Look> | undefined} moment
 * @param {string | undefined} pointedTime The time at the pointer; undefined for the latest values.
 */
function legendView({ title, lines, format }, moment, pointedTime) {
  const { look } = moment ?? {};
  return [
    h('h3', {}, title, h('small', {}, pointedTime === undefined ? '' : ` at ${pointedTime}`)),
    h(
      'ul',
      {},
      lines.map(({ name, colour, dashed, read }) =>
        h(
          'li',
          { 'data-key': name },
          h('i', { class: `swatch ${colour} ${dashed === true ? 'dashed' : ''}` }),
          name,
          ' ',
          h('b', {}, format(look === undefined ? undefined : read(look))),
        ),
      ),
    ),
  ];
}

/**
 * Shades the time of a drill: darker while keys are flushed or the engine is blacked out, lighter otherwise.
 * @param {import('uplot')} plot
 * @param {readonly Moment<DomainLook>[]} moments
 * @param {Palette} colour
 */
export function shadeDrills(plot, moments, colour) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  moments.forEach(({ atMs, look }, i) => {
    const drill = look?.control.drill;
    const before = moments[i - 1];
    if (drill === undefined || before === undefined) return;
    // Whole pixels: two areas that share one would show a stripe.
    const left = Math.round(plot.valToPos(before.atMs / 1000, 'x', true));
    const right = Math.round(plot.valToPos(atMs / 1000, 'x', true));
    ctx.fillStyle = colour('drill', drill.blackout || drill.flushed > 0 ? '38' : '18');
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
  });
  ctx.restore();
}

/**
 * All charts have the same window of time and show the same pointer.
 * @template Look
 * @param {Chart<Look>} chart
 * @param {object} options
 * @param {Palette} options.colour
 * @param {TimeAxis} options.axis
 * @param {number} options.width
 * @param {number} options.height
 * @param {() => [number, number]} options.range Seconds.
 * @param {(plot: import('uplot')) => void} options.drawBehind Draws behind the lines.
 * @param {(at: number | null | undefined) => void} options.onPointer The pointer is at this moment, or has left.
 * @returns {Options}
 */
function optionsOf(chart, { colour, axis, width, height, range, drawBehind, onPointer }) {
  const isLog = chart.scale === 'log';
  return {
    width,
    height,
    padding: [8, 18, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, sync: { key: 'ops' }, y: false, points: { size: 6 } },
    scales: {
      x: { time: axis.isWallTime, range },
      y: { distr: isLog ? 3 : 1, range: RANGES[chart.scale] },
    },
    axes: [
      {
        ...axisStyle(colour),
        gap: 4,
        incrs: axis.stepsS,
        space: 50,
        size: 24,
        values: (_plot, splits) => splits.map(axis.tickText),
      },
      {
        ...axisStyle(colour),
        gap: 4,
        size: VALUE_AXIS_PX,
        space: 26,
        ...(chart.scale === 'count'
          ? { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000] }
          : {}),
        ...(isLog
          ? { splits: (_plot, _axis, min, max) => powersBetween(min, max), filter: (_plot, splits) => splits }
          : {}),
        values: (_plot, splits) => splits.map((value) => (value === null ? '' : axisLabel(chart, value))),
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
    hooks: { drawClear: [drawBehind], setCursor: [({ cursor }) => onPointer(cursor.idx)] },
  };
}

/** The path of a limit: each value holds until the next one. */
const stepped = uPlot.paths.stepped?.({ align: 1 });

/**
 * @param {number} min
 * @param {number} max
 */
function powersBetween(min, max) {
  const first = Math.round(Math.log10(min));
  return Array.from({ length: Math.round(Math.log10(max)) - first + 1 }, (_, i) => 10 ** (first + i));
}

/**
 * @param {Pick<Chart<never>, 'scale' | 'format'>} chart
 * @param {number} value
 */
function axisLabel({ scale, format }, value) {
  return scale === 'count' ? countText(value) : format(value);
}

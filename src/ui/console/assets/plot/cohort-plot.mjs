import uPlot from '../uplot.mjs';
import { cohortCount, recentRatio } from '../view/cohorts.mjs';
import { stopwatch } from '../view/format.mjs';
import { hueOf } from './hues.mjs';

/**
 * @typedef {import('../data/shapes.mjs').Journal} Journal
 * @typedef {import('./palette.mjs').Palette} Palette
 */

const STEPS_S = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1200, 3600];

/**
 * The hit ratio of each cohort since the drill began.
 * @param {Palette} colour
 */
export function createCohortPlot(colour) {
  /** @type {{ readonly host: Element, readonly plot: uPlot, readonly sizes: ResizeObserver } | undefined} */
  let current;
  /** @type {Journal | undefined} */
  let drawn;

  const end = () => {
    current?.sizes.disconnect();
    current?.plot.destroy();
    current = undefined;
  };

  return {
    /**
     * @param {HTMLElement | null} host
     * @param {Journal | undefined} journal
     */
    show: (host, journal) => {
      if (current !== undefined && current.host !== host) end();
      if (host === null || journal === undefined || journal.samples.length === 0) return;
      if (current !== undefined && drawn === journal) return;
      drawn = journal;
      const data = columnsOf(journal);
      // A cohort begins with its stage.
      if (current !== undefined && current.plot.series.length !== data.length) end();
      if (current === undefined) {
        host.setAttribute('aria-hidden', 'true');
        const plot = new uPlot(optionsOf(host, colour, data.length - 1), data, host);
        const sizes = new ResizeObserver(() => plot.setSize({ width: host.clientWidth, height: host.clientHeight }));
        sizes.observe(host);
        current = { host, plot, sizes };
      }
      current.plot.setData(data);
    },
    recolour: () => current?.plot.redraw(),
  };
}

/**
 * @param {Journal} journal
 * @returns {[number[], ...(number | null)[][]]}
 */
function columnsOf({ samples }) {
  const cohorts = Array.from({ length: Math.max(1, cohortCount(samples)) }, (_, at) =>
    samples.map((_sample, i) => recentRatio(samples, at, i) ?? null),
  );
  return [samples.map(({ atMs }) => atMs / 1000), ...cohorts];
}

/**
 * @param {HTMLElement} host
 * @param {Palette} colour
 * @param {number} count
 * @returns {import('uplot').Options}
 */
function optionsOf(host, colour, count) {
  const axis = {
    stroke: () => colour('soft'),
    font: '11px system-ui, sans-serif',
    grid: { stroke: () => colour('line'), width: 1 },
    ticks: { stroke: () => colour('line'), width: 1, size: 4 },
  };
  return {
    width: host.clientWidth,
    height: host.clientHeight,
    padding: [8, 18, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: false }, y: { range: [0, 1] } },
    axes: [
      {
        ...axis,
        size: 24,
        space: 60,
        incrs: STEPS_S,
        values: (_plot, splits) => splits.map((s) => stopwatch(s * 1000)),
      },
      {
        ...axis,
        size: 52,
        space: 26,
        values: (_plot, splits) => splits.map((value) => `${Math.round(value * 100)} %`),
      },
    ],
    series: [
      {},
      ...Array.from({ length: count }, (_, at) => ({
        stroke: () => colour(hueOf(at)),
        width: at === 0 ? 2.5 : 1.5,
        points: { show: false },
        // A small cohort is not asked for every half second: what lies between two answers is a guess, and is joined.
        spanGaps: true,
      })),
    ],
  };
}

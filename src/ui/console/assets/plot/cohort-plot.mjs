import { stopwatchText } from '../../../../report/format.mjs';
import uPlot from '../uplot.mjs';
import { cohortColour, cohortCount, recentRatio } from '../view/cohorts.mjs';
import { axisStyle, VALUE_AXIS_PX } from './plots.mjs';

/**
 * @typedef {import('../api.mjs').Journal} Journal
 * @typedef {import('./charts.mjs').Palette} Palette
 */

const TIME_STEPS_S = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1200, 3600];

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
     * @param {HTMLElement | null} host Null when the view shows no drill.
     * @param {Journal | undefined} journal
     */
    show: (host, journal) => {
      if (current !== undefined && current.host !== host) end();
      if (host === null || journal === undefined || journal.samples.length === 0) return;
      if (current !== undefined && drawn === journal) return;
      drawn = journal;
      const data = cohortColumns(journal);
      // Each stage adds a cohort, and uPlot's number of series is fixed.
      if (current !== undefined && current.plot.series.length !== data.length) end();
      if (current === undefined) {
        host.setAttribute('aria-hidden', 'true');
        const plot = new uPlot(cohortOptions(host, colour, data.length - 1), data, host);
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
function cohortColumns({ samples }) {
  const cohorts = Array.from({ length: Math.max(1, cohortCount(samples)) }, (_, at) =>
    samples.map((_sample, i) => recentRatio(samples, at, i) ?? null),
  );
  return [samples.map(({ atMs }) => atMs / 1000), ...cohorts];
}

/**
 * @param {HTMLElement} host
 * @param {Palette} colour
 * @param {number} count The number of cohorts, with the control.
 * @returns {import('uplot').Options}
 */
function cohortOptions(host, colour, count) {
  return {
    width: host.clientWidth,
    height: host.clientHeight,
    padding: [8, 18, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: false }, y: { range: [0, 1] } },
    axes: [
      {
        ...axisStyle(colour),
        size: 24,
        space: 60,
        incrs: TIME_STEPS_S,
        values: (_plot, splits) => splits.map((s) => stopwatchText(s * 1000)),
      },
      {
        ...axisStyle(colour),
        size: VALUE_AXIS_PX,
        space: 26,
        values: (_plot, splits) => splits.map((value) => `${Math.round(value * 100)} %`),
      },
    ],
    series: [
      {},
      ...Array.from({ length: count }, (_, at) => ({
        stroke: () => colour(cohortColour(at)),
        width: at === 0 ? 2.5 : 1.5,
        points: { show: false },
        // A small cohort is not searched every half second: the line joins the samples that have a ratio.
        spanGaps: true,
      })),
    ],
  };
}

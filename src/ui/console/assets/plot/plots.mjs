import { patch } from '../../../page/assets/patch.mjs';
import uPlot from '../uplot.mjs';
import { clockTime } from '../view/format.mjs';
import { CHARTS } from './charts.mjs';
import { columnsOf } from './columns.mjs';
import { drawDrilled } from './drilled.mjs';
import { optionsOf } from './frame.mjs';
import { legendView } from './legend.mjs';

/**
 * @typedef {import('../data/history.mjs').Moment} Moment
 * @typedef {import('./charts.mjs').Chart} Chart
 * @typedef {{ readonly redraw: () => void, readonly end: () => void }} Drawn
 */

/**
 * The charts of one domain, in the element the page keeps for them.
 * @param {import('./palette.mjs').Palette} colour
 * @param {(domain: string) => readonly Moment[]} momentsOf
 */
export function createPlots(colour, momentsOf) {
  /** @type {{ readonly host: Element, readonly drawn: readonly Drawn[] } | undefined} */
  let current;
  /** @type {unknown} */
  let drawnOf;
  const redraw = () => {
    for (const drawn of current?.drawn ?? []) drawn.redraw();
  };

  return {
    /**
     * Draws into what stands on the page now, if anything does.
     * @param {HTMLElement | null} host
     * @param {unknown} latest Another one than before: there is something new to draw.
     */
    show: (host, latest) => {
      if (current !== undefined && current.host !== host) {
        for (const { end } of current.drawn) end();
        current = undefined;
      }
      if (host === null) return;
      if (current === undefined) {
        const domain = host.dataset.plots ?? '';
        drawnOf = undefined;
        current = { host, drawn: CHARTS.map((chart) => draw(chart, host, colour, () => momentsOf(domain))) };
      }
      if (drawnOf !== latest) redraw();
      drawnOf = latest;
    },
    recolour: redraw,
  };
}

/**
 * @param {Chart} chart
 * @param {Element} host
 * @param {import('./palette.mjs').Palette} colour
 * @param {() => readonly Moment[]} moments
 * @returns {Drawn}
 */
function draw(chart, host, colour, moments) {
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
  let pointed;
  const legend = () => {
    const all = moments();
    const moment = typeof pointed === 'number' ? all[pointed] : all.at(-1);
    patch(caption, legendView(chart, moment, typeof pointed === 'number' ? clockTime(moment?.atMs) : undefined));
  };
  const plot = new uPlot(
    optionsOf(chart, {
      colour,
      width: canvas.clientWidth,
      height: canvas.clientHeight,
      nowS: () => (moments().at(-1)?.atMs ?? Date.now()) / 1000,
      under: (self) => drawDrilled(self, moments(), colour),
      point: (at) => {
        pointed = at;
        legend();
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
      legend();
    },
    end: () => {
      sizes.disconnect();
      plot.destroy();
      figure.remove();
    },
  };
}

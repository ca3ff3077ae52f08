import { countText, durationText } from '../../src/report/format.ts';
import { element, type Markup } from '../../src/report/markup.ts';
import { backdrop } from '../../src/report/plot/backdrop.ts';
import { FRAME_WIDTH, linearScale } from '../../src/report/plot/frame.ts';
import { momentSign } from '../../src/report/plot/panel.ts';
import type { Sheet } from './curve.ts';
import { eventTable } from './event-table.ts';
import { plotFigure } from './plot.ts';
import { runPlots } from './run-plots.ts';
import { type Scenery, sceneryOf, signsUsed } from './scenery.ts';

const BACKDROP = 'over-time';

/** The whole run, second by second, on one axis of time. */
export function overTime(sheet: Sheet): Markup {
  const scenery = sceneryOf(sheet);
  return element(
    'section',
    { 'aria-labelledby': 'time' },
    element('h2', { id: 'time' }, 'Over time'),
    plotKey(sheet, scenery),
    backdrop({ id: BACKDROP, x: linearScale(0, sheet.timeline.toMs, 0, FRAME_WIDTH), ...scenery }),
    runPlots(sheet).map((plot) => plotFigure(plot, BACKDROP)),
    eventTable(sheet.record),
  );
}

/** How the plots are read, and how much each of their points stands for. */
function plotKey(sheet: Sheet, scenery: Scenery): Markup {
  const signs = signsUsed(sheet.record, scenery);
  return element(
    'div',
    {},
    element(
      'p',
      {},
      'All share one axis of time: since the first step began. The strip above each names the steps, where their rate holds; ramps between them stay blank, and a step that broke has a ✕ and a red tint.',
    ),
    signs.length === 0
      ? undefined
      : element(
          'ul',
          { class: 'legend' },
          signs.map(({ style, shape, words }) =>
            element('li', {}, momentSign(style, shape), element('span', {}, words)),
          ),
        ),
    element('p', { class: 'note' }, pointsText(sheet)),
  );
}

function pointsText({ timeline, columnMs }: Sheet): string {
  const seconds = timeline.seconds.flat().length;
  if (seconds === 0) return 'The generator told of no second.';
  if (columnMs <= 1000) return `Every one of ${countText(seconds)} seconds is drawn.`;
  return `${countText(seconds)} seconds, ${durationText(columnMs)} on each point: lines are their mean (p90, p99, places and memory: their worst; p50: the middle one), the tint around a line reaches from the lowest to the highest of them, areas are means.`;
}

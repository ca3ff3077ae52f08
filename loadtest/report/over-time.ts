import { countText, durationText, elapsedText } from '../../src/report/format.mjs';
import { type Content, element, type Markup, said, table } from '../../src/report/markup.ts';
import { backdrop } from '../../src/report/plot/backdrop.ts';
import { FRAME_WIDTH, linearScale } from '../../src/report/plot/frame.ts';
import { momentSign } from '../../src/report/plot/panel.ts';
import type { Judged } from '../judge/judge.ts';
import type { RunEvent, RunRecord } from '../judge/record.ts';
import { errorPlot, hitRatioPlot, latencyPlot, outcomePlot, ratePlot } from './answer-plots.ts';
import { enginePermitsPlot, engineRatePlot, memoryPlot, processorPlot, storePlot } from './part-plots.ts';
import {
  type Annotations,
  annotationsOf,
  EVENT_SIGNS,
  isSigned,
  type Plot,
  type PlotContext,
  plotFigure,
  signsUsed,
} from './plot.ts';
import { timelineOf } from './timeline.ts';
import { note, section } from './words.ts';

/** In the order of the page: first the requests, then the parts. */
const PLOTS = {
  rate: ratePlot,
  latency: latencyPlot,
  outcomes: outcomePlot,
  'hit-ratio': hitRatioPlot,
  errors: errorPlot,
  engine: engineRatePlot,
  permits: enginePermitsPlot,
  store: storePlot,
  memory: memoryPlot,
  processors: processorPlot,
} as const satisfies Readonly<Record<string, (context: PlotContext, id: string) => Plot>>;

export type PlotName = keyof typeof PLOTS;

/** Points along a plot: they keep the page of a long run under 400 KB. */
const COLUMNS = 300;

export function plotContext(record: RunRecord, judged: Judged): PlotContext {
  const timeline = timelineOf(record);
  return { record, judged, timeline, columnMs: timeline.toMs / COLUMNS };
}

function runPlots(context: PlotContext): readonly Plot[] {
  return Object.entries(PLOTS).map(([name, plot]) => plot(context, `plot-${name}`));
}

export function runPlot(context: PlotContext, name: PlotName): Plot {
  return PLOTS[name](context, `plot-${name}`);
}

const BACKDROP = 'over-time';

/** All plots on one axis of time, and the events. */
export function overTime(context: PlotContext): Markup {
  const annotations = annotationsOf(context);
  return section(
    'time',
    'Over time',
    plotKey(context, annotations),
    backdrop({ id: BACKDROP, x: linearScale(0, context.timeline.toMs, 0, FRAME_WIDTH), ...annotations }),
    runPlots(context).map((plot) => plotFigure(plot, BACKDROP)),
    eventTable(context.record),
  );
}

/** Explains the plots and the duration of their points. */
function plotKey(context: PlotContext, annotations: Annotations): Markup {
  const signs = signsUsed(context.record, annotations);
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
    note(pointsText(context)),
  );
}

function pointsText({ timeline, columnMs }: PlotContext): string {
  const seconds = timeline.seconds.flat().length;
  if (seconds === 0) return 'The generator told of no second.';
  if (columnMs <= 1000) return `Every one of ${countText(seconds)} seconds is drawn.`;
  return `${countText(seconds)} seconds, ${durationText(columnMs)} on each point: lines are their mean (p90, p99, permits and memory: their worst; p50: the middle one), the tint around a line reaches from the lowest to the highest of them, areas are means.`;
}

/** Rows in the page: a drill with a guard that trips again and again writes many more events. */
const MAX_ROWS = 200;

/** Actions of an operator, or of the script as an operator. */
function eventTable({ events, summary }: RunRecord): Content {
  const inOrder = events.toSorted((a, b) => a.atMs - b.atMs);
  // The first and the last ones are shown.
  const shown =
    inOrder.length > MAX_ROWS ? [...inOrder.slice(0, MAX_ROWS / 2), ...inOrder.slice(-MAX_ROWS / 2)] : inOrder;
  const left = inOrder.length - shown.length;
  return [
    table<RunEvent>({
      caption: 'What was done meanwhile',
      narrow: 'cards',
      columns: [
        { title: 'Elapsed', cell: ({ atMs }) => elapsedText(atMs - summary.startedAtMs) },
        { title: 'Kind', cell: kindCell },
        { title: 'What', isProse: true, cell: ({ text }) => said(text) },
        { title: 'Drill', cell: ({ drill }) => (drill === undefined ? '' : element('code', {}, said(drill))) },
      ],
      rows: shown,
    }),
    left === 0 ? undefined : note(`${countText(left)} in the middle are not shown; run.json has them all.`),
  ];
}

function kindCell({ kind }: RunEvent): Content {
  if (!isSigned(kind)) return said(kind);
  const { style, shape } = EVENT_SIGNS[kind];
  return element('span', { class: 'signed' }, momentSign(style, shape), ' ', kind);
}

import { ends, note, reportSection, said, table } from '../../src/report/components.ts';
import { countText, durationText, elapsedText } from '../../src/report/format.ts';
import { backdrop, momentSign, panelFigure, signLegend } from '../../src/report/plot/figure.ts';
import { timeScale } from '../../src/report/plot/frame.ts';
import type { Panel } from '../../src/report/plot/panel.ts';
import { type Child, h, type TreeElement } from '../../src/report/tree.ts';
import type { Judged } from '../judge/judge.ts';
import type { RunEvent, RunRecord } from '../judge/record.ts';
import { errorPlot, hitRatioPlot, latencyPlot, outcomePlot, ratePlot } from './answer-plots.ts';
import { enginePermitsPlot, engineRatePlot, memoryPlot, processorPlot, storePlot } from './part-plots.ts';
import {
  type Annotations,
  EVENT_SIGNS,
  isSigned,
  type PlotContext,
  runAnnotations,
  signsUsed,
  spanOf,
} from './plot.ts';
import { timelineOf } from './timeline.ts';

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
} as const satisfies Readonly<Record<string, (context: PlotContext, id: string) => Panel>>;

export type PlotName = keyof typeof PLOTS;

/** Points along a plot: they keep the page of a long run under 400 KB. */
const COLUMNS = 300;

export function plotContext(record: RunRecord, judged: Judged): PlotContext {
  const timeline = timelineOf(record);
  return { record, judged, timeline, columnMs: timeline.toMs / COLUMNS };
}

export function runPlot(context: PlotContext, name: PlotName): Panel {
  return PLOTS[name](context, `plot-${name}`);
}

const BACKDROP = 'over-time';

/** All plots on one axis of time, and the events. */
export function overTime(context: PlotContext): TreeElement {
  const annotations = runAnnotations(context);
  return reportSection(
    'time',
    'Over time',
    plotKey(context, annotations),
    backdrop({ id: BACKDROP, x: timeScale(spanOf(context.timeline)), ...annotations }),
    Object.entries(PLOTS).map(([name, plot]) => panelFigure(plot(context, `plot-${name}`), BACKDROP)),
    eventTable(context.record),
  );
}

function plotKey(context: PlotContext, annotations: Annotations): TreeElement {
  const signs = signsUsed(context.record, annotations);
  return h('div')(
    h('p')(
      'All share one axis of time: since the first step began. The strip above each names the steps, where their rate holds; ramps between them stay blank, and a step that broke has a ✕ and a red tint.',
    ),
    signLegend(signs),
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

function eventTable({ events, summary }: RunRecord): Child {
  const inOrder = events.toSorted((a, b) => a.atMs - b.atMs);
  const { shown, left } = ends(inOrder, MAX_ROWS);
  return [
    table<RunEvent>({
      caption: 'What was done meanwhile',
      columns: [
        { title: 'Elapsed', cell: ({ atMs }) => elapsedText(atMs - summary.startedAtMs) },
        { title: 'Kind', cell: kindCell },
        { title: 'What', isProse: true, cell: ({ text }) => said(text) },
        { title: 'Drill', cell: ({ drill }) => (drill === undefined ? '' : h('code')(said(drill))) },
      ],
      rows: shown,
    }),
    left > 0 && note(`${countText(left)} in the middle are not shown; run.json has them all.`),
  ];
}

function kindCell({ kind }: RunEvent): Child {
  if (!isSigned(kind)) return said(kind);
  return h('span', { class: 'signed' })(momentSign(EVENT_SIGNS[kind]), ' ', kind);
}

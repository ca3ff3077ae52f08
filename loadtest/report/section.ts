import { lightStyle, PLOT_STYLE } from '../../src/report/document.ts';
import { countText, percentText, perSecondText, UNKNOWN } from '../../src/report/format.mjs';
import { element, styleSheet } from '../../src/report/markup.ts';
import { backdrop } from '../../src/report/plot/backdrop.ts';
import { FRAME_WIDTH, linearScale, STRIP_PX, TIMES_PX, valueAxis } from '../../src/report/plot/frame.ts';
import { type LegendEntry, momentSign, panelDrawing, SWATCH_PX, swatch } from '../../src/report/plot/panel.ts';
import { type Judged, judge } from '../judge/judge.ts';
import type { BaseRate, RunRecord } from '../judge/record.ts';
import type { StepFigures } from '../judge/step-figures.ts';
import { PICTURE_STYLE } from '../labs/kit/chart.ts';
import { PLOTS } from '../labs/kit/finding.ts';
import { measuredWords, tableOfCells } from '../labs/kit/markdown.ts';
import { parseRecord, publishSection, recordText, type Section } from '../labs/kit/publish.ts';
import { prose } from '../labs/kit/text.ts';
import { type PlotName, plotContext, runPlot } from './over-time.ts';
import { LOAD_STYLE, type ReportOptions } from './page.ts';
import { annotationsOf, isPanel, type Sign, signsUsed } from './plot.ts';
import { CLIENT_FIGURES, PART_FIGURES, publishedWords, type StepFigure } from './tables.ts';
import { runOfThinned, type ThinnedRun, thinRun } from './thin-run.ts';
import { kneeWords, recoveryFigures, resultWords } from './words.ts';

/** The published plots of each script. */
const SHOWN_PLOTS: Readonly<Record<string, readonly PlotName[]>> = {
  'x-load': ['rate', 'latency', 'processors'],
  'flush-survival': ['outcomes', 'permits', 'latency'],
};
const OTHER_PLOTS: readonly PlotName[] = ['rate', 'latency'];

const REFUSED: StepFigure = {
  title: 'Refused',
  text: ({ summary: { outcomes, searches } }) => percentText(searches > 0 ? outcomes.shed / searches : undefined),
};
const SHOWN_FIGURES: readonly StepFigure[] = [
  ...Object.values(CLIENT_FIGURES),
  REFUSED,
  ...[PART_FIGURES.engine, PART_FIGURES.amplification, PART_FIGURES.permits, PART_FIGURES.store],
  ...[PART_FIGURES.serviceCores, PART_FIGURES.generatorCores],
];

/**
 * Writes a run into a page, with its plots and its record beside it.
 * @throws when the run is invalid or was not made on the local stack, when its commit is unknown, and as `publishSection` does.
 */
export function publishRun(record: RunRecord, page: string): void {
  if (record.verdict.kind === 'invalid') throw new Error(`${record.id} is invalid: it says nothing about the service`);
  publishSection(runSection(recordText(thinRun(record))), page);
}

/** The section of a run. It is rendered from the text of the record, so that a reader of the record can repeat it. */
export function runSection(record: string): Section {
  const thinned = parseRecord(record) as ThinnedRun;
  const { name } = thinned;
  const run = runOfThinned(thinned);
  const judged = judge(run);
  const plots = (SHOWN_PLOTS[name] ?? OTHER_PLOTS).flatMap((plot) => {
    const svg = plotSvg({ record: run, judged }, plot);
    return svg === undefined ? [] : [{ plot, svg, file: `${name}-${plot}.svg` }];
  });
  const knee = kneeWords(judged);
  const { kind, detail } = judged.verdict;
  const blocks = [
    `## ${prose(`${name}: ${kind}`)}`,
    prose([detail, ...(knee === undefined ? [] : [knee]), judged.bottleneck.words].join(' ')),
    prose(`${baseWords(run.base)} ${queryWords(run)}`),
    runTables(run, judged),
    ...plots.map(({ plot, file }) => `![${plot}](${PLOTS}/${file})`),
    `${measuredWords(thinned, name)}${strideWords(thinned)}`,
  ];
  const markdown = `${blocks.join('\n\n')}\n`;
  return { name, record, markdown, plots: new Map(plots.map(({ file, svg }) => [file, svg])) };
}

/** The steps of a run, and each loss with its recovery, as Markdown tables. */
export function runTables(record: RunRecord, { steps, recoveries, verdict }: Judged): string {
  const result = ({ summary }: StepFigures): string => resultWords(summary.result, verdict).word;
  const published = steps.map((step) => publishedWords(record, step));
  const isPublished = published.some((words) => words !== UNKNOWN);
  const losses = recoveryFigures(record);
  const tables = [
    table(
      ['Step', ...SHOWN_FIGURES.map(({ title }) => title), 'Result', ...(isPublished ? ['Published'] : [])],
      steps.map((step, at) => [
        step.summary.step.name,
        ...SHOWN_FIGURES.map(({ text }) => text(step)),
        result(step),
        ...(isPublished ? [published[at] ?? UNKNOWN] : []),
      ]),
    ),
    ...(recoveries.length === 0
      ? []
      : [
          table(
            ['Step', ...losses.map(({ title }) => title)],
            recoveries.map((one) => [one.step, ...losses.map(({ text }) => text(one))]),
          ),
        ]),
  ];
  return tables.join('\n\n');
}

/** All columns but the first are figures or short words. */
function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  return tableOfCells({ titles, rows, isFigure: titles.map((_, at) => at > 0) });
}

function baseWords({ rps, from, saturationRps, saturated }: BaseRate): string {
  if (from === 'told' || saturationRps === undefined) return `x1 is ${perSecondText(rps)}.`;
  const why = saturated === undefined ? '' : ` (${saturated.replace(/\.$/, '')})`;
  return `x1 is ${perSecondText(rps)}: an eighth of ${perSecondText(saturationRps)}, the highest rate of warm searches${why}.`;
}

function queryWords({ summary }: RunRecord): string {
  const { count, domains, exponent, offset, onceShare, seed } = summary.queries;
  const words = `${countText(count)} searches of ${domains.join(' and ')}, Zipf–Mandelbrot ${exponent} (offset ${offset})`;
  return `${words}, ${percentText(onceShare)} asked once, seed ${seed}.`;
}

function strideWords({ sampleStride }: ThinnedRun): string {
  if (sampleStride === 1) return '';
  return ` One sample of ${sampleStride} is kept there: peaks of levels may be missing.`;
}

const [WIDTH_PX, EDGE_PX, AXIS_PX] = [960, 16, 62];
const [TITLE_PX, ROW_PX, GAP_PX] = [34, 21, 18];
/** Width of a letter in the legend, a little more than the average, so that entries do not overlap. */
const LETTER_PX = 6.9;

const OWN_STYLE = `${PICTURE_STYLE}.entry .soft{fill:var(--soft)}\n`;

/** One plot of a run as an SVG file on a light background; undefined when it was not measured. */
export function plotSvg({ record, judged }: ReportOptions, name: PlotName): string | undefined {
  const context = plotContext(record, judged);
  const panel = runPlot(context, name);
  if (!isPanel(panel)) return undefined;
  const annotations = annotationsOf(context);
  const signs = signsUsed(record, annotations).filter(({ shape }) => panel.isDetailed || shape !== 'disc');
  const legend = laidOut(entriesOf(panel.legend, signs));
  const topPx = TITLE_PX + legend.rows * ROW_PX + 8;
  const heightPx = topPx + STRIP_PX + panel.frame.heightPx + TIMES_PX + 10;
  const widthPx = WIDTH_PX - 2 * EDGE_PX - AXIS_PX;
  const size = { width: WIDTH_PX, height: heightPx, viewBox: `0 0 ${WIDTH_PX} ${heightPx}` };
  const file = element(
    'svg',
    { xmlns: 'http://www.w3.org/2000/svg', ...size },
    // A style is not escaped: only constants.
    styleSheet(`${lightStyle()}${PLOT_STYLE}${LOAD_STYLE}${OWN_STYLE}`),
    element('rect', { class: 'paper', ...{ width: WIDTH_PX, height: heightPx, rx: 6 } }),
    element('text', { class: 'heading', x: EDGE_PX, y: 24 }, `${record.summary.script}: ${panel.title}`),
    legend.drawn,
    backdrop({ id: 'run', x: linearScale(0, context.timeline.toMs, 0, FRAME_WIDTH), ...annotations }),
    element('g', { transform: `translate(${EDGE_PX} ${topPx})` }, valueAxis(panel.frame, panel.tickText)),
    panelDrawing(panel, 'run', { x: EDGE_PX + AXIS_PX, y: topPx, width: widthPx }),
  );
  return `${file.markup}\n`;
}

/** The legend of the plot, then the signs of events. */
function entriesOf(legend: readonly LegendEntry[], signs: readonly Sign[]) {
  return [
    ...legend.map(({ kind, style, name, figure = '' }) => ({
      sign: (x: number, y: number) => swatch(kind, style, { x, y: y + 4 }),
      ...{ signPx: SWATCH_PX[kind], name, figure },
    })),
    ...signs.map(({ style, shape, words }) => ({
      sign: (x: number, y: number) => element('g', { transform: `translate(${x} ${y + 2})` }, momentSign(style, shape)),
      ...{ signPx: 16, name: words, figure: '' },
    })),
  ];
}

/** The entries in rows from left to right. */
function laidOut(entries: ReturnType<typeof entriesOf>) {
  let [x, row] = [EDGE_PX, 0];
  const drawn = entries.map(({ sign, signPx, name, figure }) => {
    const textPx = signPx + 7;
    const wide = textPx + `${name} ${figure}`.length * LETTER_PX;
    if (x > EDGE_PX && x + wide > WIDTH_PX - EDGE_PX) [x, row] = [EDGE_PX, row + 1];
    const y = TITLE_PX + row * ROW_PX;
    const text = element(
      'text',
      { class: 'entry', x: x + textPx, y: y + 14 },
      ...[`${name} `, element('tspan', { class: 'soft' }, figure)],
    );
    const one = element('g', {}, sign(Math.round(x), y), text);
    x += wide + GAP_PX;
    return one;
  });
  return { drawn, rows: entries.length === 0 ? 0 : row + 1 };
}

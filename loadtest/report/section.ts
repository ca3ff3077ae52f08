import { PLOT_STYLE } from '../../src/report/document.ts';
import { countText, percentText, perSecondText, UNKNOWN } from '../../src/report/format.ts';
import { backdrop, momentSign, panelDrawing, SWATCH_PX, swatch, valueAxis } from '../../src/report/plot/figure.ts';
import { STRIP_PX, TIMES_PX, timeScale } from '../../src/report/plot/frame.ts';
import { h } from '../../src/report/tree.ts';
import { type Judged, judge } from '../judge/judge.ts';
import type { BaseRate, RunRecord } from '../judge/record.ts';
import type { StepFigures } from '../judge/step-figures.ts';
import { PLOTS } from '../labs/kit/finding.ts';
import { measuredWords, tableOfCells } from '../labs/kit/markdown.ts';
import { EDGE_PX, PICTURE_PX, pictureSvg } from '../labs/kit/picture.ts';
import { parseRecord, publishSection, recordText, type Section } from '../labs/kit/publish.ts';
import { prose } from '../labs/kit/text.ts';
import { type PlotName, plotContext, runPlot } from './over-time.ts';
import { LOAD_STYLE, type ReportOptions } from './page.ts';
import { runAnnotations, signsUsed, spanOf } from './plot.ts';
import { CLIENT_FIGURES, PART_FIGURES, publishedWords, type StepFigure } from './tables.ts';
import { runOfThinned, type ThinnedRun, thinRun } from './thin-run.ts';
import { kneeWords, recoveryFigures, resultWords } from './words.ts';

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

const AXIS_PX = 62;

/** One plot of a run as an SVG file on a light background; undefined when it was not measured. */
export function plotSvg({ record, judged }: ReportOptions, name: PlotName): string | undefined {
  const context = plotContext(record, judged);
  const panel = runPlot(context, name);
  if (panel.isEmpty) return undefined;
  const annotations = runAnnotations(context);
  const signs = signsUsed(record, annotations).filter(({ shape }) => panel.isDetailed || shape !== 'disc');
  return pictureSvg({
    title: `${record.summary.script}: ${panel.title}`,
    words: panel.words ?? '',
    style: `${PLOT_STYLE}${LOAD_STYLE}`,
    legend: [
      ...panel.legend.map(({ kind, style, name, figure }) => ({
        sample: (x: number, y: number) => swatch(kind, style, { x, y: y + 4 }),
        samplePx: SWATCH_PX[kind],
        name,
        figure,
      })),
      ...signs.map(({ words, ...sign }) => ({
        sample: (x: number, y: number) => h('g', { transform: `translate(${x} ${y + 2})` })(momentSign(sign)),
        samplePx: 16,
        name: words,
      })),
    ],
    body: (legendEndPx) => {
      const topPx = legendEndPx + 8;
      const place = { x: EDGE_PX + AXIS_PX, y: topPx, width: PICTURE_PX - 2 * EDGE_PX - AXIS_PX };
      const drawn = [
        backdrop({ id: 'run', x: timeScale(spanOf(context.timeline)), ...annotations }),
        h('g', { transform: `translate(${EDGE_PX} ${topPx})` })(valueAxis(panel.frame, panel.tickText)),
        panelDrawing({ ...panel, words: undefined }, 'run', place),
      ];
      return { drawn, endPx: topPx + STRIP_PX + panel.frame.heightPx + TIMES_PX + 10 };
    },
  });
}

import { countText, percentText, perSecondText, UNKNOWN } from '../../src/report/format.ts';
import { judge } from '../judge/judge.ts';
import type { Judged, StepFigures } from '../judge/judged.ts';
import type { BaseRate, RunRecord } from '../judge/record.ts';
import { PLOTS } from '../labs/kit/finding.ts';
import { measuredWords, tableOfCells } from '../labs/kit/markdown.ts';
import { parseRecord, publishSection, recordText, type Section } from '../labs/kit/publish.ts';
import { prose } from '../labs/kit/text.ts';
import { kneeWords } from './knee-words.ts';
import { publishedWords } from './published-ladder.ts';
import { recoveryFigures } from './recovery-figures.ts';
import type { PlotName } from './run-plots.ts';
import { plotSvg } from './standalone.ts';
import { CLIENT_FIGURES, PART_FIGURES, type StepFigure } from './step-figures.ts';
import { runOfThinned, type ThinnedRun, thinRun } from './thin-run.ts';
import { resultWords } from './verdict-words.ts';

/** Plots that a reader of a page needs of each script. */
const SHOWN_PLOTS: Readonly<Record<string, readonly PlotName[]>> = {
  'x-load': ['rate', 'latency', 'processors'],
  'flush-survival': ['outcomes', 'places', 'latency'],
};
const OTHER_PLOTS: readonly PlotName[] = ['rate', 'latency'];

const REFUSED: StepFigure = {
  title: 'Refused',
  text: ({ summary: { outcomes, searches } }) => percentText(searches > 0 ? outcomes.shed / searches : undefined),
};
const SHOWN_FIGURES: readonly StepFigure[] = [
  ...Object.values(CLIENT_FIGURES),
  REFUSED,
  ...[PART_FIGURES.engine, PART_FIGURES.amplification, PART_FIGURES.places, PART_FIGURES.store],
  ...[PART_FIGURES.serviceCores, PART_FIGURES.generatorCores],
];

/**
 * Writes a run into a page, with its plots and its record beside it. @throws as `publishSection` does, when the run is
 * invalid, was not made on the local stack, or when the commit of the measured code is unknown.
 */
export function publishRun(record: RunRecord, page: string): void {
  if (record.verdict.kind === 'invalid') throw new Error(`${record.id} is invalid: it says nothing about the service`);
  publishSection(runSection(recordText(thinRun(record))), page);
}

/** The section of a page for a run. It is rendered from the text of the record, as a reader of the record can do. */
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
    prose([detail, ...(knee === undefined ? [] : [knee]), judged.binding.words].join(' ')),
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

/** All columns but the first are figures, or a word or two. */
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

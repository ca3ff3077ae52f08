import { countText } from '../../src/report/format.ts';
import type { Judged } from '../judge/judge.ts';
import type { RunRecord } from '../judge/record.ts';
import type { StepFigures } from '../judge/step-figures.ts';
import { aligned, WIDTH, wrapped } from '../labs/kit/print.ts';
import { plainText } from '../labs/kit/text.ts';
import type { ReportOptions } from './page.ts';
import { CLIENT_FIGURES, PART_FIGURES, type StepFigure } from './tables.ts';
import { kneeWords, recoveryFigures, resultWords, verdictWords } from './words.ts';

interface RunTextOptions extends ReportOptions {
  readonly reportFile?: string;
}

const MAX_NAME = 18;
const SHOWN: readonly StepFigure[] = [
  ...Object.values(CLIENT_FIGURES),
  ...[PART_FIGURES.engine, PART_FIGURES.serviceCores, PART_FIGURES.generatorCores],
];
/** Shorter titles than those of the page, to save width. */
const TITLES: Readonly<Record<string, string>> = {
  'Hit ratio before': 'Hits before',
  'Recovered after': 'Recovered',
  'Shed honestly': 'Shed',
  'Hit ratio': 'Hits',
  'Engine calls': 'Engine',
  'Service cores': 'Service',
  'Generator cores': 'k6 cores',
};

/** The results of a run for a terminal: the verdict first, at most 110 characters wide. */
export function runText({ record, judged, reportFile }: RunTextOptions): string {
  const { verdict, bottleneck, steps } = judged;
  const { word, detail } = verdictWords(verdict);
  const reasons =
    verdict.kind === 'invalid' ? verdict.reasons.flatMap((reason) => wrapped(`- ${reason}`, '  ', '  ')) : [];
  const knee = kneeWords(judged);
  const { dropped, vusUsed, vusCap } = record.summary.generator;
  const users = `${countText(vusUsed)} of ${countText(vusCap)} virtual users`;
  return [
    ...wrapped(`${record.summary.script}: ${word.toUpperCase()}. ${detail}`),
    ...reasons,
    '',
    ...columns([['Step', ...SHOWN.map(({ title }) => title), 'Result'], ...steps.map((step) => rowOf(step, judged))]),
    ...steps.flatMap(({ summary: { step, broken } }) =>
      broken.length === 0 ? [] : wrapped(`${step.name}: ${broken.join('; ')}`, '  ', '  '),
    ),
    ...recoveries(record, judged),
    '',
    ...(knee === undefined ? [] : wrapped(knee)),
    ...wrapped(bottleneck.words),
    ...wrapped(`Generator: ${countText(dropped)} requests not begun, ${users}.`),
    // A path is not wrapped, so that it can be copied.
    `Report: ${plainText(reportFile ?? `loadtest/results/${record.id}/report.html`)}`,
    '',
  ].join('\n');
}

function rowOf(step: StepFigures, { verdict }: Judged): readonly string[] {
  const { result } = step.summary;
  const { sign, word } = resultWords(result, verdict);
  // The words of the page for an invalid run are too long here, and its verdict is at the top.
  const shown = verdict.kind === 'invalid' && sign === '?' ? `(${result})` : `${sign} ${word}`;
  return [step.summary.step.name.slice(0, MAX_NAME), ...SHOWN.map(({ text }) => text(step)), shown];
}

function recoveries(record: RunRecord, judged: Judged): readonly string[] {
  if (judged.recoveries.length === 0) return [];
  const figures = recoveryFigures(record);
  const rows = judged.recoveries.map((one) => [one.step.slice(0, MAX_NAME), ...figures.map(({ text }) => text(one))]);
  return ['', ...columns([['Lost in', ...figures.map(({ title }) => title)], ...rows])];
}

/** The last columns before the result are left out until the rows fit. */
function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const cells = rows.map((row) => row.map((cell, at) => (at > 0 ? (TITLES[cell] ?? cell) : cell)));
  const titles = cells[0] ?? [];
  const lines = aligned(
    cells,
    titles.map((_, at) => at > 0),
  );
  const isTooWide = lines.some((line) => line.length > WIDTH) && titles.length > 2;
  return isTooWide ? columns(rows.map((row) => row.toSpliced(-2, 1))) : lines;
}

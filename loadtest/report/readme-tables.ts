import type { Judged, StepFigures } from '../judge/judged.ts';
import type { RunRecord } from '../record.ts';
import { markdownText } from './plain-text.ts';
import { recoveryFigures } from './recovery-figures.ts';
import { CLIENT_FIGURES, PART_FIGURES, type StepFigure } from './step-figures.ts';
import { resultWords } from './verdict-words.ts';

const SHOWN: readonly StepFigure[] = [
  ...Object.values(CLIENT_FIGURES),
  ...[PART_FIGURES.engine, PART_FIGURES.amplification, PART_FIGURES.store],
  ...[PART_FIGURES.serviceCores, PART_FIGURES.generatorCores],
];

/** The steps of a run, and what it lost and how soon that was back, as Markdown tables. */
export function readmeTables(record: RunRecord, { steps, recoveries, verdict }: Judged): string {
  const result = ({ summary }: StepFigures): string => resultWords(summary.result, verdict).word;
  const figures = recoveryFigures(record);
  const tables = [
    markdownTable(
      ['Step', ...SHOWN.map(({ title }) => title), 'Result'],
      steps.map((step) => [step.summary.step.name, ...SHOWN.map(({ text }) => text(step)), result(step)]),
    ),
    ...(recoveries.length === 0
      ? []
      : [
          markdownTable(
            ['Step', ...figures.map(({ title }) => title)],
            recoveries.map((one) => [one.step, ...figures.map(({ text }) => text(one))]),
          ),
        ]),
  ];
  return `${tables.join('\n\n')}\n`;
}

/** All but the first column are figures. */
function markdownTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const written = (cells: readonly string[]): string => `| ${cells.map(markdownText).join(' | ')} |`;
  const rule = `|${titles.map((_, i) => (i === 0 ? '---' : '---:')).join('|')}|`;
  return [written(titles), rule, ...rows.map(written)].join('\n');
}

import { UNKNOWN } from '../../src/report/format.ts';
import { type Column, type Content, element, type Markup, said, table } from '../../src/report/markup.ts';
import type { Judged, StepFigures } from '../judge/judged.ts';
import type { Verdict } from '../k6/kit/summary.ts';
import { CLIENT_FIGURES, outcomesText, PART_FIGURES, type StepFigure } from './step-figures.ts';
import { resultMark } from './verdict-words.ts';

/** Step by step: first what clients saw, then what it took. */
export function stepTables({ steps, verdict }: Judged): Markup {
  const numbers = (figures: readonly StepFigure[]): readonly Column<StepFigures>[] =>
    figures.map(({ title, text }) => ({ title, isNumber: true, cell: text }));
  const parts = Object.values(PART_FIGURES).filter(({ text }) => steps.some((step) => text(step) !== UNKNOWN));
  const absent = Object.values(PART_FIGURES).filter((one) => !parts.includes(one));
  return element(
    'section',
    { 'aria-labelledby': 'steps' },
    element('h2', { id: 'steps' }, 'Step by step'),
    table<StepFigures>({
      caption: 'What clients saw while the rate of each step held',
      narrow: 'sideways',
      columns: [
        { title: 'Step', cell: stepName },
        ...numbers(Object.values(CLIENT_FIGURES)),
        { title: 'Commonest outcomes', isProse: true, cell: outcomesText },
        { title: 'Result', isProse: true, cell: (step) => resultCell(step, verdict) },
      ],
      rows: steps,
      none: 'The script has no steps.',
    }),
    parts.length === 0
      ? undefined
      : table<StepFigures>({
          caption: 'What it took: engine calls, store commands, memory and processors',
          narrow: 'sideways',
          columns: [{ title: 'Step', cell: ({ summary }) => said(summary.step.name) }, ...numbers(parts)],
          rows: steps,
        }),
    absent.length === 0
      ? undefined
      : element('p', { class: 'note' }, `Not measured in this run: ${absent.map(lowerTitle).join(', ')}.`),
  );
}

function stepName({ summary: { step } }: StepFigures): Content {
  return [said(step.name), ' ', element('span', { class: 'soft title' }, said(step.title))];
}

function resultCell({ summary }: StepFigures, verdict: Verdict): Content {
  const why = summary.broken.length === 0 ? undefined : [': ', said(summary.broken.join('; '))];
  return [resultMark(summary.result, verdict), why];
}

function lowerTitle({ title }: StepFigure): string {
  return title.toLowerCase();
}

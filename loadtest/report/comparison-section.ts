import { bullets, note, reportSection, said, type TableColumn, table } from '../../src/report/components.ts';
import {
  amountText,
  countText,
  durationText,
  percentText,
  perSecondText,
  timesText,
  UNKNOWN,
} from '../../src/report/format.ts';
import { type Child, h, type TreeElement } from '../../src/report/tree.ts';
import type { Comparison, FigureComparison, StepComparison } from '../judge/compare.ts';

const TEXTS: Readonly<Record<FigureComparison['unit'], (value: number | undefined) => string>> = {
  perSecond: perSecondText,
  ms: durationText,
  share: percentText,
  cores: (cores) => (cores === undefined ? UNKNOWN : `${amountText(cores)}\u00a0cores`),
};

/** Smaller changes are shown by the two figures alone. */
const MIN_CHANGE = 0.05;

/** This run beside an earlier one: the other differences, then a table with a row for each step. */
export function comparisonSection({ earlier, notes, steps, words }: Comparison): TreeElement {
  const names = [...new Set(steps.flatMap(({ figures }) => figures.map(({ name }) => name)))];
  const unlike = steps.filter(({ isComparable }) => !isComparable).length;
  return reportSection(
    'comparison',
    'Beside an earlier run',
    h('p')('Earlier: ', h('code')(said(earlier)), '. ', said(words)),
    bullets(notes.map(said)),
    table<StepComparison>({
      caption: 'Each step now, and what it was then',
      narrow: 'sideways',
      columns: [
        { title: 'Step', cell: stepCell },
        ...names.map(
          (name): TableColumn<StepComparison> => ({
            title: /^p[0-9]/.test(name) ? name : `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
            isNumber: true,
            cell: ({ figures }) => figureCell(figures.find((one) => one.name === name)),
          }),
        ),
      ],
      rows: steps,
      none: 'The two have no step of the same name.',
    }),
    unlike === 0
      ? undefined
      : note(`${countText(unlike)} of the steps cannot be compared: their rates differ, or one of them was not run.`),
  );
}

function stepCell({ name, isComparable }: StepComparison): Child {
  return [said(name), isComparable ? undefined : h('span', { class: 'soft title was' })('not comparable')];
}

function figureCell(figure: FigureComparison | undefined): Child {
  if (figure === undefined) return undefined;
  const text = TEXTS[figure.unit];
  const was = figure.earlier === undefined ? 'not known then' : `was ${text(figure.earlier)}`;
  const { unit, ratio } = figure;
  // Two shares can be compared without their ratio.
  const hasTimes = unit !== 'share' && ratio !== undefined && Math.abs(ratio - 1) >= MIN_CHANGE;
  const times = hasTimes ? h('span', { class: 'was' })(`now ${timesText(ratio)}`) : undefined;
  return [text(figure.now), h('span', { class: 'soft was' })(was), times];
}

import { UNKNOWN } from '../../src/report/format.ts';
import { element, type Markup, said, table } from '../../src/report/markup.ts';
import type { Judged, StepFigures } from '../judge/judged.ts';
import type { RunRecord } from '../judge/record.ts';
import { CLIENT_FIGURES } from './step-figures.ts';
import { resultMark } from './verdict-words.ts';

/** By the multiple of the base rate. Whatever is not here was not told. */
const OWN_STORE: Readonly<Record<number, string>> = {
  2: 'few errors',
  3: 'errors and delay grew linearly until the disk limit went, then held',
};
const MANAGED_STORE: Readonly<Record<number, string>> = { 4: 'errors and delay rise' };

/** The rung of that ladder in words, for one column; a dash where nothing was told or another script was run. */
export function publishedWords({ summary }: RunRecord, { summary: { step } }: StepFigures): string {
  if (summary.script !== 'x-load' || step.multiplier === undefined) return UNKNOWN;
  const managed = MANAGED_STORE[step.multiplier];
  return OWN_STORE[step.multiplier] ?? (managed === undefined ? UNKNOWN : `a managed store: ${managed}`);
}

/** What somebody else's ladder came to, rung by rung beside this one; of the script that climbs the same rungs. */
export function publishedLadder({ summary }: RunRecord, { steps, verdict }: Judged): Markup | undefined {
  const rungs = steps.filter(({ summary: { step } }) => step.multiplier !== undefined);
  if (summary.script !== 'x-load' || rungs.length === 0) return undefined;
  const published = (told: Readonly<Record<number, string>>) => (rung: StepFigures) =>
    told[rung.summary.step.multiplier ?? Number.NaN] ?? UNKNOWN;
  return element(
    'section',
    { 'aria-labelledby': 'ladder' },
    element('h2', { id: 'ladder' }, 'Beside a published ladder'),
    table<StepFigures>({
      caption: 'The same multiples of a base rate, there and here',
      narrow: 'cards',
      columns: [
        { title: 'Rung', cell: ({ summary: { step } }) => said(step.name) },
        { title: 'There, own store', cell: published(OWN_STORE) },
        { title: 'There, managed', cell: published(MANAGED_STORE) },
        { title: 'Errors here', isNumber: true, cell: CLIENT_FIGURES.errors.text },
        { title: 'p99 here', isNumber: true, cell: CLIENT_FIGURES.p99.text },
        { title: 'Result here', cell: (rung) => resultMark(rung.summary.result, verdict) },
      ],
      rows: rungs,
    }),
    element(
      'p',
      { class: 'note' },
      'There: a published load test of a classifieds site’s search cache, first on a store of its own, then on a managed one. It gave no figures beyond these words; x1 was its usual traffic, here it is the base rate above.',
    ),
  );
}

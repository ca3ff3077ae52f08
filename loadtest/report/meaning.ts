import { type Column, type Content, element, type Markup, said, table } from '../../src/report/markup.ts';
import type { Judged, Recovery } from '../judge/judged.ts';
import type { RunRecord } from '../judge/record.ts';
import { kneeWords } from './knee-words.ts';
import { recoveryFigures } from './recovery-figures.ts';

/** The few sentences a run is made for. */
export function meaning(record: RunRecord, judged: Judged): Markup {
  const { binding, verdict } = judged;
  const knee = kneeWords(judged);
  return element(
    'section',
    { 'aria-labelledby': 'meaning' },
    element('h2', { id: 'meaning' }, 'What it means'),
    verdict.kind === 'invalid'
      ? element(
          'p',
          {},
          element('strong', {}, 'The generator spoiled this run.'),
          ' What follows says what happened, not what the service can do: nothing of it counts for or against the service.',
        )
      : undefined,
    knee === undefined ? undefined : element('p', {}, said(knee)),
    element('p', {}, said(binding.words)),
    recoveryTable(record, judged),
  );
}

function recoveryTable(record: RunRecord, { recoveries }: Judged): Content {
  const drawn = table<Recovery>({
    caption: 'Each loss: how deep it went, and when it was over',
    narrow: 'cards',
    columns: [
      { title: 'Step', cell: ({ step }) => said(step) },
      ...recoveryFigures(record).map(
        ({ title, text, isProse = false }): Column<Recovery> =>
          isProse ? { title, isProse, cell: (one) => said(text(one)) } : { title, isNumber: true, cell: text },
      ),
    ],
    rows: recoveries,
  });
  if (drawn === undefined) return undefined;
  return [
    drawn,
    element(
      'p',
      { class: 'note' },
      'Recovered: the hit ratio stayed within two points of what it was before, as Zhang et al. count it (HotStorage ’20).',
    ),
  ];
}

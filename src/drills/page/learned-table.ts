import { element, type Markup } from '../../report/markup.ts';
import { table } from '../../report/table.ts';
import type { Plan } from '../plan.ts';
import { type Lesson, lessonsOf } from './lessons.ts';
import type { Track } from './track.ts';

/** The few figures a drill is made for, and what each of them says. */
export function learnedTable(track: Track, plan: Plan): Markup | undefined {
  return table<Lesson>({
    caption: 'What was learned',
    narrow: 'cards',
    columns: [
      {
        title: 'Figure',
        cell: ({ name, meaning }) => (meaning === undefined ? name : element('abbr', { title: meaning }, name)),
      },
      { title: 'Measured', isNumber: true, cell: ({ measured }) => measured },
      { title: 'Dry run said', isNumber: true, cell: ({ foretold }) => foretold },
      { title: 'In plain words', isProse: true, cell: ({ words }) => words },
    ],
    rows: lessonsOf(track, plan),
  });
}

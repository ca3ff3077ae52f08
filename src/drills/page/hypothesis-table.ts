import { element, type Markup } from '../../report/markup.ts';
import { durationText } from '../../report/number-text.ts';
import { table } from '../../report/table.ts';
import { elapsedText } from '../../report/time-text.ts';
import type { GuardRule, Plan } from '../plan.ts';
import { GUARD_WORDS } from './guard-figure.ts';
import { type Tested, testedGuards } from './hypothesis.ts';
import type { Track } from './track.ts';

/** The steady-state hypothesis: what had to hold before, all the while, and after. */
export function hypothesisTable(track: Track, plan: Plan): Markup | undefined {
  const value = (row: Tested, of: number | undefined): Markup | string => {
    const text = GUARD_WORDS[row.guard.figure].text(of);
    return of !== undefined && of > row.guard.max ? element('strong', { class: 'word bad' }, text) : text;
  };
  return table<Tested>({
    caption: 'The hypothesis: did it hold?',
    narrow: 'cards',
    columns: [
      { title: 'Never above', cell: ({ guard }) => limitText(guard) },
      { title: 'Before', isNumber: true, cell: (row) => value(row, row.before) },
      { title: 'Worst during', isNumber: true, cell: (row) => value(row, row.worst) },
      { title: 'After', isNumber: true, cell: (row) => value(row, row.after) },
      { title: 'If broken', cell: ({ guard }) => guard.then },
      { title: 'Held?', cell: heldText },
    ],
    rows: testedGuards(track, plan),
    none: 'The plan has no guards: nothing was promised, and nothing would have ended the drill.',
  });
}

/** `p99 of searches 800 ms, for 2 s` */
export function limitText({ figure, max, forMs }: GuardRule): string {
  const { name, text } = GUARD_WORDS[figure];
  return `${name}: ${text(max)}${forMs > 0 ? `, for ${durationText(forMs)}` : ''}`;
}

function heldText({ held, brokenAtMs }: Tested): Markup {
  switch (held) {
    case 'held':
      return element('span', { class: 'word good' }, '✓ held');
    case 'passing':
      return element('span', { class: 'word warn' }, '✓ held; above it for a moment');
    case 'broken':
      return element(
        'span',
        { class: 'word bad' },
        `✕ broken at ${brokenAtMs === undefined ? '?' : elapsedText(brokenAtMs)}`,
      );
    case 'failed before':
      return element('span', { class: 'word bad' }, '✕ did not hold before');
    case 'failed after':
      return element('span', { class: 'word bad' }, '✕ did not hold after');
    case 'not tested':
    case 'not measured':
      return element('span', { class: 'word' }, held);
  }
}

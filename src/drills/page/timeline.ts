import { type Content, element, type Markup, said } from '../../report/markup.ts';
import { countText, durationText } from '../../report/number-text.ts';
import { table } from '../../report/table.ts';
import { elapsedText, utcText } from '../../report/time-text.ts';
import type { Journal, Mark } from '../journal.ts';
import { GUARD_WORDS } from './guard-figure.ts';
import { stageTitle } from './stage-name.ts';

/** What stands in the page; a drill whose guards flap writes more than anybody reads. */
const MAX_ROWS = 300;
const BUCKETS = 10_000;
const PHASES: Readonly<Record<Extract<Mark, { kind: 'phase' }>['phase'], string>> = {
  baseline: 'Baseline: nothing is flushed yet',
  stage: 'The stage goes on',
  hold: 'On hold: no further stage until the guard holds again',
  recovery: 'Recovery: waits until the cohort is back at its own past',
  after: 'After: the cache is restored, the hypothesis must hold again',
};

/** Everything the drill did, in order. */
export function timeline(journal: Journal): Markup {
  const marks = journal.marks.toSorted((a, b) => a.atMs - b.atMs).filter((mark, _, all) => !saysNothing(mark, all));
  // The beginning and the end say most.
  const half = MAX_ROWS / 2;
  const shown = marks.length > MAX_ROWS ? [...marks.slice(0, half), ...marks.slice(-half)] : marks;
  const many = journal.domains.length > 1;
  const drawn = table<Mark>({
    caption: 'What happened, and when',
    narrow: 'cards',
    columns: [
      { title: 'Elapsed', cell: ({ atMs }) => elapsedText(atMs) },
      {
        title: 'UTC',
        cell: ({ atMs }) => element('span', { class: 'moment-text' }, utcText(journal.startedAtMs + atMs)),
      },
      ...(many ? [{ title: 'Domain', cell: ({ domain }: Mark) => said(domain) }] : []),
      { title: 'What', isProse: true, cell: (mark) => whatText(journal, mark) },
    ],
    rows: shown,
    none: 'Nothing is written down yet.',
  });
  const left = marks.length - shown.length;
  return element(
    'section',
    { 'aria-labelledby': 'timeline' },
    element('h2', { id: 'timeline' }, 'Timeline'),
    drawn,
    left === 0
      ? undefined
      : element(
          'p',
          { class: 'note' },
          `${countText(left)} marks in the middle are not shown; the JSON journal has them all.`,
        ),
  );
}

/** That stages begin is said by the first of them, at the same moment. */
function saysNothing(mark: Mark, all: readonly Mark[]): boolean {
  if (mark.kind !== 'phase' || mark.phase !== 'stage') return false;
  return all.some(
    ({ kind, domain, atMs }) => kind === 'stage' && domain === mark.domain && Math.abs(atMs - mark.atMs) < 500,
  );
}

function whatText({ plan }: Journal, mark: Mark): Content {
  switch (mark.kind) {
    case 'phase':
      return PHASES[mark.phase];
    case 'stage': {
      const buckets = mark.ranges.reduce((sum, { from, to }) => sum + to - from, 0);
      const reach = buckets > 0 ? `, ${countText(buckets)} of ${countText(BUCKETS)} buckets` : '';
      return [element('strong', {}, said(stageTitle(plan, mark.stage, mark.title))), reach];
    }
    case 'guard': {
      const { name, text } = GUARD_WORDS[mark.figure];
      return [
        element('span', { class: 'word bad' }, '✕ Guard broken'),
        ` ${name}: ${text(mark.value)}, limit ${text(mark.max)}; then `,
        said(mark.then),
      ];
    }
    case 'guard-holds':
      return [element('span', { class: 'word good' }, '✓ Guard holds again'), ` ${GUARD_WORDS[mark.figure].name}`];
    case 'recovered':
      return [
        element('span', { class: 'word good' }, '● Recovered'),
        ` ${stageTitle(plan, mark.stage)}, after ${durationText(mark.afterMs)}`,
      ];
    case 'restored':
      return [element('span', { class: 'word' }, '◆ Cache restored'), ': ', said(mark.why)];
  }
}

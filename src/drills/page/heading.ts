import type { Journal, Mark } from '../journal.ts';
import { facts } from './facts.ts';
import { element, type Markup, said } from './markup.ts';
import { durationText } from './number-text.ts';
import { stageTitle } from './stage-name.ts';
import { elapsedText, utcText } from './time-text.ts';
import { verdictWords } from './verdict-words.ts';

/** Who drilled what and why, and how it ended. */
export function heading(journal: Journal): Markup {
  const { plan, verdict, endedAtMs } = journal;
  const { word, detail, tone, sign } = verdictWords(journal);
  const resumable = verdict?.resumable;
  return element(
    'header',
    {},
    element('p', { class: 'kind' }, 'serpcache drill report'),
    element('h1', {}, said(plan.title), element('span', { class: 'soft' }, ' on ', said(journal.domains.join(', ')))),
    element(
      'p',
      { class: `verdict ${tone}` },
      element(
        'svg',
        { width: 24, height: 24, viewBox: '0 0 24 24', 'aria-hidden': 'true' },
        element('path', { d: sign }),
      ),
      element('span', {}, element('strong', {}, word), ' ', said(detail)),
    ),
    facts([
      ['Reason', said(journal.reason)],
      ['By', said(journal.by)],
      ['Began', utcText(journal.startedAtMs)],
      ['Ended', endedAtMs === undefined ? 'not yet' : utcText(endedAtMs)],
      ['Lasted', endedAtMs === undefined ? undefined : durationText(Math.max(0, endedAtMs - journal.startedAtMs))],
      ['Restored', restoredText(journal.marks)],
      ['Resumes', journal.resumes === undefined ? undefined : said(journal.resumes)],
      [
        'Can be resumed',
        resumable === undefined
          ? undefined
          : ['with ', stageTitle(plan, resumable.stage), ' of ', said(resumable.domain)],
      ],
      ['Run by', said(journal.owner)],
      ['Drill', element('code', {}, said(journal.id))],
    ]),
  );
}

/** When the cache was given back and, where a guard did it, how soon. */
function restoredText(marks: readonly Mark[]): string | undefined {
  const restored = marks.findLast(({ kind }) => kind === 'restored');
  if (restored === undefined) return undefined;
  const broken = marks.findLast(
    (mark) => mark.kind === 'guard' && mark.then === 'rollback' && mark.atMs <= restored.atMs,
  );
  const soon = broken === undefined ? '' : `, ${durationText(restored.atMs - broken.atMs)} after the guard broke`;
  return `${elapsedText(restored.atMs)}${soon}`;
}

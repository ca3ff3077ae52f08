import { facts } from '../../report/facts.ts';
import { element, type Markup, said } from '../../report/markup.ts';
import { durationText } from '../../report/number-text.ts';
import { elapsedText, utcText } from '../../report/time-text.ts';
import { verdictLine } from '../../report/verdict-line.ts';
import type { Journal, Mark } from '../journal.ts';
import { stageTitle } from './stage-name.ts';
import { verdictWords } from './verdict-words.ts';

/** Who drilled what and why, and how it ended. */
export function heading(journal: Journal): Markup {
  const { plan, verdict, endedAtMs } = journal;
  const resumable = verdict?.resumable;
  return element(
    'header',
    {},
    element('p', { class: 'kind' }, 'serpcache drill report'),
    element('h1', {}, said(plan.title), element('span', { class: 'soft' }, ' on ', said(journal.domains.join(', ')))),
    verdictLine(verdictWords(journal)),
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

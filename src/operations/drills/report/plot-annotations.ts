import { countText, durationText, elapsedText, utcText } from '../../../report/format.ts';
import { type Content, element, type Markup, said, table } from '../../../report/markup.ts';
import type { Band, Moment } from '../../../report/plot/backdrop.ts';
import { momentSign } from '../../../report/plot/panel.ts';
import type { DrillPhase, Journal, Mark } from '../journal.ts';
import type { Plan } from '../plan.ts';
import { curve, type PlotInput, samplesOf, segmentsOf, type Track } from './track.ts';
import { GUARD_WORDS, stageTitle } from './words.ts';

/** What every plot of a domain has behind and across it: the phases, and the moments that count. */
interface PlotAnnotations {
  readonly bands: readonly Band[];
  readonly moments: readonly Moment[];
}

/** A guard that breaks every second would hide the curves; the timeline has them all. */
const MAX_MOMENTS = 40;

export function annotationsOf(track: Track, plan: Plan): PlotAnnotations {
  const bands = segmentsOf(track, plan).map((segment): Band => {
    const { fromMs, toMs, name, phase, stage } = segment;
    return { fromMs, toMs, name, style: bandStyle(phase, stage) };
  });
  const moments = track.marks.flatMap(momentOf);
  // What ended the drill comes last and must be among them.
  return { bands, moments: moments.length > MAX_MOMENTS ? moments.slice(-MAX_MOMENTS) : moments };
}

/** Neighbouring stages differ in tint. */
function bandStyle(phase: DrillPhase, stage: number): string {
  return phase === 'stage' ? `phase-stage-${stage % 2 === 0 ? 'even' : 'odd'}` : `phase-${phase}`;
}

function momentOf(mark: Mark): readonly Moment[] {
  switch (mark.kind) {
    case 'guard':
      return [{ atMs: mark.atMs, style: mark.then === 'continue' ? 'noted' : 'broken', shape: 'cross' }];
    case 'restored':
      return [{ atMs: mark.atMs, style: 'restored', shape: 'diamond' }];
    case 'recovered':
      return [{ atMs: mark.atMs, style: 'recovered', shape: 'disc' }];
    case 'phase':
    case 'stage':
    case 'guard-holds':
      return [];
  }
}

const SIGNS = [
  { style: 'broken', shape: 'cross', words: 'a guard broke' },
  { style: 'noted', shape: 'cross', words: 'a guard broke; written down, the drill went on' },
  { style: 'recovered', shape: 'disc', words: "a stage's cohort was back at its own past" },
  { style: 'restored', shape: 'diamond', words: 'the cache was restored' },
] as const;

/** How the plots are read, and how much each of their points stands for. */
export function plotKey(sheet: PlotInput, { moments }: PlotAnnotations): Markup {
  const used = SIGNS.filter(({ style }) => moments.some((moment) => moment.style === style));
  return element(
    'div',
    {},
    element(
      'p',
      {},
      'All share one axis of time: since the start of the drill. The strip above each names the phase: baseline, the stages by what they lost, recovery, after.',
    ),
    used.length === 0
      ? undefined
      : element(
          'ul',
          { class: 'legend' },
          used.map(({ style, shape, words }) =>
            element('li', {}, momentSign(style, shape), element('span', {}, words)),
          ),
        ),
    element('p', { class: 'note' }, pointsText(sheet)),
  );
}

function pointsText(sheet: PlotInput): string {
  const samples = samplesOf(sheet.track).length;
  if (samples === 0) return 'No samples were taken.';
  const points = curve(sheet, () => 0, 'mean').flat().length;
  if (samples === 1) return 'The only sample is drawn as long as the time it stands for.';
  if (points >= samples) return `Every one of ${countText(samples)} samples is drawn.`;
  return `${countText(samples)} samples on ${countText(points)} points, ${durationText(sheet.columnMs)} each: lines are their mean (p99, places and guards: their worst; p50: the middle one), the tint around a line reaches from the lowest to the highest of them, areas are means.`;
}

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

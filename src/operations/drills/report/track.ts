import { countText, durationText, elapsedText, utcText } from '../../../report/format.ts';
import { type Content, element, type Markup, said, table } from '../../../report/markup.ts';
import type { FlushPreview } from '../../flush/flush.ts';
import type { DrillPhase, Journal, Learned, Mark, Sample } from '../journal.ts';
import type { Plan } from '../plan.ts';
import { GUARD_WORDS } from './engine-plots.ts';
import { stageName, stageTitle } from './hypothesis.ts';

/** A sample with the stretch of time it stands for. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
  readonly sample: Sample;
}

/** One domain's part of a journal, in the order of time: what all its tables and plots are drawn from. */
export interface Track {
  readonly domain: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Unbroken: between two of them nothing was measured for a while. */
  readonly runs: readonly (readonly Stretch[])[];
  readonly marks: readonly Mark[];
  readonly learned?: Learned;
  readonly preview?: FlushPreview;
}

/** Samples come twice a second, or farther apart in a long drill; a hole of several of them is a gap. */
const GAP_FACTOR = 5;
const LEAST_GAP_MS = 3000;
/** A drill of which nothing is known yet is drawn as long as this. */
const LEAST_SPAN_MS = 1000;

export function trackOf(journal: Journal, domain: string): Track {
  const samples = byTime(journal.samples.filter((sample) => sample.domain === domain));
  const marks = byTime(journal.marks.filter((mark) => mark.domain === domain));
  const gapMs = Math.max(LEAST_GAP_MS, GAP_FACTOR * usualDistanceMs(samples));
  const runs: Stretch[][] = [];
  for (const [i, sample] of samples.entries()) {
    const before = samples[i - 1];
    if (before !== undefined && sample.atMs - before.atMs <= gapMs) {
      runs[runs.length - 1]?.push({ fromMs: before.atMs, toMs: sample.atMs, sample });
    } else {
      const ownMs = Math.min(gapMs, Math.max(0, sample.figures.seconds * 1000 || 0));
      const fromMs = Math.max(0, before?.atMs ?? 0, sample.atMs - ownMs);
      runs.push([{ fromMs, toMs: sample.atMs, sample }]);
    }
  }
  const moments = [...runs.flatMap((run) => run.flatMap(({ fromMs, toMs }) => [fromMs, toMs])), ...marks.map(at)];
  const firstMs = moments.reduce((low, ms) => Math.min(low, ms), moments[0] ?? 0);
  // A whole second, so that an axis begins with a tick.
  const fromMs = Math.floor(firstMs / 1000) * 1000;
  const toMs = moments.reduce((high, ms) => Math.max(high, ms), fromMs + LEAST_SPAN_MS);
  const learned = journal.learned.find((one) => one.domain === domain);
  const preview = Object.hasOwn(journal.previews, domain) ? journal.previews[domain] : undefined;
  return {
    ...{ domain, fromMs, toMs, runs, marks },
    ...(learned !== undefined && { learned }),
    ...(preview !== undefined && { preview }),
  };
}

export function samplesOf(track: Track): readonly Sample[] {
  return track.runs.flatMap((run) => run.map(({ sample }) => sample));
}

/** The highest stage whose flush was begun; undefined when nothing was flushed. */
export function lastStage(track: Track): number | undefined {
  return track.marks.reduce<number | undefined>(
    (last, mark) => (mark.kind === 'stage' ? Math.max(last ?? 0, mark.stage) : last),
    undefined,
  );
}

function byTime<T extends { readonly atMs: number }>(some: readonly T[]): readonly T[] {
  return some.filter((one) => Number.isFinite(one.atMs)).toSorted((a, b) => a.atMs - b.atMs);
}

function usualDistanceMs(samples: readonly Sample[]): number {
  const distances = samples.slice(1).map((sample, i) => sample.atMs - (samples[i]?.atMs ?? sample.atMs));
  return distances.toSorted((a, b) => a - b)[Math.floor(distances.length / 2)] ?? 0;
}

function at({ atMs }: Mark): number {
  return atMs;
}

/** A stretch of one phase, and of one stage where the phase has stages. */
export interface Segment {
  readonly fromMs: number;
  readonly toMs: number;
  readonly phase: DrillPhase;
  readonly stage: number;
  readonly name: string;
  readonly stretches: readonly Stretch[];
}

export function segmentsOf(track: Track, plan: Plan): readonly Segment[] {
  const groups: Stretch[][] = [];
  for (const stretch of track.runs.flat()) {
    const current = groups[groups.length - 1];
    const before = current?.[0];
    if (before !== undefined && isSame(before, stretch)) current?.push(stretch);
    else groups.push([stretch]);
  }
  return groups.flatMap((stretches) => {
    const [first, last] = [stretches[0], stretches[stretches.length - 1]];
    if (first === undefined || last === undefined) return [];
    const { phase, stage } = first.sample;
    return [{ fromMs: first.fromMs, toMs: last.toMs, phase, stage, name: nameOf(plan, phase, stage), stretches }];
  });
}

function isSame(a: Stretch, b: Stretch): boolean {
  return a.sample.phase === b.sample.phase && (a.sample.stage === b.sample.stage || !hasStages(a.sample.phase));
}

function hasStages(phase: DrillPhase): boolean {
  return phase === 'stage' || phase === 'hold';
}

function nameOf(plan: Plan, phase: DrillPhase, stage: number): string {
  switch (phase) {
    case 'stage':
      return stageName(plan, stage);
    case 'hold':
      return 'on hold';
    case 'baseline':
    case 'recovery':
    case 'after':
      return phase;
  }
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

import { countText, durationText } from '../../../report/format.ts';
import { element, type Markup } from '../../../report/markup.ts';
import type { Band, Moment } from '../../../report/plot/backdrop.ts';
import { momentSign } from '../../../report/plot/panel.ts';
import type { DrillPhase, Mark } from '../journal.ts';
import type { Plan } from '../plan.ts';
import { curve, type PlotInput, samplesOf, segmentsOf, type Track } from './track.ts';

/** The bands of phases behind the curves of a domain, and the markers of important moments. */
interface PlotAnnotations {
  readonly bands: readonly Band[];
  readonly moments: readonly Moment[];
}

/**
 * Maximum number of moments in a plot: a guard that breaks every second would hide the curves. The timeline has all
 * marks.
 */
const MAX_MOMENTS = 40;

export function annotationsOf(track: Track, plan: Plan): PlotAnnotations {
  const bands = segmentsOf(track, plan).map((segment): Band => {
    const { fromMs, toMs, name, phase, stage } = segment;
    return { fromMs, toMs, name, style: bandStyle(phase, stage) };
  });
  const moments = track.marks.flatMap(momentOf);
  // The latest moments are kept: they include the end of the drill.
  return { bands, moments: moments.length > MAX_MOMENTS ? moments.slice(-MAX_MOMENTS) : moments };
}

/** Neighbouring stages have different tints. */
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

/** Explains how to read the plots, and the period of each point. */
export function plotKey(input: PlotInput, { moments }: PlotAnnotations): Markup {
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
    element('p', { class: 'note' }, pointsText(input)),
  );
}

function pointsText(input: PlotInput): string {
  const samples = samplesOf(input.track).length;
  if (samples === 0) return 'No samples were taken.';
  const points = curve(input, () => 0, 'mean').flat().length;
  if (samples === 1) return 'The only sample is drawn as long as the time it stands for.';
  if (points >= samples) return `Every one of ${countText(samples)} samples is drawn.`;
  return `${countText(samples)} samples on ${countText(points)} points, ${durationText(input.columnMs)} each: lines are their mean (p99, places and guards: their worst; p50: the middle one), the tint around a line reaches from the lowest to the highest of them, areas are means.`;
}

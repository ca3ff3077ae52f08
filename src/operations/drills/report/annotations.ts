import { note } from '../../../report/components.ts';
import { countText, durationText } from '../../../report/format.ts';
import { curve } from '../../../report/plot/curve.ts';
import { type Band, type Moment, signLegend } from '../../../report/plot/figure.ts';
import { h, type TreeElement } from '../../../report/tree.ts';
import type { DrillPhase, Mark } from '../journal.ts';
import type { Plan } from '../plan.ts';
import { type PlotInput, samplesOf, segmentsOf, type Track } from './track.ts';

/** The bands of phases behind the curves of a domain, and the markers of important moments. */
export interface PlotAnnotations {
  readonly bands: readonly Band[];
  readonly moments: readonly Moment[];
}

/**
 * Maximum number of moments in a plot: a guard that breaks every second would hide the curves. The timeline has all
 * marks.
 */
const MAX_MOMENTS = 40;

export function drillAnnotations(track: Track, plan: Plan): PlotAnnotations {
  const bands = segmentsOf(track, plan).map(({ fromMs, toMs, name, phase, stage }): Band => {
    return { fromMs, toMs, name, style: bandStyle(phase, stage) };
  });
  // The latest moments are kept: they include the end of the drill.
  return { bands, moments: track.marks.flatMap(momentOf).slice(-MAX_MOMENTS) };
}

/** Neighbouring stages have different tints. */
function bandStyle(phase: DrillPhase, stage: number): string {
  return phase === 'stage' ? `phase-stage-${stage % 2 === 0 ? 'even' : 'odd'}` : `phase-${phase}`;
}

const SIGNS_OF_MOMENTS = {
  broken: { shape: 'cross', words: 'a guard broke' },
  noted: { shape: 'cross', words: 'a guard broke; written down, the drill went on' },
  recovered: { shape: 'disc', words: "a stage's cohort was back at its own past" },
  restored: { shape: 'diamond', words: 'the cache was restored' },
} as const;

function momentOf(mark: Mark): readonly Moment[] {
  const moment = (style: keyof typeof SIGNS_OF_MOMENTS): readonly Moment[] => [
    { atMs: mark.atMs, style, shape: SIGNS_OF_MOMENTS[style].shape },
  ];
  if (mark.kind === 'guard') return moment(mark.then === 'continue' ? 'noted' : 'broken');
  return mark.kind === 'restored' || mark.kind === 'recovered' ? moment(mark.kind) : [];
}

/** Explains how to read the plots, and the period of each point. */
export function plotKey(input: PlotInput, { moments }: PlotAnnotations): TreeElement {
  const used = Object.entries(SIGNS_OF_MOMENTS).filter(([name]) => moments.some(({ style }) => style === name));
  return h('div')(
    h('p')(
      'All share one axis of time: since the start of the drill. The strip above each names the phase: baseline, the stages by what they lost, recovery, after.',
    ),
    signLegend(used.map(([style, sign]) => ({ style, ...sign }))),
    note(pointsNote(input)),
  );
}

function pointsNote({ track, columnMs }: PlotInput): string {
  const samples = samplesOf(track).length;
  if (samples === 0) return 'No samples were taken.';
  const points = curve(track.runs, () => 0, { fromMs: track.fromMs, columnMs }).flat().length;
  if (samples === 1) return 'The only sample is drawn as long as the time it stands for.';
  if (points >= samples) return `Every one of ${countText(samples)} samples is drawn.`;
  return `${countText(samples)} samples on ${countText(points)} points, ${durationText(columnMs)} each: lines are their mean (p99, places and guards: their worst; p50: the middle one), the tint around a line reaches from the lowest to the highest of them, areas are means.`;
}

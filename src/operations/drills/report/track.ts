import { note } from '../../../report/components.ts';
import { countText, durationText } from '../../../report/format.ts';
import {
  condense,
  curve,
  medianOf,
  merged,
  type Point,
  type PointRun,
  type Slice,
} from '../../../report/plot/curve.ts';
import { type BackdropOptions, type Band, type Moment, signLegend } from '../../../report/plot/figure.ts';
import { h, type TreeElement } from '../../../report/tree.ts';
import type { CohortFigures } from '../../meter/figures.ts';
import type { DrillPhase, Journal, Mark, Sample } from '../journal.ts';
import type { Plan } from '../plan.ts';
import { stageName } from '../view.ts';

/** One domain's part of a journal, in order of time. All tables and plots of the domain are drawn from it. */
export type Track = ReturnType<typeof trackOf>;

/** A gap is this many times the usual distance of samples: they come twice a second, less often in a long drill. */
const GAP_FACTOR = 5;
const MIN_GAP_MS = 3000;
/** Width of the time axis of a drill without samples. */
const MIN_SPAN_MS = 1000;

export function trackOf(journal: Journal, domain: string) {
  const samples = byTime(journal.samples.filter((sample) => sample.domain === domain));
  const marks = byTime(journal.marks.filter((mark) => mark.domain === domain));
  const gapMs = Math.max(MIN_GAP_MS, GAP_FACTOR * usualDistanceMs(samples));
  /** Samples without a gap; between two runs nothing was measured. */
  const runs: Slice<Sample>[][] = [];
  for (const [i, sample] of samples.entries()) {
    const before = samples[i - 1];
    if (before !== undefined && sample.atMs - before.atMs <= gapMs) {
      runs.at(-1)?.push({ fromMs: before.atMs, toMs: sample.atMs, data: sample });
    } else {
      const ownMs = Math.min(gapMs, Math.max(0, sample.figures.seconds * 1000 || 0));
      const fromMs = Math.max(0, before?.atMs ?? 0, sample.atMs - ownMs);
      runs.push([{ fromMs, toMs: sample.atMs, data: sample }]);
    }
  }
  const moments = [
    ...runs.flatMap((run) => run.flatMap(({ fromMs, toMs }) => [fromMs, toMs])),
    ...marks.map(({ atMs }) => atMs),
  ];
  const firstMs = moments.reduce((low, ms) => Math.min(low, ms), moments[0] ?? 0);
  // A whole second, so that the axis begins with a tick.
  const fromMs = Math.floor(firstMs / 1000) * 1000;
  const toMs = moments.reduce((high, ms) => Math.max(high, ms), fromMs + MIN_SPAN_MS);
  const result = journal.learned.find((one) => one.domain === domain);
  const preview = Object.hasOwn(journal.previews, domain) ? journal.previews[domain] : undefined;
  return { domain, fromMs, toMs, runs, marks, result, preview };
}

export function samplesOf(track: Track): readonly Sample[] {
  return track.runs.flatMap((run) => run.map(({ data }) => data));
}

/** The last stage that began; undefined when nothing was flushed. */
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
  return medianOf(distances) ?? 0;
}

/** The samples of one phase, or of one stage when the phase has stages. */
export type Segment = ReturnType<typeof segmentsOf>[number];

export function segmentsOf(track: Track, plan: Plan) {
  const groups: Slice<Sample>[][] = [];
  for (const slice of track.runs.flat()) {
    const current = groups.at(-1);
    const before = current?.[0];
    if (before !== undefined && isSame(before.data, slice.data)) current?.push(slice);
    else groups.push([slice]);
  }
  return groups.flatMap((slices) => {
    const [first, last] = [slices[0], slices.at(-1)];
    if (first === undefined || last === undefined) return [];
    const { phase, stage } = first.data;
    return [{ fromMs: first.fromMs, toMs: last.toMs, phase, stage, name: nameOf(plan, phase, stage), slices }];
  });
}

function isSame(a: Sample, b: Sample): boolean {
  return a.phase === b.phase && (a.stage === b.stage || !hasStages(a.phase));
}

function hasStages(phase: DrillPhase): boolean {
  return phase === 'stage' || phase === 'hold';
}

function nameOf(plan: Plan, phase: DrillPhase, stage: number): string {
  if (phase === 'stage') return stageName(plan, stage);
  return phase === 'hold' ? 'on hold' : phase;
}

/** The input of every plot. */
export interface PlotInput {
  readonly track: Track;
  /** Width of a column in time: a line has at most one point per column. */
  readonly columnMs: number;
}

/** With fewer searches a hit ratio means nothing: with three, one more miss is a third. */
export const MIN_POINT_SEARCHES = 40;

/** A cohort with few searches gets one point per period of this length. */
export const MAX_POINT_MS = 8000;

/**
 * The hit ratio of a cohort over time. Samples are joined until they have enough searches, but never across different values
 * of `part`: each stage has its own cohort.
 */
export function cohortCurve(
  { track, columnMs }: PlotInput,
  cohort: (sample: Sample) => CohortFigures | undefined,
  part: (sample: Sample) => number,
): readonly PointRun[] {
  const runs = track.runs.flatMap((slices) => {
    const found: Point[][] = [];
    let [open, current]: [Point[], Point[] | undefined] = [[], undefined];
    let inPart: number | undefined;
    const close = (): void => {
      current?.push(...merged(open, 'mean'));
      open = [];
    };
    for (const { fromMs, toMs, data: sample } of slices) {
      if (current === undefined || part(sample) !== inPart) {
        close();
        inPart = part(sample);
        current = [];
        found.push(current);
      }
      const { searches = 0, hitRatio } = cohort(sample) ?? {};
      if (hitRatio === undefined || !Number.isFinite(hitRatio) || !(searches > 0)) continue;
      open.push({ fromMs, toMs, value: hitRatio, low: hitRatio, high: hitRatio, weight: searches });
      const known = open.reduce((sum, point) => sum + point.weight, 0);
      if (known >= MIN_POINT_SEARCHES || toMs - (open[0]?.fromMs ?? toMs) >= MAX_POINT_MS) close();
    }
    close();
    return found.filter((run) => run.length > 0).map((run) => run.map(withoutSpread));
  });
  return condense(runs, track.fromMs, columnMs, 'mean');
}

/** A point without a spread: the ratios of its single samples mean nothing. */
function withoutSpread(point: Point): Point {
  return { ...point, low: point.value, high: point.value };
}

/**
 * Maximum number of moments in a plot: a guard that breaks every second would hide the curves. The timeline has all
 * marks.
 */
const MAX_MOMENTS = 40;

/** The bands of phases behind the curves of a domain, and the markers of important moments. */
export function drillAnnotations(track: Track, plan: Plan) {
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
export function plotKey(input: PlotInput, { moments }: Pick<BackdropOptions, 'moments'>): TreeElement {
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

import { type Combine, curve, highest, type PointRun, type SliceRuns } from '../../src/report/plot/curve.ts';
import type { Band, Moment } from '../../src/report/plot/figure.ts';
import { type Panel, plotPanel, type Series } from '../../src/report/plot/panel.ts';
import type { Judged } from '../judge/judge.ts';
import type { RunRecord } from '../judge/record.ts';
import { holdOf } from '../k6/kit/step.ts';
import type { StepSummary } from '../k6/kit/summary.ts';
import type { Timeline } from './timeline.ts';

/** The data of a plot, and its horizontal resolution. */
export interface PlotContext {
  readonly record: RunRecord;
  readonly judged: Judged;
  readonly timeline: Timeline;
  /** A line has at most one point in each column of this duration. */
  readonly columnMs: number;
}

interface LinePlotOptions extends Omit<Parameters<typeof plotPanel>[1], 'words' | 'series'> {
  /**
   * A curve without a point is neither drawn nor named. Its figure is its maximum by default; an empty text shows none.
   */
  readonly series: readonly Series[];
  /** Shown when no curve has a point. */
  readonly missing: string;
}

export function linePlot({ timeline }: PlotContext, options: LinePlotOptions): Panel {
  const { title, tickText } = options;
  const series = options.series
    .filter(({ runs = [], levels = [], figure }) => runs.length + levels.length > 0 || figure === 'none')
    .map(({ figure, ...one }) => {
      const most = one.runs && `${tickText(highest(one.runs))} at most`;
      return { ...one, figure: figure === '' ? undefined : (figure ?? most) };
    });
  const named = series.filter(({ runs = [] }) => runs.length > 0);
  const figures = named.map(({ name, figure }) => (figure === undefined ? name : `${name}: ${figure}`)).join('; ');
  return plotPanel(spanOf(timeline), { ...options, words: `${title}, over time. ${figures}.`, series });
}

export function spanOf({ toMs }: Timeline): { readonly fromMs: number; readonly toMs: number } {
  return { fromMs: 0, toMs };
}

/** A figure over time. The line is broken where the figure is missing. */
export function curveOver<T>(
  { columnMs }: PlotContext,
  slices: SliceRuns<T>,
  read: (data: T) => number | undefined,
  combine: Combine,
  weigh?: (data: T) => number,
): readonly PointRun[] {
  return curve(slices, read, { columnMs, combine, weigh });
}

/** The steps as bands behind every plot of a run, and the events as lines across it. */
export type Annotations = ReturnType<typeof runAnnotations>;

/** More would hide the curves; the table of events has them. */
const MAX_MOMENTS = 40;

export type Sign = Omit<Moment, 'atMs'> & { readonly words: string };

/** By kind of event. Other kinds are not drawn. */
export const EVENT_SIGNS = {
  'drill-started': { style: 'started', shape: 'diamond', words: 'a drill began' },
  'drill-stage': { style: 'noted', shape: 'cross', words: 'a stage of a drill: keys are lost' },
  flush: { style: 'noted', shape: 'cross', words: 'a flush: keys are lost' },
  'drill-ended': { style: 'restored', shape: 'diamond', words: 'a drill ended' },
  recovered: { style: 'recovered', shape: 'disc', words: 'the hit ratio was back, and stayed' },
} as const satisfies Readonly<Record<string, Sign>>;

export function runAnnotations({ record, judged, timeline }: PlotContext) {
  const { summary, events } = record;
  const bands = summary.steps.flatMap((one, i) => bandsOf(one, i, timeline.toMs));
  const done = events.flatMap(({ atMs, kind }): readonly Moment[] => {
    if (!isSigned(kind)) return [];
    const { style, shape } = EVENT_SIGNS[kind];
    return [{ atMs: atMs - summary.startedAtMs, style, shape }];
  });
  const recovered = judged.recoveries.flatMap(({ lostAtMs, recoveredAfterMs }): readonly Moment[] => {
    if (recoveredAfterMs === undefined) return [];
    return [{ atMs: lostAtMs + recoveredAfterMs - summary.startedAtMs, style: 'recovered', shape: 'disc' }];
  });
  const moments = [...done, ...recovered].filter(({ atMs }) => atMs >= 0 && atMs <= timeline.toMs);
  return { bands, moments: moments.slice(0, MAX_MOMENTS) };
}

/** The signs that are drawn, in the order of their kinds. */
export function signsUsed({ events }: RunRecord, { moments }: Annotations): readonly Sign[] {
  const kinds = new Set([...events.map(({ kind }) => kind), 'recovered']);
  return Object.entries(EVENT_SIGNS)
    .filter(([kind, { style }]) => kinds.has(kind) && moments.some((moment) => moment.style === style))
    .map(([, sign]) => sign);
}

export function isSigned(kind: string): kind is keyof typeof EVENT_SIGNS {
  return Object.hasOwn(EVENT_SIGNS, kind);
}

/** The time in which its rate holds, by which a step is judged. Ramps have no band. */
function bandsOf({ step, result }: StepSummary, at: number, endMs: number): readonly Band[] {
  const [from, to] = holdOf(step).map((seconds) => seconds * 1000);
  if (from === undefined || to === undefined || from >= endMs) return [];
  const band = { fromMs: from, toMs: Math.min(to, endMs), name: step.name };
  if (result === 'broke') return [{ ...band, name: `${step.name} ✕`, style: 'step-broke' }];
  return [{ ...band, style: step.limits === undefined ? 'step-shown' : `step-${at % 2 === 1 ? 'odd' : 'even'}` }];
}

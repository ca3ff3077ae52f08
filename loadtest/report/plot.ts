import { type Content, element, type Markup } from '../../src/report/markup.ts';
import type { Band, Moment } from '../../src/report/plot/backdrop.ts';
import { createFrame, type Frame } from '../../src/report/plot/frame.ts';
import { type LegendEntry, type Panel, panelFigure } from '../../src/report/plot/panel.ts';
import { type Combine, condense, line, type Point, type Run, spread } from '../../src/report/plot/series.ts';
import type { Judged } from '../judge/judge.ts';
import type { RunRecord } from '../judge/record.ts';
import { holdOf } from '../k6/kit/step.ts';
import type { StepSummary } from '../k6/kit/summary.ts';
import { defined } from '../sample/sample.ts';
import type { Slice, Timeline, Track } from './timeline.ts';

/** A drawn plot, or the reason why there is none. */
export type Plot = Panel | { readonly id: string; readonly title: string; readonly missing: string };

interface Curve {
  readonly style: string;
  readonly name: string;
  readonly runs: readonly Run[];
  /** Its maximum by default; an empty text shows none. */
  readonly figure?: string;
  /** Tints the range between the lowest and the highest value of each point. */
  readonly hasSpread?: boolean;
}

interface LinePlotOptions {
  readonly context: PlotContext;
  readonly id: string;
  readonly title: string;
  readonly text: (value: number) => string;
  /** A curve without a point is neither drawn nor named. */
  readonly curves: readonly Curve[];
  readonly heightPx?: number;
  /** By default from 0 to the maximum of the curves. */
  readonly frame?: Frame;
  readonly isWhole?: boolean;
  /** Behind the curves. */
  readonly behind?: readonly (Markup | undefined)[];
  readonly legend?: readonly LegendEntry[];
  readonly notes?: readonly string[];
  readonly isDetailed?: boolean;
  /** Shown when no curve has a point. */
  readonly missing: string;
}

/** A plot of lines over the time of the run. */
export function linePlot(options: LinePlotOptions): Plot {
  const { context, id, title, text, heightPx = 150, isWhole = false, behind = [], legend = [], isDetailed } = options;
  const curves = options.curves.filter(({ runs }) => runs.length > 0);
  if (curves.length === 0) return { id, title, missing: options.missing };
  const max = highest(...curves.map(({ runs }) => runs));
  const frame = options.frame ?? createFrame({ fromMs: 0, toMs: context.timeline.toMs, max, heightPx, isWhole });
  const named = curves.map((one) => ({ ...one, figure: one.figure ?? `${text(highest(one.runs))} at most` }));
  return {
    id,
    title,
    words: `${title}, over time. ${named.map(({ name, figure }) => (figure === '' ? name : `${name}: ${figure}`)).join('; ')}.`,
    frame,
    tickText: text,
    drawn: [
      ...behind,
      ...curves.map(({ hasSpread, runs, style }) => (hasSpread ? spread(frame, runs, style) : undefined)),
      ...curves.map(({ runs, style }) => line(frame, runs, style)),
    ],
    legend: [
      ...named.map(
        ({ style, name, figure }) => ({ kind: 'line', style, name, ...(figure !== '' && { figure }) }) as const,
      ),
      ...legend,
    ],
    ...defined({ notes: options.notes, isDetailed }),
    isEmpty: false,
  };
}

export function isPanel(plot: Plot): plot is Panel {
  return 'frame' in plot;
}

export function plotFigure(plot: Plot, backdropId: string): Content {
  if (isPanel(plot)) return panelFigure(plot, backdropId);
  return element('p', { class: 'note missing' }, element('strong', {}, plot.title), `: ${plot.missing}`);
}

/** The data of a plot, and its horizontal resolution. */
export interface PlotContext {
  readonly record: RunRecord;
  readonly judged: Judged;
  readonly timeline: Timeline;
  /** A line has at most one point in each column of this duration. */
  readonly columnMs: number;
}

/** A figure over time. The line is broken where the figure is missing. */
export function curve<T>(
  { columnMs }: PlotContext,
  track: Track<T>,
  read: (data: T) => number | undefined,
  combine: Combine,
  weigh: (data: T, seconds: number) => number = (_, seconds) => seconds,
): readonly Run[] {
  const runs = track.flatMap((slices) => {
    const found: Point[][] = [[]];
    for (const { fromMs, toMs, data } of slices) {
      const seconds = (toMs - fromMs) / 1000;
      const value = read(data);
      if (value === undefined || !Number.isFinite(value)) found.push([]);
      else found.at(-1)?.push({ fromMs, toMs, value, low: value, high: value, weight: weigh(data, seconds) });
    }
    return found.filter((run) => run.length > 0);
  });
  return condense(runs, 0, columnMs, combine);
}

/** The slices that share a point of a condensed line. */
export function columnsOf<T>({ columnMs }: PlotContext, run: readonly Slice<T>[]): readonly (readonly Slice<T>[])[] {
  return [...Map.groupBy(run, ({ fromMs, toMs }) => Math.floor((fromMs + toMs) / 2 / columnMs)).values()];
}

export function highest(...some: readonly (readonly Run[])[]): number {
  return some.flat(2).reduce((most, point) => Math.max(most, point.high), 0);
}

/** Undefined without a point above 0. */
export function lowestAboveZero(...some: readonly (readonly Run[])[]): number | undefined {
  return some
    .flat(2)
    .reduce<number | undefined>((least, { low }) => (low > 0 ? Math.min(least ?? low, low) : least), undefined);
}

/** The steps as bands behind every plot of a run, and the events as lines across it. */
export type Annotations = ReturnType<typeof annotationsOf>;

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

export function annotationsOf({ record, judged, timeline }: PlotContext) {
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

import { type Content, element, type Markup } from '../../src/report/markup.ts';
import type { Band, Moment, Shape } from '../../src/report/plot/backdrop.ts';
import { createFrame, type Frame } from '../../src/report/plot/frame.ts';
import { type LegendEntry, type Panel, panelFigure } from '../../src/report/plot/panel.ts';
import { type Combine, condense, line, type Point, type Run, spread } from '../../src/report/plot/series.ts';
import type { Judged, RunRecord } from '../judge/record.ts';
import { holdOf } from '../k6/kit/step.ts';
import type { StepSummary } from '../k6/kit/summary.ts';
import type { Stretch, Timeline, Track } from './timeline.ts';

/** What is drawn, or in one line why it is not. */
export type Plot = Panel | { readonly id: string; readonly title: string; readonly missing: string };

export interface Curve {
  readonly style: string;
  readonly name: string;
  readonly runs: readonly Run[];
  /** How high it went, unless said otherwise; empty: it has none. */
  readonly figure?: string;
  /** With the tint between the lowest and the highest of what a point stands for. */
  readonly hasSpread?: boolean;
}

export interface LinePlotOptions {
  readonly sheet: Sheet;
  readonly id: string;
  readonly title: string;
  readonly text: (value: number) => string;
  /** A curve without a point is neither drawn nor named. */
  readonly curves: readonly Curve[];
  readonly heightPx?: number;
  /** From 0 to the highest of the curves, unless given. */
  readonly frame?: Frame;
  readonly isWhole?: boolean;
  /** Behind the curves. */
  readonly behind?: readonly (Markup | undefined)[];
  readonly legend?: readonly LegendEntry[];
  readonly notes?: readonly string[];
  readonly isDetailed?: boolean;
  /** Said when no curve has a point. */
  readonly missing: string;
}

/** A plot of lines over the time of the run. */
export function linePlot(options: LinePlotOptions): Plot {
  const { sheet, id, title, text, heightPx = 150, isWhole = false, behind = [], legend = [], isDetailed } = options;
  const curves = options.curves.filter(({ runs }) => runs.length > 0);
  if (curves.length === 0) return { id, title, missing: options.missing };
  const max = highest(...curves.map(({ runs }) => runs));
  const frame = options.frame ?? createFrame({ fromMs: 0, toMs: sheet.timeline.toMs, max, heightPx, isWhole });
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
    ...(options.notes !== undefined && { notes: options.notes }),
    isEmpty: false,
    ...(isDetailed !== undefined && { isDetailed }),
  };
}

export function isPanel(plot: Plot): plot is Panel {
  return 'frame' in plot;
}

export function plotFigure(plot: Plot, backdropId: string): Content {
  if (isPanel(plot)) return panelFigure(plot, backdropId);
  return element('p', { class: 'note missing' }, element('strong', {}, plot.title), `: ${plot.missing}`);
}

/** What a plot is drawn with: the run, and the room it has. */
export interface Sheet {
  readonly record: RunRecord;
  readonly judged: Judged;
  readonly timeline: Timeline;
  /** Of a plot's width: no more points than this are drawn along a line. */
  readonly columnMs: number;
}

/** One figure over time; whatever does not have it breaks the line. */
export function curve<T>(
  { columnMs }: Sheet,
  track: Track<T>,
  read: (own: T) => number | undefined,
  combine: Combine,
  weigh: (own: T, seconds: number) => number = (_, seconds) => seconds,
): readonly Run[] {
  const runs = track.flatMap((stretches) => {
    const found: Point[][] = [[]];
    for (const { fromMs, toMs, own } of stretches) {
      const seconds = (toMs - fromMs) / 1000;
      const value = read(own);
      if (value === undefined || !Number.isFinite(value)) found.push([]);
      else found[found.length - 1]?.push({ fromMs, toMs, value, low: value, high: value, weight: weigh(own, seconds) });
    }
    return found.filter((run) => run.length > 0);
  });
  return condense(runs, 0, columnMs, combine);
}

/** Stretches that share a point of a condensed line. */
export function columnsOf<T>({ columnMs }: Sheet, run: readonly Stretch<T>[]): readonly (readonly Stretch<T>[])[] {
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

/** What every plot of a run has behind and across it: the steps, and what was done meanwhile. */
export interface Scenery {
  readonly bands: readonly Band[];
  readonly moments: readonly Moment[];
}

/** More would hide the curves; the table of events has them. */
const MAX_MOMENTS = 40;

export interface Sign {
  readonly style: string;
  readonly shape: Shape;
  readonly words: string;
}

/** By the kind of an event; others are not drawn across the plots. */
export const EVENT_SIGNS = {
  'drill-started': { style: 'started', shape: 'diamond', words: 'a drill began' },
  'drill-stage': { style: 'noted', shape: 'cross', words: 'a stage of a drill: keys are lost' },
  flush: { style: 'noted', shape: 'cross', words: 'a flush: keys are lost' },
  'drill-ended': { style: 'restored', shape: 'diamond', words: 'a drill ended' },
  recovered: { style: 'recovered', shape: 'disc', words: 'the hit ratio was back, and stayed' },
} as const satisfies Readonly<Record<string, Sign>>;

export function sceneryOf({ record, judged, timeline }: Sheet): Scenery {
  const { summary, events } = record;
  const bands = summary.steps.flatMap((one, i) => bandsOf(one, i, timeline.toMs));
  const done = events.flatMap(({ atMs, kind }): readonly Moment[] => {
    const sign = isSigned(kind) ? EVENT_SIGNS[kind] : undefined;
    return sign === undefined ? [] : [{ atMs: atMs - summary.startedAtMs, style: sign.style, shape: sign.shape }];
  });
  const recovered = judged.recoveries.flatMap(({ lostAtMs, recoveredAfterMs }): readonly Moment[] => {
    if (recoveredAfterMs === undefined) return [];
    return [{ atMs: lostAtMs + recoveredAfterMs - summary.startedAtMs, style: 'recovered', shape: 'disc' }];
  });
  const moments = [...done, ...recovered].filter(({ atMs }) => atMs >= 0 && atMs <= timeline.toMs);
  return { bands, moments: moments.slice(0, MAX_MOMENTS) };
}

/** Those that are drawn somewhere, in the order of their kinds. */
export function signsUsed({ events }: RunRecord, { moments }: Scenery): readonly Sign[] {
  const kinds = new Set([...events.map(({ kind }) => kind), 'recovered']);
  return Object.entries(EVENT_SIGNS)
    .filter(([kind, { style }]) => kinds.has(kind) && moments.some((moment) => moment.style === style))
    .map(([, sign]) => sign);
}

export function isSigned(kind: string): kind is keyof typeof EVENT_SIGNS {
  return Object.hasOwn(EVENT_SIGNS, kind);
}

/** Where its rate holds: what a step is judged by. Ramps between them stay blank. */
function bandsOf({ step, result }: StepSummary, at: number, endMs: number): readonly Band[] {
  const [from, to] = holdOf(step).map((seconds) => seconds * 1000);
  if (from === undefined || to === undefined || from >= endMs) return [];
  const didBreak = result === 'broke';
  return [
    {
      fromMs: from,
      toMs: Math.min(to, endMs),
      name: didBreak ? `${step.name} ✕` : step.name,
      style: didBreak
        ? 'step-broke'
        : step.limits === undefined
          ? 'step-shown'
          : `step-${at % 2 === 1 ? 'odd' : 'even'}`,
    },
  ];
}

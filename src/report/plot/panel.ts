import type { TreeElement } from '../tree.ts';
import { highest, type Pile, type PointRun } from './curve.ts';
import { createFrame, createLogFrame, type Frame, type TimeSpan } from './frame.ts';
import { level, line, type Named, spread, stack, stackNames } from './shapes.ts';

/** A plot that can be drawn. */
export interface Panel {
  /** Unique in the page. */
  readonly id: string;
  /** Includes the unit of the values. */
  readonly title: string;
  /** The plot in words, for screen readers. Absent where a legend with the present values says it. */
  readonly words?: string;
  readonly frame: Frame;
  readonly tickText: (value: number) => string;
  /** In the units of the frame, and stretched with it. */
  readonly drawn: readonly (TreeElement | undefined)[];
  /** Names inside the drawing: placed by percent and pixels, not stretched. */
  readonly names: readonly TreeElement[];
  readonly legend: readonly LegendEntry[];
  readonly notes?: readonly string[];
  /** Nothing was measured; a text says so. */
  readonly isEmpty: boolean;
  /** Shown instead of an empty plot: the reason why nothing was measured. */
  readonly missing?: string;
  /** Also shows the recovery of each stage. */
  readonly isDetailed?: boolean;
}

export interface LegendEntry extends Named {
  /** `line`: a line with its dashes; `area`: a filled square. */
  readonly kind: 'line' | 'area';
  /** The value at a time, as text; undefined where there is none. */
  readonly textAt: (atMs: number) => string | undefined;
}

/** A curve, or constant levels, with its entry of the legend. */
export interface Series extends Named {
  readonly runs?: readonly PointRun[];
  /** The range of the joined samples is drawn as a tint around the curve. */
  readonly isTinted?: boolean;
  readonly levels?: readonly (readonly [fromMs: number, toMs: number, value: number])[];
}

interface StackedAreas {
  /** From the bottom up. */
  readonly areas: readonly Named[];
  readonly runs: readonly (readonly Pile[])[];
  /** The areas have their names in the drawing. */
  readonly isNamed?: boolean;
}

interface PlotOptions extends Omit<Panel, 'frame' | 'drawn' | 'names' | 'legend' | 'isEmpty'> {
  readonly heightPx?: number;
  /** Absent: the highest value of all series and areas. */
  readonly max?: number;
  readonly tickCount?: number;
  readonly isWhole?: boolean;
  /** An axis on which equal distances are equal factors. */
  readonly isLog?: boolean;
  /** The first one is drawn on top. `undefined`: there is nothing of this kind to draw. */
  readonly series?: readonly (Series | undefined)[];
  readonly stacked?: StackedAreas;
  /** Absent: no series has a point, and no area a pile. */
  readonly isEmpty?: boolean;
}

/** Series on one axis of values, in front of stacked areas. The axis begins at 0 unless it is logarithmic. */
export function plotPanel(span: TimeSpan, options: PlotOptions): Panel {
  const { heightPx = 150, max: given, tickCount, isWhole, isLog, stacked, ...panel } = options;
  const series = (options.series ?? []).filter((one) => one !== undefined);
  const points = series.flatMap(({ runs = [] }) => runs.flat());
  const levels = series.flatMap((one) => (one.levels ?? []).map(([, , value]) => value));
  const piles = stacked?.runs.flat() ?? [];
  const sums = piles.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const max = given ?? [...levels, ...sums].reduce((most, value) => Math.max(most, value), highest([points]));
  const min = points.reduce((least, { low }) => (low > 0 ? Math.min(least, low) : least), max);
  const frame = isLog
    ? createLogFrame({ ...span, min, max, heightPx })
    : createFrame({ ...span, max, heightPx, tickCount, isWhole });
  return {
    ...panel,
    frame,
    drawn: [
      ...(stacked === undefined ? [] : stack(frame, stacked.runs, stacked.areas)),
      ...series.toReversed().flatMap((one) => seriesDrawn(frame, one)),
    ],
    names: stacked?.isNamed ? stackNames(frame, stacked.runs, stacked.areas) : [],
    legend: [...series.map((one) => lineEntry(one, panel.tickText)), ...areaEntries(stacked, panel.tickText)],
    isEmpty: options.isEmpty ?? points.length + piles.length === 0,
  };
}

function seriesDrawn(frame: Frame, { style, runs, isTinted, levels = [] }: Series): (TreeElement | undefined)[] {
  return [
    ...levels.map(([from, to, value]) => level(frame, from, to, value, style)),
    runs && isTinted ? spread(frame, runs, style) : undefined,
    runs && line(frame, runs, style),
  ];
}

function lineEntry({ style, name, figure, runs = [], levels = [] }: Series, text: Panel['tickText']): LegendEntry {
  const valueAt = (atMs: number): number | undefined =>
    periodAt(runs, atMs)?.value ?? levels.find(([from, to]) => from <= atMs && atMs <= to)?.[2];
  return { kind: 'line', style, name, figure, textAt: known(valueAt, text) };
}

/** In the order of the areas, from the bottom up: the best answers are first. */
function areaEntries(stacked: StackedAreas | undefined, text: Panel['tickText']): readonly LegendEntry[] {
  if (stacked === undefined) return [];
  return stacked.areas.map((area, at): LegendEntry => {
    const valueAt = (atMs: number): number | undefined => periodAt(stacked.runs, atMs)?.values[at];
    return { kind: 'area', ...area, textAt: known(valueAt, text) };
  });
}

function known(valueAt: (atMs: number) => number | undefined, text: Panel['tickText']): LegendEntry['textAt'] {
  return (atMs) => {
    const value = valueAt(atMs);
    return value === undefined ? undefined : text(value);
  };
}

/** The last period that began before a time, in a run that reaches it. */
function periodAt<T extends TimeSpan>(runs: readonly (readonly T[])[], atMs: number): T | undefined {
  const run = runs.find(
    (one) => (one[0]?.fromMs ?? Number.POSITIVE_INFINITY) <= atMs && (one.at(-1)?.toMs ?? 0) >= atMs,
  );
  return run?.findLast(({ fromMs }) => fromMs < atMs) ?? run?.[0];
}

/** A constant level over the whole plot; undefined when its value is not known. */
export function constant({ fromMs, toMs }: TimeSpan, value: number | undefined, named: Series): Series | undefined {
  return value === undefined || !Number.isFinite(value) ? undefined : { ...named, levels: [[fromMs, toMs, value]] };
}

import type { Markup } from '../markup.ts';
import { createFrame } from './frame.ts';
import type { LegendEntry, Panel } from './panel.ts';
import { level, line, type Run, spread } from './series.ts';

/** The time axis of a plot. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A curve, or constant levels, with its entry of the legend. */
export interface Series {
  readonly style: string;
  readonly name: string;
  /** Shown after the name. */
  readonly figure?: string | undefined;
  readonly runs?: readonly Run[];
  /** The range of the joined samples is drawn as a tint around the curve. */
  readonly isTinted?: boolean;
  readonly levels?: readonly (readonly [fromMs: number, toMs: number, value: number])[];
}

interface LinesOptions extends Omit<Panel, 'frame' | 'drawn' | 'legend'> {
  readonly heightPx: number;
  /** Absent: the highest value of all series. */
  readonly max?: number;
  readonly tickCount?: number;
  readonly isWhole?: boolean;
  /** The first one is drawn on top. `undefined`: there is nothing of this kind to draw. */
  readonly series: readonly (Series | undefined)[];
}

/** Several series on one axis of values that begins at 0. */
export function linesPlot({ fromMs, toMs }: Span, { heightPx, tickCount, isWhole, ...options }: LinesOptions): Panel {
  const series = options.series.filter((one) => one !== undefined);
  const values = series.map(({ runs = [], levels = [] }) => Math.max(highest(runs), ...levels.map(([, , at]) => at)));
  const { max = Math.max(...values), ...panel } = options;
  const frame = createFrame({
    ...{ fromMs, toMs, max, heightPx },
    ...(tickCount !== undefined && { tickCount }),
    ...(isWhole !== undefined && { isWhole }),
  });
  return {
    ...panel,
    frame,
    drawn: series
      .toReversed()
      .flatMap(({ style, runs, isTinted = false, levels = [] }): (Markup | undefined)[] => [
        ...levels.map(([from, to, value]) => level(frame, from, to, value, style)),
        runs !== undefined && isTinted ? spread(frame, runs, style) : undefined,
        runs && line(frame, runs, style),
      ]),
    legend: series.map(
      ({ style, name, figure }): LegendEntry => ({
        kind: 'line',
        style,
        name,
        ...(figure !== undefined && { figure }),
      }),
    ),
  };
}

/** A constant level over the whole plot; undefined when its value is not known. */
export function constant({ fromMs, toMs }: Span, value: number | undefined, named: Series): Series | undefined {
  return value === undefined || !Number.isFinite(value) ? undefined : { ...named, levels: [[fromMs, toMs, value]] };
}

export function highest(...some: readonly (readonly Run[])[]): number {
  return some.flat(2).reduce((most, point) => Math.max(most, point.high), 0);
}

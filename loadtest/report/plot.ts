import { type Content, element, type Markup } from '../../src/report/markup.ts';
import { createFrame, type Frame } from '../../src/report/plot/frame.ts';
import { type LegendEntry, type Panel, panelFigure } from '../../src/report/plot/panel.ts';
import { line, type Run, spread } from '../../src/report/plot/series.ts';
import { highest, type Sheet } from './curve.ts';

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

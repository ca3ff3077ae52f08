import type { Chart } from '../finding.ts';
import type { Look } from './look.ts';
import type { ChartScale } from './scale.ts';

/** Where a chart's series are drawn: pixels of the picture. */
export interface Drawing {
  readonly chart: Chart;
  readonly looks: readonly Look[];
  readonly scale: ChartScale;
  /** The middle of the first place, and from one place to the next. */
  readonly startPx: number;
  readonly stepPx: number;
  /** Of the axis' upper end. */
  readonly topPx: number;
  readonly heightPx: number;
}

/** Room above the axis for a value that reaches its end. */
export const HEAD_PX = 20;

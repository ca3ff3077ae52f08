import { logTicks } from '../../../src/report/plot/log-frame.ts';
import { linearScale } from '../../../src/report/plot/scale.ts';
import { roundTicks } from '../../../src/report/plot/ticks.ts';
import type { Chart } from '../finding.ts';
import { valueText } from '../value-text.ts';

/** From values to heights. */
export interface ChartScale {
  readonly ticks: readonly Tick[];
  /** Pixels below the top of the drawing. */
  readonly at: (value: number) => number;
}

export interface Tick {
  readonly y: number;
  /** Absent where it would say the same as that of the tick below, or run into it. */
  readonly text?: string;
}

const [TICKS, LINE_PX] = [5, 14];
/** On a logarithmic axis the lowest bar ends so far above the floor. */
const BELOW_LOWEST = 0.7;
const [KIB, FEW_POWERS] = [1024, 6];

export function chartScale(chart: Chart, heightPx: number): ChartScale {
  const values = chart.series.flatMap((one) => one.values).filter((value) => value !== undefined && value > 0);
  const ticks = chart.isLog ? logarithmic(chart, values.filter(isKnown)) : linear(chart, values.filter(isKnown));
  const [from, to] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const scale = chart.isLog
    ? linearScale(Math.log(from), Math.log(to), heightPx, 0)
    : linearScale(from, to, heightPx, 0);
  const at = (value: number): number => scale.at(chart.isLog ? Math.log(Math.max(value, from)) : value);
  const shown: Tick[] = [];
  for (const tick of ticks) {
    const [y, text] = [at(tick), valueText(tick, chart.unit)];
    const below = shown.findLast((one) => one.text !== undefined);
    const isTold = below === undefined || (below.text !== text && below.y - y >= LINE_PX);
    shown.push({ y, ...(isTold && { text }) });
  }
  return { ticks: shown, at };
}

/** What is not finite was not measured. */
export function isKnown(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value);
}

function linear({ unit }: Chart, values: readonly number[]): readonly number[] {
  const highest = Math.max(0, ...values);
  const isBytes = unit === 'bytes' || unit === 'bytes-per-second';
  const part = isBytes ? KIB ** Math.max(0, Math.floor(Math.log2(Math.max(1, highest)) / 10)) : 1;
  return roundTicks(highest / part, TICKS, unit === 'count').map((tick) => tick * part);
}

function logarithmic({ unit, shape }: Chart, values: readonly number[]): readonly number[] {
  const highest = values.length === 0 ? 1 : Math.max(...values);
  const lowest = (values.length === 0 ? 1 : Math.min(...values)) * (shape === 'bars' ? BELOW_LOWEST : 1);
  if (unit !== 'bytes' && unit !== 'bytes-per-second') return logTicks(lowest, highest);
  const [first, last] = [Math.floor(Math.log2(lowest)), Math.ceil(Math.log2(highest))];
  const step = Math.max(1, Math.ceil((last - first) / FEW_POWERS));
  const count = Math.max(1, Math.ceil((last - first) / step));
  return Array.from({ length: count + 1 }, (_, i) => 2 ** (first + i * step));
}

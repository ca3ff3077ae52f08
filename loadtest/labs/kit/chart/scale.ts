import { linearScale, logTicks, roundTicks } from '../../../../src/report/plot/frame.ts';
import type { Chart, Unit } from '../finding.ts';
import { valueText } from '../value-text.ts';

/** From values to heights. */
export interface ChartScale {
  readonly ticks: readonly Tick[];
  /** Pixels below the top of the drawing. */
  readonly at: (value: number) => number;
}

export interface Tick {
  readonly y: number;
  /** Absent where it would say another value (0.5 of what is counted is no 1), the same as the tick below, or run into it. */
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
    const hasRoom = below === undefined || (below.text !== text && below.y - y >= LINE_PX);
    shown.push({ y, ...(hasRoom && says(text, tick, chart.unit) && { text }) });
  }
  return { ticks: shown, at };
}

/** Whether a text was not rounded. Powers of ten apart, which units have: 2,500 ms are 2.5 s, and a share of 0.2 is 20 %. */
function says(text: string, value: number, unit: Unit): boolean {
  // Steps of both are round in their own units, of 1024 and of 60.
  if (value === 0 || unit === 'bytes' || unit === 'bytes-per-second' || text.includes('min')) return true;
  if (/^[<>]/.test(text)) return false;
  const power = Math.log10(value / Number.parseFloat(text.replaceAll(',', '')));
  return Math.abs(power - Math.round(power)) < 1e-6;
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

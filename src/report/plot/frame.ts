/** Width of a drawing in its own units. The drawing is stretched to the width of the page; lines keep their thickness. */
export const FRAME_WIDTH = 1000;

/** Height of the strip with the bands' names above a drawing, and of the times below it. */
export const STRIP_PX = 20;
export const TIMES_PX = 20;

/** The scales of a drawing: time across in units of `FRAME_WIDTH`, values upwards in pixels. */
export interface Frame {
  readonly x: AxisScale;
  readonly y: AxisScale;
  readonly heightPx: number;
  readonly ticks: readonly number[];
}

interface FrameOptions extends TimeSpan {
  /** The highest value shown. */
  readonly max: number;
  readonly heightPx: number;
  readonly tickCount?: number;
  /** True: the axis is labelled with whole numbers only. */
  readonly isWhole?: boolean;
}

export function createFrame({ fromMs, toMs, max, heightPx, tickCount = 4, isWhole = false }: FrameOptions): Frame {
  const ticks = roundTicks(max, tickCount, isWhole);
  return { x: timeScale({ fromMs, toMs }), y: linearScale(0, ticks.at(-1) ?? 1, heightPx, 0), heightPx, ticks };
}

/** The time axis of all plots of a page. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

export function timeScale({ fromMs, toMs }: TimeSpan): AxisScale {
  return linearScale(fromMs, toMs, 0, FRAME_WIDTH);
}

/** A position as a share of the width, for elements that are not stretched. */
export function percentAcross(x: AxisScale, atMs: number): string {
  return percentOf(x.at(atMs));
}

/** A width in units of the drawing as a share of its width. */
export function percentOf(width: number): string {
  return `${Math.round((width / FRAME_WIDTH) * 10_000) / 100}%`;
}

interface LogFrameOptions extends TimeSpan {
  /** The lowest and the highest value shown, both above 0. */
  readonly min: number;
  readonly max: number;
  readonly heightPx: number;
}

/**
 * Maximum number of powers of ten on an axis: with more, the ticks are too close. Lower values are drawn at the lower
 * edge.
 */
const MAX_POWERS = 7;
const ROUND = [1, 2, 5] as const;
/** Up to this number of ticks 2 and 5 are shown between the powers of ten. */
const MAX_FINE_TICKS = 7;

/** A frame with a logarithmic axis of values. Values below its lowest tick are drawn at the lower edge. */
export function createLogFrame({ fromMs, toMs, min, max, heightPx }: LogFrameOptions): Frame {
  const ticks = logTicks(min, max);
  const [from, to] = [ticks[0] ?? 1, ticks.at(-1) ?? 10];
  const power = linearScale(Math.log10(from), Math.log10(to), heightPx, 0);
  const y: AxisScale = { from, to, at: (value) => power.at(Math.log10(Math.max(value, from))) };
  return { x: timeScale({ fromMs, toMs }), y, heightPx, ticks };
}

/** Round values from below the lowest to above the highest: powers of ten, with 2 and 5 between them if they are few. */
export function logTicks(min: number, max: number): readonly number[] {
  const high = Number.isFinite(max) && max > 0 ? Math.min(max, 1e300) : 1;
  const low = Number.isFinite(min) && min > 0 ? Math.min(min, high) : high;
  const lowest = Math.max(low, high / 10 ** MAX_POWERS);
  const [first, last] = [Math.floor(Math.log10(lowest) - 1), Math.ceil(Math.log10(high) + 1)];
  const all = Array.from({ length: (last - first) * 3 + 1 }, (_, i) =>
    rounded((ROUND[i % 3] ?? 1) * 10 ** (first + Math.floor(i / 3))),
  );
  const from = all.findLastIndex((tick) => tick <= lowest * (1 + 1e-9));
  const to = Math.max(
    all.findIndex((tick) => tick >= high * (1 - 1e-9)),
    from + 1,
  );
  const ticks = all.slice(from, to + 1);
  if (ticks.length <= MAX_FINE_TICKS) return ticks;
  return ticks.filter((tick, i) => i === 0 || i === ticks.length - 1 || isPower(tick));
}

function isPower(tick: number): boolean {
  return Number.isInteger(rounded(Math.log10(tick)));
}

function rounded(value: number): number {
  return Number(value.toPrecision(12));
}

/** Maps values to positions in a drawing. The result is always inside the drawing. */
export interface AxisScale {
  readonly from: number;
  readonly to: number;
  readonly at: (value: number) => number;
}

/** An empty or reversed span is treated as a span of length 1. */
export function linearScale(from: number, to: number, start: number, end: number): AxisScale {
  const length = to > from ? to - from : 1;
  const at = (value: number): number => {
    const share = Number.isFinite(value) ? Math.min(1, Math.max(0, (value - from) / length)) : 0;
    return start + share * (end - start);
  };
  return { from, to: from + length, at };
}

const STEPS = [1, 2, 2.5, 5, 10];
const TIME_STEPS_MS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400,
].map((seconds) => seconds * 1000);

/** About `count` round values, from 0 to the first one at or above `max`. `isWhole`: whole numbers only. */
export function roundTicks(max: number, count: number, isWhole = false): readonly number[] {
  const top = Number.isFinite(max) && max > 0 ? Math.min(max, 1e300) : 1;
  const power = 10 ** Math.floor(Math.log10(top / count));
  const round = power * (STEPS.find((one) => one * power * count >= top) ?? 10);
  const step = isWhole ? Math.max(1, Math.ceil(round)) : round;
  const ticks = [0];
  // The loop counts steps, since far from zero one step may be too small to change a number.
  for (let i = 1; i <= count + 1 && (i - 1) * step < top * (1 - 1e-9); i++)
    ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

/** Round times within the span, at most `count` + 1. */
export function timeTicks(fromMs: number, toMs: number, count: number): readonly number[] {
  const longest = TIME_STEPS_MS.at(-1) ?? 1;
  const neededMs = (toMs - fromMs) / count;
  const stepMs = TIME_STEPS_MS.find((one) => one >= neededMs) ?? Math.ceil(neededMs / longest) * longest;
  const firstMs = Math.ceil(fromMs / stepMs) * stepMs;
  return Array.from({ length: count + 1 }, (_, i) => firstMs + i * stepMs).filter(
    (atMs) => atMs >= fromMs && atMs <= toMs,
  );
}

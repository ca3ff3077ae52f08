import { FRAME_WIDTH, type Frame } from './frame.ts';
import { linearScale, type Scale } from './scale.ts';

export interface LogFrameOptions {
  readonly fromMs: number;
  readonly toMs: number;
  /** The lowest and the highest value that are shown, both above 0. */
  readonly min: number;
  readonly max: number;
  readonly heightPx: number;
}

/** More powers of ten than this and single ones cannot be told apart: the lowest are drawn along the floor. */
const MOST_POWERS = 7;
const ROUND = [1, 2, 5] as const;
/** Up to so many there is room for 2 and 5 between the powers of ten. */
const FEW_TICKS = 7;

/** For values of very different size: every factor of ten is as high as the next. Whatever is lower lies on the floor. */
export function createLogFrame({ fromMs, toMs, min, max, heightPx }: LogFrameOptions): Frame {
  const ticks = logTicks(min, max);
  const [from, to] = [ticks[0] ?? 1, ticks[ticks.length - 1] ?? 10];
  const power = linearScale(Math.log10(from), Math.log10(to), heightPx, 0);
  const y: Scale = { from, to, at: (value) => power.at(Math.log10(Math.max(value, from))) };
  return { x: linearScale(fromMs, toMs, 0, FRAME_WIDTH), y, heightPx, ticks };
}

/** Round values from below the lowest to above the highest: powers of ten, or 1, 2 and 5 where there are few of them. */
export function logTicks(min: number, max: number): readonly number[] {
  const high = Number.isFinite(max) && max > 0 ? Math.min(max, 1e300) : 1;
  const low = Number.isFinite(min) && min > 0 ? Math.min(min, high) : high;
  const lowest = Math.max(low, high / 10 ** MOST_POWERS);
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
  if (ticks.length <= FEW_TICKS) return ticks;
  return ticks.filter((tick, i) => i === 0 || i === ticks.length - 1 || isPower(tick));
}

function isPower(tick: number): boolean {
  return Number.isInteger(rounded(Math.log10(tick)));
}

function rounded(value: number): number {
  return Number(value.toPrecision(12));
}

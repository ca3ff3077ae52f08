import { linearScale, type Scale } from './scale.ts';
import { roundTicks } from './ticks.ts';

/** Width of the drawing's own units: it is stretched to whatever room the page has, lines keep their thickness. */
export const FRAME_WIDTH = 1000;

/** Where things are drawn: time across in units of `FRAME_WIDTH`, values upwards in pixels. */
export interface Frame {
  readonly x: Scale;
  readonly y: Scale;
  readonly heightPx: number;
  readonly ticks: readonly number[];
}

export interface FrameOptions {
  readonly fromMs: number;
  readonly toMs: number;
  /** The highest value that is shown. */
  readonly max: number;
  readonly heightPx: number;
  readonly tickCount?: number;
  /** What is counted has no halves. */
  readonly isWhole?: boolean;
}

export function createFrame({ fromMs, toMs, max, heightPx, tickCount = 4, isWhole = false }: FrameOptions): Frame {
  const ticks = roundTicks(max, tickCount, isWhole);
  return {
    x: linearScale(fromMs, toMs, 0, FRAME_WIDTH),
    y: linearScale(0, ticks[ticks.length - 1] ?? 1, heightPx, 0),
    heightPx,
    ticks,
  };
}

/** For what is not stretched: a place as a share of the width. */
export function percentAcross(x: Scale, atMs: number): string {
  return `${Math.round((x.at(atMs) / FRAME_WIDTH) * 10_000) / 100}%`;
}

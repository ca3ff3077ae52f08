import { type Combine, condense, type Point, type Run } from '../../src/report/plot/series.ts';
import type { Judged } from '../judge/judged.ts';
import type { RunRecord } from '../judge/record.ts';
import type { Stretch, Timeline, Track } from './timeline.ts';

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

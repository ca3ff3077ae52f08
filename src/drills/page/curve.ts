import { type Combine, condense } from '../../report/plot/condense.ts';
import type { Point, Run } from '../../report/plot/point.ts';
import type { Sample } from '../journal.ts';
import type { Track } from './track.ts';

/** What a plot is drawn with: the domain's part, and the room it has. */
export interface Sheet {
  readonly track: Track;
  /** Of a plot's width: no more points than this are drawn along a line. */
  readonly columnMs: number;
}

/** One figure over time. A sample that does not have it breaks the line. */
export function curve(sheet: Sheet, read: (sample: Sample) => number | undefined, combine: Combine): readonly Run[] {
  const { track, columnMs } = sheet;
  const runs = track.runs.flatMap((stretches) => {
    const found: Point[][] = [[]];
    for (const { fromMs, toMs, sample } of stretches) {
      const value = read(sample);
      if (value === undefined || !Number.isFinite(value)) found.push([]);
      else found[found.length - 1]?.push({ fromMs, toMs, value, low: value, high: value, weight: toMs - fromMs });
    }
    return found.filter((run) => run.length > 0);
  });
  return condense(runs, track.fromMs, columnMs, combine);
}

export function highest(...some: readonly (readonly Run[])[]): number {
  return some.flat(2).reduce((most, point) => Math.max(most, point.high), 0);
}

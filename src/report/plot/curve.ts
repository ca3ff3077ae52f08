import type { TimeSpan } from './frame.ts';

/** Measurements over time, and the points that are drawn for them. */

/** Data with the time for which it stands, in ms from the begin of the axis. */
export interface Slice<T> extends TimeSpan {
  readonly data: T;
}

/** Runs of consecutive slices: between two runs nothing was measured. */
export type SliceRuns<T> = readonly (readonly Slice<T>[])[];

/** A value of one period: measured, or joined from several measured values. */
export interface Point extends TimeSpan {
  readonly value: number;
  /** The lowest and the highest of the joined values. */
  readonly low: number;
  readonly high: number;
  /** Weight in a mean: searches, or seconds. */
  readonly weight: number;
}

/** Consecutive points without a gap. No line is drawn over a time without measurements. */
export type PointRun = readonly Point[];

/** How several points become one: their weighted mean, their highest value, or their median. */
export type Combine = 'mean' | 'worst' | 'middle';

interface CurveOptions<T> {
  readonly fromMs?: number;
  /** A curve has at most one point in each column of this duration. Absent: every value is a point. */
  readonly columnMs?: number;
  readonly combine?: Combine;
  /** Weight in a mean; by default the duration. */
  readonly weigh?: (data: T) => number;
}

/** A figure over time. A slice without a value breaks the line. */
export function curve<T>(
  slices: SliceRuns<T>,
  read: (data: T) => number | Pick<Point, 'value' | 'low' | 'high'> | undefined,
  { fromMs: startMs = 0, columnMs, combine = 'mean', weigh }: CurveOptions<T> = {},
): readonly PointRun[] {
  const runs = slices.flatMap((run) => {
    const found: Point[][] = [[]];
    for (const { fromMs, toMs, data } of run) {
      const value = read(data);
      const known = typeof value === 'number' ? { value, low: value, high: value } : value;
      if (known === undefined || !Number.isFinite(known.value)) found.push([]);
      else found.at(-1)?.push({ fromMs, toMs, ...known, weight: weigh?.(data) ?? toMs - fromMs });
    }
    return found.filter((points) => points.length > 0);
  });
  return columnMs === undefined ? runs : condense(runs, startMs, columnMs, combine);
}

/** At most one point per column. The lowest and the highest value of the column are kept. */
export function condense(
  runs: readonly PointRun[],
  fromMs: number,
  columnMs: number,
  combine: Combine,
): readonly PointRun[] {
  return runs.map((run) => columnsIn(run, fromMs, columnMs).flatMap((points) => merged(points, combine)));
}

/** The parts of a run that share a point of a condensed curve. */
function columnsIn<T extends TimeSpan>(
  run: readonly T[],
  startMs: number,
  columnMs: number,
): readonly (readonly T[])[] {
  return [...Map.groupBy(run, ({ fromMs, toMs }) => Math.floor(((fromMs + toMs) / 2 - startMs) / columnMs)).values()];
}

/** Joins points into one; no point for none. */
export function merged(points: PointRun, combine: Combine): readonly Point[] {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return [];
  if (first === last) return [first];
  return [
    {
      fromMs: first.fromMs,
      toMs: last.toMs,
      value: combined(points, combine),
      low: points.reduce((low, point) => Math.min(low, point.low), first.low),
      high: points.reduce((high, point) => Math.max(high, point.high), first.high),
      weight: points.reduce((sum, point) => sum + point.weight, 0),
    },
  ];
}

function combined(points: PointRun, combine: Combine): number {
  const values = points.map((point) => point.value);
  switch (combine) {
    case 'worst':
      return values.reduce((worst, value) => Math.max(worst, value));
    case 'middle':
      return medianOf(values) ?? 0;
    case 'mean': {
      const weight = sum(points.map((point) => point.weight));
      const weighed = sum(points.map((point) => point.value * point.weight));
      return weight > 0 ? weighed / weight : sum(values) / values.length;
    }
  }
}

export function medianOf(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The highest value of all points, 0 without one. */
export function highest(...some: readonly (readonly PointRun[])[]): number {
  return some.flat(2).reduce((most, point) => Math.max(most, point.high), 0);
}

/** The values at 0: a bar along the time axis, which hides no curve. */
export function atFloor(runs: readonly PointRun[]): readonly PointRun[] {
  return runs.map((run) => run.map((point) => ({ ...point, value: 0 })));
}

/** The stacked values of one period: one value per area, from the bottom up. */
export interface Pile extends TimeSpan {
  readonly values: readonly number[];
}

/** A pile for each column of the runs; none where `read` gives no values. */
export function pilesOf<T>(
  slices: SliceRuns<T>,
  read: (some: readonly T[]) => readonly number[] | undefined,
  { fromMs = 0, columnMs }: { readonly fromMs?: number; readonly columnMs: number },
): readonly (readonly Pile[])[] {
  return slices.map((run) =>
    columnsIn(run, fromMs, columnMs).flatMap((column): readonly Pile[] => {
      const [first, last] = [column[0], column.at(-1)];
      const values = read(column.map(({ data }) => data));
      if (first === undefined || last === undefined || values === undefined) return [];
      return [{ fromMs: first.fromMs, toMs: last.toMs, values }];
    }),
  );
}

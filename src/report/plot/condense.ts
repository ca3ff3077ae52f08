import type { Point, Run } from './point.ts';

/** Several points in one: their weighted mean, the worst of them, or the one in the middle. */
export type Combine = 'mean' | 'worst' | 'middle';

/** At most one point per column of the span. What was lowest and highest in a column is kept. */
export function condense(runs: readonly Run[], fromMs: number, columnMs: number, combine: Combine): readonly Run[] {
  return runs.map((run) => {
    const columns = Map.groupBy(run, (point) => Math.floor(((point.fromMs + point.toMs) / 2 - fromMs) / columnMs));
    return [...columns.values()].flatMap((points) => merged(points, combine));
  });
}

/** One point for all of them; none for none. */
export function merged(points: Run, combine: Combine): readonly Point[] {
  const [first] = points;
  const last = points[points.length - 1];
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

function combined(points: Run, combine: Combine): number {
  const values = points.map((point) => point.value);
  switch (combine) {
    case 'worst':
      return values.reduce((worst, value) => Math.max(worst, value));
    case 'middle':
      return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
    case 'mean': {
      const weight = points.reduce((sum, point) => sum + point.weight, 0);
      const weighed = points.reduce((sum, point) => sum + point.value * point.weight, 0);
      return weight > 0 ? weighed / weight : values.reduce((sum, value) => sum + value) / values.length;
    }
  }
}

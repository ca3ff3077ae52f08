import type { CohortFigures } from '../../meter/reading.ts';
import { condense, merged } from '../../report/plot/condense.ts';
import type { Point, Run } from '../../report/plot/point.ts';
import type { Sample } from '../journal.ts';
import type { Sheet } from './curve.ts';

/** Fewer searches make no ratio: of three of them, one more miss is a third. */
export const LEAST_SEARCHES = 40;
/** A cohort that is hardly asked for is still drawn, a point for so long. */
export const LONGEST_MS = 8000;

/**
 * A cohort's hit ratio over time. Samples are taken together until they hold enough searches, never across what `part`
 * tells apart: each stage has a cohort of its own.
 */
export function cohortCurve(
  { track, columnMs }: Sheet,
  cohort: (sample: Sample) => CohortFigures | undefined,
  part: (sample: Sample) => number,
): readonly Run[] {
  const runs = track.runs.flatMap((stretches) => {
    const found: Point[][] = [];
    let [open, current]: [Point[], Point[] | undefined] = [[], undefined];
    let inPart: number | undefined;
    const take = (): void => {
      current?.push(...merged(open, 'mean'));
      open = [];
    };
    for (const { fromMs, toMs, sample } of stretches) {
      if (current === undefined || part(sample) !== inPart) {
        take();
        inPart = part(sample);
        current = [];
        found.push(current);
      }
      const { searches = 0, hitRatio } = cohort(sample) ?? {};
      if (hitRatio === undefined || !Number.isFinite(hitRatio) || !(searches > 0)) continue;
      open.push({ fromMs, toMs, value: hitRatio, low: hitRatio, high: hitRatio, weight: searches });
      const known = open.reduce((sum, point) => sum + point.weight, 0);
      if (known >= LEAST_SEARCHES || toMs - (open[0]?.fromMs ?? toMs) >= LONGEST_MS) take();
    }
    take();
    return found.filter((run) => run.length > 0).map((run) => run.map(even));
  });
  return condense(runs, track.fromMs, columnMs, 'mean');
}

/** The ratios of single samples were none: what was taken together has one value. */
function even(point: Point): Point {
  return { ...point, low: point.value, high: point.value };
}

import { BUCKETS } from '../cache/rules.ts';
import { type BucketRange, type ControlDocument, type FlushRange, MAX_RANGES } from './document.ts';
import { nextGeneration } from './next-generation.ts';
import { bucketsIn, checkRanges, joined, piecesOf } from './ranges.ts';
import { OperationRefused } from './refusal.ts';

/** Flushes the ranges: what was computed before is a miss. @throws OperationRefused control-full, invalid-request */
export function raiseFloors(document: ControlDocument, ranges: readonly BucketRange[], atMs: number): ControlDocument {
  const next = raise(document, ranges, (_, generation) => ({ floor: generation, freshFloor: generation, atMs }));
  // What lies below every floor needs no purge any more.
  const lowest = next.ranges.reduce(
    (least, { floor }) => Math.min(least, floor),
    bucketsIn(next.ranges) === BUCKETS ? Number.POSITIVE_INFINITY : 0,
  );
  return { ...next, purges: next.purges.filter(({ generation }) => generation > lowest) };
}

/**
 * Makes stale what was computed before; an indexing job calls it after a rotation, and says which index it is.
 * @throws OperationRefused control-full, invalid-request
 */
export function raiseFreshFloors(
  document: ControlDocument,
  ranges: readonly BucketRange[],
  atMs: number,
  indexVersion?: string,
): ControlDocument {
  const next = raise(document, ranges, (floor, generation) => ({ floor, freshFloor: generation, atMs }));
  return indexVersion === undefined ? next : { ...next, indexVersion };
}

type Floors = Omit<FlushRange, keyof BucketRange>;

function raise(
  document: ControlDocument,
  ranges: readonly BucketRange[],
  floorsAt: (floor: number, generation: number) => Floors,
): ControlDocument {
  checkRanges(ranges);
  const generation = nextGeneration(document);
  const next = piecesOf(document.ranges, ranges).flatMap(({ from, to, left, right }): readonly FlushRange[] => {
    if (right !== undefined) return [{ from, to, ...floorsAt(left?.floor ?? 1, generation) }];
    return left === undefined ? [] : [{ ...left, from, to }];
  });
  const kept = joined(next, joinEqual);
  if (kept.length > MAX_RANGES) {
    throw new OperationRefused(
      'control-full',
      `this would make ${kept.length} ranges with floors of their own, at most ${MAX_RANGES} are kept; a flush of the whole domain makes them one`,
    );
  }
  return { ...document, generation, ranges: kept };
}

/** Equal floors are one range; it is remembered as long as the later of the two. */
export function joinEqual(left: FlushRange, right: FlushRange): FlushRange | undefined {
  if (left.floor !== right.floor || left.freshFloor !== right.freshFloor) return undefined;
  return { ...left, to: right.to, atMs: Math.max(left.atMs, right.atMs) };
}

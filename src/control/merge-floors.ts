import { BUCKETS } from '../cache/rules.ts';
import { type ControlDocument, type FlushRange, MAX_RANGES, type Purge } from './document.ts';
import { joinEqual } from './raise-floors.ts';
import { joined, type Piece, piecesOf } from './ranges.ts';

/**
 * The higher of both floors everywhere. Where they differ, the later flush (by wall time: nothing else orders two lines)
 * must hold for entries numbered by either line: unless its floor is above every generation of the other, it is raised
 * to `above`. Of more ranges than there is room for the most alike neighbours are joined: flushed too much, never too little.
 */
export function mergeFloors(left: ControlDocument, right: ControlDocument, above: number): readonly FlushRange[] {
  const merged = piecesOf(left.ranges, right.ranges).flatMap((piece) => mergePiece(piece, left, right, above));
  return fitted(merged);
}

/** Flushes everything that any of these purges would: they are forgotten after it. */
export function raiseAll(ranges: readonly FlushRange[], purges: readonly Purge[]): readonly FlushRange[] {
  if (purges.length === 0) return ranges;
  const below = Math.max(...purges.map(({ generation }) => generation));
  const latestMs = Math.max(...purges.map(({ atMs }) => atMs));
  return fitted(
    piecesOf(ranges, [{ from: 0, to: BUCKETS }]).map(({ from, to, left }) => {
      const floor = Math.max(below, left?.floor ?? 1);
      const atMs = Math.max(latestMs, left?.atMs ?? latestMs);
      return { from, to, floor, freshFloor: Math.max(floor, left?.freshFloor ?? 1), atMs };
    }),
  );
}

function fitted(pieces: readonly FlushRange[]): readonly FlushRange[] {
  let ranges = joined(pieces, joinEqual);
  while (ranges.length > MAX_RANGES) ranges = joinMostAlike(ranges);
  return ranges;
}

function mergePiece(
  { from, to, left, right }: Piece<FlushRange, FlushRange>,
  leftLine: ControlDocument,
  rightLine: ControlDocument,
  above: number,
): readonly FlushRange[] {
  if (left === undefined && right === undefined) return [];
  const [leftAt, rightAt] = [left?.atMs ?? Number.NEGATIVE_INFINITY, right?.atMs ?? Number.NEGATIVE_INFINITY];
  const floorOf = (of: (range: FlushRange) => number): number => {
    const [leftFloor, rightFloor] = [left === undefined ? 1 : of(left), right === undefined ? 1 : of(right)];
    const highest = Math.max(leftFloor, rightFloor);
    if (leftFloor === rightFloor) return highest;
    const leftFails = leftAt >= rightAt && leftFloor > 1 && leftFloor <= rightLine.generation;
    const rightFails = rightAt >= leftAt && rightFloor > 1 && rightFloor <= leftLine.generation;
    return leftFails || rightFails ? above : highest;
  };
  const floor = floorOf((range) => range.floor);
  const freshFloor = Math.max(
    floor,
    floorOf((range) => range.freshFloor),
  );
  return [{ from, to, floor, freshFloor, atMs: Math.max(leftAt, rightAt) }];
}

/** What joining two neighbours would flush that is not: buckets times generations, those between them included. */
function joinMostAlike(ranges: readonly FlushRange[]): readonly FlushRange[] {
  const costs = ranges.slice(1).map((next, index) => {
    const one = ranges[index] ?? next;
    const union = unionOf(one, next);
    const volume = ({ from, to, floor, freshFloor }: FlushRange): number => (to - from) * (floor + freshFloor - 2);
    return volume(union) - volume(one) - volume(next);
  });
  const cheapest = costs.indexOf(Math.min(...costs));
  return ranges.flatMap((range, index) => {
    if (index === cheapest + 1) return [];
    const next = ranges[index + 1];
    return [index === cheapest && next !== undefined ? unionOf(range, next) : range];
  });
}

function unionOf(left: FlushRange, right: FlushRange): FlushRange {
  return {
    from: left.from,
    to: right.to,
    floor: Math.max(left.floor, right.floor),
    freshFloor: Math.max(left.freshFloor, right.freshFloor),
    atMs: Math.max(left.atMs, right.atMs),
  };
}

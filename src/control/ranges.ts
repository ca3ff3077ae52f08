import { BUCKETS } from '../cache/rules.ts';
import type { BucketRange } from './document.ts';
import { OperationRefused } from './refusal.ts';

export interface Piece<Left, Right> extends BucketRange {
  /** What lies there in the one list and in the other. */
  readonly left: Left | undefined;
  readonly right: Right | undefined;
}

/**
 * Cuts all buckets wherever a range of either list begins or ends. Lists may be in any order; where ranges of one list
 * overlap, the first of them counts.
 */
export function piecesOf<Left extends BucketRange, Right extends BucketRange>(
  left: readonly Left[],
  right: readonly Right[],
): readonly Piece<Left, Right>[] {
  const cuts = new Set([0, BUCKETS]);
  for (const { from, to } of [...left, ...right]) cuts.add(from).add(to);
  const sorted = [...cuts].sort((a, b) => a - b);
  return sorted.slice(0, -1).map((from, index) => ({
    from,
    to: sorted[index + 1] ?? BUCKETS,
    left: left.find((range) => range.from <= from && from < range.to),
    right: right.find((range) => range.from <= from && from < range.to),
  }));
}

/** Puts neighbours together for which `join` gives one range; undefined: they differ. Ranges in rising order. */
export function joined<Range extends BucketRange>(
  ranges: readonly Range[],
  join: (left: Range, right: Range) => Range | undefined,
): readonly Range[] {
  const out: Range[] = [];
  for (const range of ranges) {
    const last = out.at(-1);
    const one = last !== undefined && last.to === range.from ? join(last, range) : undefined;
    if (one === undefined) out.push(range);
    else out[out.length - 1] = one;
  }
  return out;
}

/** @throws OperationRefused invalid-request: nothing, or not within the buckets. */
export function checkRanges(ranges: readonly BucketRange[]): void {
  const isWrong = ({ from, to }: BucketRange): boolean =>
    !Number.isInteger(from) || !Number.isInteger(to) || from < 0 || from >= to || to > BUCKETS;
  if (ranges.length === 0 || ranges.some(isWrong)) {
    throw new OperationRefused('invalid-request', `ranges of buckets lie within 0 … ${BUCKETS} and hold at least one`);
  }
}

/** So many buckets from one on, as one range or, past the last bucket, two; in rising order. */
export function arc(from: number, width: number): readonly BucketRange[] {
  if (width <= 0) return [];
  if (width >= BUCKETS) return [{ from: 0, to: BUCKETS }];
  const start = from % BUCKETS;
  const end = start + width;
  if (end <= BUCKETS) return [{ from: start, to: end }];
  return [
    { from: 0, to: end - BUCKETS },
    { from: start, to: BUCKETS },
  ];
}

/** Of disjoint ranges. */
export function bucketsIn(ranges: readonly BucketRange[]): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from, 0);
}

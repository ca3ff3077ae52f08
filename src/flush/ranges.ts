import { BUCKETS } from '../cache/rules.ts';
import type { BucketRange } from '../control/document.ts';
import { arc } from '../control/ranges.ts';
import { OperationRefused } from '../control/refusal.ts';

/** 0.07 × 10 000 is a little more than 700 in floating point, and must not be 701 buckets. */
const ROUNDING = 1e-6;

/**
 * The share of all buckets, rounded up, as one range or, past the last bucket, two; in rising order. It begins at `from`,
 * or at random: otherwise it would be the same keys that are lost at every rehearsal.
 * @throws OperationRefused invalid-fraction; invalid-request for `from`
 */
export function rangesOf(
  { fraction, from }: { readonly fraction: number; readonly from?: number },
  random: () => number,
): readonly BucketRange[] {
  // Written so that NaN fails too.
  if (!(fraction > 0 && fraction <= 1)) {
    const words = `fraction is the share of the keys: a number above 0 and at most 1; it is ${fraction}`;
    throw new OperationRefused('invalid-fraction', words, 'fraction');
  }
  if (from !== undefined && !(Number.isInteger(from) && from >= 0 && from < BUCKETS)) {
    const words = `from is the first bucket of the range: a whole number from 0 to ${BUCKETS - 1}; it is ${from}`;
    throw new OperationRefused('invalid-request', words, 'from');
  }
  const count = Math.max(1, Math.ceil(fraction * BUCKETS - ROUNDING));
  return arc(from ?? Math.floor(random() * BUCKETS), count);
}

export function holdsBucket(ranges: readonly BucketRange[], bucket: number): boolean {
  return ranges.some(({ from, to }) => from <= bucket && bucket < to);
}

import type { ControlDocument } from './document.ts';

/** What two wall clocks may differ by, an hour ahead the one and an hour behind the other. */
const SKEW_MS = 2 * 3_600_000;

/**
 * Leaves out purges and ranges that every entry they concern has outlived, so that the lists have room again.
 * Suppressions stay until they are lifted: an engine may hold the document for ever.
 * @param longestLifeMs from the start of the engine call to the end of the last stale window
 */
export function forget(document: ControlDocument, nowMs: number, longestLifeMs: number): ControlDocument {
  const matters = ({ atMs }: { readonly atMs: number }): boolean => nowMs - atMs <= longestLifeMs + SKEW_MS;
  const ranges = document.ranges.filter(matters);
  const purges = document.purges.filter(matters);
  const isSame = ranges.length === document.ranges.length && purges.length === document.purges.length;
  return isSame ? document : { ...document, ranges, purges };
}

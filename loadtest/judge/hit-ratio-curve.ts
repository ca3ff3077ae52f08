import type { Second } from './record.ts';

export interface RatioPoint {
  /** When its second began. */
  readonly atMs: number;
  /** 0–1 */
  readonly ratio: number;
}

/** Fewer searches make no ratio: of three of them, one more miss is a third. */
const LEAST_SEARCHES = 40;
const NEIGHBOURS = 1;

/**
 * Hit ratio second by second, each with its neighbours: a second alone jumps. Only seconds that are given are mixed, so
 * that nothing from before a loss softens what came after it. A second whose neighbourhood was asked for too little has
 * no point.
 */
export function hitRatioCurve(seconds: readonly Second[]): readonly RatioPoint[] {
  return seconds.flatMap(({ atMs }, at) => {
    const ratio = ratioOf(seconds.slice(Math.max(0, at - NEIGHBOURS), at + NEIGHBOURS + 1));
    return ratio === undefined ? [] : [{ atMs: atMs - 1000, ratio }];
  });
}

/** Undefined of too few searches. */
export function ratioOf(seconds: readonly Second[]): number | undefined {
  let [searches, hits] = [0, 0];
  for (const second of seconds) {
    searches += second.searches;
    hits += (second.outcomes['hit-l1'] ?? 0) + (second.outcomes['hit-l2'] ?? 0);
  }
  return searches < LEAST_SEARCHES ? undefined : hits / searches;
}

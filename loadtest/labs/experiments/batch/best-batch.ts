import type { Limit } from '../../kit/finding.ts';

export interface BatchRate {
  readonly clients: number;
  readonly pipeline: number;
  readonly perSecond: number;
  readonly limit: Limit;
}

/** What batches gain at one load. */
export interface LoadGain {
  readonly clients: number;
  /** The smallest batch that is as good as the best. */
  readonly best: BatchRate;
  /** Of the best against single commands. */
  readonly gain: number;
}

/** What two runs of one batch differ by: a larger batch that gains less gains nothing but memory and waiting. */
const NOISE = 0.05;

/** Of each load, in the order in which they first appear. @throws when a load has no row of single commands. */
export function gainsOf(rows: readonly BatchRate[]): readonly LoadGain[] {
  return [...new Set(rows.map(({ clients }) => clients))].map((clients) => {
    const own = rows.filter((row) => row.clients === clients).toSorted((one, other) => one.pipeline - other.pipeline);
    const most = Math.max(...own.map(({ perSecond }) => perSecond));
    const best = own.find(({ perSecond }) => perSecond >= (1 - NOISE) * most);
    const single = own.find(({ pipeline }) => pipeline === 1);
    if (best === undefined || single === undefined) throw new Error(`${clients} clients: no row of single commands`);
    return { clients, best, gain: best.perSecond / single.perSecond };
  });
}

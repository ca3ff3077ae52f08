/** One value of a stretch of time: as measured, or what several measured values come to. */
export interface Point {
  readonly fromMs: number;
  readonly toMs: number;
  readonly value: number;
  /** The lowest and the highest of what it stands for. */
  readonly low: number;
  readonly high: number;
  /** How much it counts for beside others: searches, or seconds. */
  readonly weight: number;
}

/** Points that follow each other without a gap: a line is never drawn over time in which nothing was measured. */
export type Run = readonly Point[];

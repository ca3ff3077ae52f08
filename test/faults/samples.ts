import type { Verdict } from './verdict.ts';

/** `before` the fault, while it lasts, `after` it until the hit ratio is back, and `steady` from then on. */
export const PHASES = ['before', 'fault', 'after', 'steady'] as const;
export type Phase = (typeof PHASES)[number];

/** One request of the stream to one process. */
export interface Sample {
  readonly arrival: number;
  readonly phase: Phase;
  readonly sentMs: number;
  readonly durationMs: number;
  readonly text: string;
  /** Asked before the row began, so that a cache may be expected to hold it. */
  readonly known: boolean;
  readonly verdict: Verdict;
  /** For this long, while it was waited for, the generator itself stood still: then a late answer is its own doing. */
  readonly stalledMs: number;
}

export function isHit({ verdict }: Sample): boolean {
  return verdict.kind === 'page' && (verdict.outcome === 'hit-l1' || verdict.outcome === 'hit-l2');
}

/** 0–1; NaN of nothing. */
export function share(samples: readonly Sample[], holds: (sample: Sample) => boolean): number {
  return samples.filter(holds).length / samples.length;
}

/** The nearest-rank percentile; NaN of nothing. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)] ?? Number.NaN;
}

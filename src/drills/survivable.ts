import { survivable } from '../flush/survival.ts';
import type { Figures } from '../meter/reading.ts';

export interface Measured {
  readonly baseline: Figures;
  /** Most engine calls a second ÷ those of the baseline. */
  readonly amplification: number | undefined;
  /** Of the keys, that were lost when it was measured. */
  readonly share: number;
  /** The engine had no place left: it would have been asked more. */
  readonly saturated: boolean;
}

/**
 * f* = (H − 1) ÷ (A − 1): the share of the keys that may be lost at once. H: what the engine can do ÷ what it did before.
 * A: how much more it would be asked with nothing cached; measured with a share lost, and then in proportion.
 */
export function survivableShare({ baseline, amplification, share, saturated }: Measured): number | undefined {
  const { engineCallMs, engineCallsPerSecond, engineMax, searchesPerSecond } = baseline;
  if (engineCallMs === undefined || engineCallMs <= 0 || engineCallsPerSecond <= 0) return undefined;
  const headroom = (engineMax * 1000) / engineCallMs / engineCallsPerSecond;
  const told = amplification === undefined || share <= 0 ? undefined : 1 + (amplification - 1) / share;
  // Every search an engine call: the most there can be, before coalescing.
  const most = searchesPerSecond / engineCallsPerSecond;
  const whole = told === undefined || saturated ? Math.max(told ?? 0, most) : told;
  return survivable(headroom, whole);
}

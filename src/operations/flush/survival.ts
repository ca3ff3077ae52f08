import type { Figures } from '../meter/figures.ts';
import type { SurvivalEstimate } from './flush.ts';

/**
 * Whether the engine would carry the loss of a share f of the keys. Keys are chosen by hash, so the hits lost are f of all
 * hits, and at worst each of them is an engine call until its entry is back: calls rise from e to e + f·h, which is
 * e·(1 + f·(A − 1)) with A = (e + h) ÷ e. The engine carries H·e, so f* = (H − 1)/(A − 1). Where every search that is no hit
 * costs one call, A is 1/(1 − hit ratio). Coalescing makes it less: measured in a model of a Zipf stream, 9.2 became 6.1.
 *
 * What the engine can do is its places ÷ the mean duration of a call: an idle engine may be faster than that, one whose
 * calls slow each other down is slower. So no more headroom is told than `MOST_HEADROOM`, and all three figures are bounds: H
 * and f* at least, A at most.
 */
export function estimateSurvival(figures: Figures | undefined, fraction: number): SurvivalEstimate {
  if (figures === undefined) return { seconds: 0, searches: 0, engineCallsPerSecond: 0 };
  const { seconds, searches, searchesPerSecond, hitRatio, engineCallMs, engineCallsPerSecond, engineMax } = figures;
  const hitsPerSecond = hitRatio === undefined ? undefined : hitRatio * searchesPerSecond;
  const capacity = engineCallMs === undefined ? undefined : (engineMax * 1000) / engineCallMs;
  // Of a handful of calls neither their rate nor their cost is known.
  const isTold = engineCallsPerSecond * seconds >= ENOUGH_CALLS;
  const measured = isTold ? quotient(capacity, engineCallsPerSecond) : undefined;
  const headroom = measured === undefined ? undefined : Math.min(MOST_HEADROOM, measured);
  const amplification =
    hitsPerSecond === undefined || !isTold
      ? undefined
      : quotient(engineCallsPerSecond + hitsPerSecond, engineCallsPerSecond);
  return {
    seconds,
    searches,
    engineCallsPerSecond,
    ...(hitRatio !== undefined && { hitRatio }),
    ...(engineCallMs !== undefined && { engineCallMs }),
    ...(hitsPerSecond !== undefined && { extraCallsPerSecond: fraction * hitsPerSecond }),
    ...(headroom !== undefined && { headroom }),
    ...(amplification !== undefined && { amplification }),
    ...(headroom !== undefined && amplification !== undefined && { survivable: survivable(headroom, amplification) }),
  };
}

/** With fewer, the rate of calls is known to no better than a half. */
export const ENOUGH_CALLS = 20;
/** How an engine does under twenty times its load cannot be seen. */
export const MOST_HEADROOM = 20;

/** f*, 0–1. Where nothing is served from the cache, all of it may be lost by an engine that is not overloaded already. */
export function survivable(headroom: number, amplification: number): number {
  if (headroom < 1) return 0;
  if (amplification <= 1) return 1;
  return Math.min(1, (headroom - 1) / (amplification - 1));
}

function quotient(part: number | undefined, whole: number): number | undefined {
  const result = part === undefined ? Number.NaN : part / whole;
  return Number.isFinite(result) ? result : undefined;
}

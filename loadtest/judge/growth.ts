/** Below this spread the rates of two steps are one rate, and the line between them is chance. */
const LEAST_SPREAD = 1.2;
/** A line says nothing about what is so far away. */
const FARTHEST = 20;

export interface Held {
  readonly searchesPerSecond: number;
  /** 0–1 */
  readonly share: number;
}

/**
 * The rate at which something would be full if it goes on growing as it did: a line by least squares through the steps
 * that held. Undefined when it does not grow, with fewer than two rates, or when it is too far away to be told. Never
 * below a rate that held: that much is known.
 */
export function fullAtRps(held: readonly Held[]): number | undefined {
  const rates = held.map(({ searchesPerSecond }) => searchesPerSecond);
  const [lowest, highest] = [Math.min(...rates), Math.max(...rates)];
  if (held.length < 2 || !(highest > 0) || highest < LEAST_SPREAD * lowest) return undefined;
  const meanRate = mean(rates);
  const meanShare = mean(held.map(({ share }) => share));
  let [together, alone] = [0, 0];
  for (const { searchesPerSecond, share } of held) {
    together += (searchesPerSecond - meanRate) * (share - meanShare);
    alone += (searchesPerSecond - meanRate) ** 2;
  }
  const slope = together / alone;
  if (!(slope > 0)) return undefined;
  const rate = meanRate + (1 - meanShare) / slope;
  return rate > FARTHEST * highest ? undefined : Math.max(rate, highest);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

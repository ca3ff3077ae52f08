import type { Figures } from '../../../../loadtest/labs/experiments/timeouts/figures.ts';

/** A measured slow spell with the policy that closes connections. */
export function closing(over: Partial<Figures> = {}): Figures {
  return {
    answeredPerSecond: 1200,
    lostShare: 0.8,
    unsentShare: 0,
    p50Ms: 3,
    p99Ms: 46,
    meanOfAllMs: 41,
    slowSeconds: 4,
    isSlowAtEnd: true,
    opened: 6000,
    mostOpen: 1800,
    waitedShare: 0.01,
    storeCores: 0.97,
    generatorCores: 0.5,
    limit: 'store',
    eachSecond: [],
    ...over,
  };
}

/** The same with the policy that abandons commands. */
export function abandoning(over: Partial<Figures> = {}): Figures {
  const kept = { meanOfAllMs: 10, lostShare: 0.15, opened: 0, mostOpen: 420, isSlowAtEnd: false, slowSeconds: 2 };
  return closing({ ...kept, ...over });
}

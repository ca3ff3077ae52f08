import type { Busy } from './limit.ts';

interface Meter {
  readonly processorMs: () => number;
}

/** Runs `work` and says how many cores the busiest of the stores used meanwhile. */
export async function storeCoresDuring<T>(
  stores: readonly Meter[],
  work: () => Promise<T>,
): Promise<{
  readonly result: T;
  readonly storeCores: number;
  readonly eachCores: readonly number[];
  readonly seconds: number;
}> {
  const before = stores.map((store) => store.processorMs());
  const startedMs = performance.now();
  const result = await work();
  const tookMs = performance.now() - startedMs;
  const eachCores = stores.map((store, at) => (store.processorMs() - (before[at] ?? 0)) / tookMs);
  return { result, eachCores, storeCores: Math.max(0, ...eachCores), seconds: tookMs / 1000 };
}

/** As `limitOf` wants it. */
export function busyOf(storeCores: number, ran: { readonly processorSeconds: number; readonly seconds: number }): Busy {
  return { storeCores, generatorCores: ran.processorSeconds / ran.seconds };
}

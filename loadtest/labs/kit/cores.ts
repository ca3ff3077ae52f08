import { processorsOf } from '../../stack/processors.ts';

/**
 * Which processors stores run on and which ones whoever asks them: lists as taskset takes them. Kept apart, each can be
 * seen to be full; on one processor alone both are the same, and every row is limited by both.
 */
export interface Cores {
  readonly store: string;
  readonly generator: string;
  /** How many each side has. */
  readonly storeCount: number;
  readonly generatorCount: number;
}

/** @param allowed processors this process may use, `0-1,4`: the first half for stores, the rest for generators. */
export function coresOf(allowed: string): Cores {
  const all = processorsOf(allowed);
  if (all.length < 2) {
    const only = String(all[0] ?? 0);
    return { store: only, generator: only, storeCount: 1, generatorCount: 1 };
  }
  const half = Math.floor(all.length / 2);
  const [store, generator] = [all.slice(0, half), all.slice(half)];
  return {
    store: store.join(','),
    generator: generator.join(','),
    storeCount: store.length,
    generatorCount: generator.length,
  };
}

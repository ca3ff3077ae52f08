import type { LabStore } from '../../kit/lab.ts';
import { sum } from '../one-and-three.ts';

/** Since the stores started, of all of them together. */
export interface Counters {
  readonly hits: number;
  readonly misses: number;
  readonly evicted: number;
}

export async function countersOf(stores: readonly Pick<LabStore, 'info'>[]): Promise<Counters> {
  const all = await Promise.all(stores.map((store) => store.info('stats')));
  const total = (name: string): number => sum(all.map((fields) => Number(fields[name])));
  return { hits: total('keyspace_hits'), misses: total('keyspace_misses'), evicted: total('evicted_keys') };
}

/** What the memory did between two looks, `seconds` of load apart. */
export function memoryFigures(before: Counters, after: Counters, seconds: number) {
  const [hits, misses] = [after.hits - before.hits, after.misses - before.misses];
  return { hitRatio: hits / (hits + misses), evictionsPerSecond: (after.evicted - before.evicted) / seconds };
}

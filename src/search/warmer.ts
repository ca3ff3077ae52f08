import type { Tiers } from '../cache/tiers.ts';
import type { Clock } from '../clock.ts';
import type { PreparedSearch } from './answer.ts';
import type { MissPath } from './flight.ts';

/**
 * One search of a warm-up: after people and refreshes, and only for what is not fresh in the cache already. Rejects when
 * the engine has nothing to spare, or fails.
 */
export type Warmer = (prepared: PreparedSearch) => Promise<'cached' | 'computed'>;

export interface WarmerOptions {
  readonly tiers: Tiers;
  readonly missPath: MissPath;
  /** The engine's: how long it may wait for a place. */
  readonly deadlineMs: number;
  readonly clock: Clock;
}

export function createWarmer({ tiers, missPath, deadlineMs, clock }: WarmerOptions): Warmer {
  return async (prepared) => {
    const held = tiers.fromMemory(prepared);
    if (held.kind === 'found' && held.freshness === 'fresh') return 'cached';
    const { result } = missPath.flyBehind(prepared, {
      priority: 'warm-up',
      deadlineAtMs: clock.monotonicMs() + deadlineMs,
      askStore: tiers.hasStore,
      newerThanMs: 0,
    });
    const { from } = await result;
    return from === 'engine' ? 'computed' : 'cached';
  };
}

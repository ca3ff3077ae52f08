import type { CounterStore } from '../../src/popularity/shared.ts';
import type { Clock } from '../../src/runtime.ts';

export interface FakeCounters extends CounterStore {
  /** `down`: from now on it counts and returns nothing. */
  readonly meet: (trouble: 'none' | 'down') => void;
  /** Searches stored for a domain, summed over windows. */
  readonly held: (domain: string) => number;
}

const WINDOWS = 7;
const MAX_MEMBERS = 10_000;
const HALF_LIFE_WINDOWS = 3;

/** Counters in memory that keep every promise of the port. */
export function createFakeCounters(clock: Pick<Clock, 'monotonicMs'>, windowMs = 600_000): FakeCounters {
  const domains = new Map<string, Map<number, Map<string, number>>>();
  let down = false;

  const present = (): number => Math.floor(clock.monotonicMs() / windowMs);
  const windowsOf = (domain: string): Map<number, Map<string, number>> => {
    const windows = domains.get(domain) ?? new Map<number, Map<string, number>>();
    domains.set(domain, windows);
    for (const window of [...windows.keys()]) if (window <= present() - WINDOWS) windows.delete(window);
    return windows;
  };

  return {
    async add(domain, counts) {
      if (down) return false;
      const good = counts.filter(
        ({ search, count }) =>
          search !== '' && Number.isFinite(count) && count > 0 && Buffer.byteLength(search) <= 1024,
      );
      if (good.length > 0) {
        const windows = windowsOf(domain);
        const sums = windows.get(present()) ?? new Map<string, number>();
        for (const { search, count } of good) sums.set(search, (sums.get(search) ?? 0) + count);
        windows.set(present(), new Map([...sums].sort(([, a], [, b]) => b - a).slice(0, MAX_MEMBERS)));
      }
      return good.length === counts.length;
    },
    async top(domain, n) {
      if (down) return undefined;
      const sums = new Map<string, number>();
      for (const [window, counts] of windowsOf(domain)) {
        const weight = 2 ** ((window - present()) / HALF_LIFE_WINDOWS);
        for (const [search, count] of counts) sums.set(search, (sums.get(search) ?? 0) + weight * count);
      }
      return [...sums]
        .sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1))
        .slice(0, Math.min(1000, Math.max(0, Math.floor(n))))
        .map(([search, sum]) => ({ search, count: Math.round(10 * sum) / 10 }));
    },
    meet(trouble) {
      down = trouble === 'down';
    },
    held: (domain) => [...windowsOf(domain).values()].reduce((sum, counts) => sum + counts.size, 0),
  };
}

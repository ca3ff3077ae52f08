import { resolve } from 'node:path';
import { startStandalone } from '../stack/redis.ts';
import { type Bench, PAGE_BYTES, STORE_QUERIES, type Started } from './benches.ts';
import { fetchPage, pageOfSize } from './page.ts';
import type { Room, Server } from './room.ts';
import { figureOf } from './verdict.ts';

/** Two checkouts of the service over the same pages; `undefined` is this checkout. */
export interface Versions {
  readonly first: string | undefined;
  readonly second: string;
}

/** The benches `l1` and `l2` with another version of the service in the place of the bare server. */
export function versionBenches({ first, second }: Versions): Readonly<Record<'l1' | 'l2', Bench>> {
  const both = async (room: Room, store: string, memory: string): Promise<readonly [Server, Server]> => [
    await room.startService({
      name: 'first',
      store,
      memory,
      ...(first === undefined ? {} : { checkout: resolve(first) }),
    }),
    await room.startService({ name: 'second', store, memory, checkout: resolve(second) }),
  ];
  const common = { baseline: 'the other checkout' };
  return {
    l1: {
      ...common,
      title: 'L1 hit',
      outcome: 'hit-l1',
      leastShare: 0.99,
      prepare: async () => async (room) => {
        const [serpcache, bare] = await both(room, 'store: { kind: none }', '64MiB');
        const target = await pageOfSize(serpcache.url, PAGE_BYTES);
        // The same warm-up for both: the search for a page of this size is part of what V8 optimises for.
        await pageOfSize(bare.url, PAGE_BYTES);
        return { serpcache, bare, targets: [target] };
      },
    },
    l2: {
      ...common,
      title: 'L2 hit',
      outcome: 'hit-l2',
      leastShare: 0.95,
      prepare: async (shared) => {
        const { nodes } = await shared.startStores(startStandalone({ flavour: 'redis' }));
        const store = `store: { kind: standalone, nodes: ["${nodes[0]?.host}:${nodes[0]?.port}"], deadline: 1s }`;
        let targets: readonly string[] = [];
        return async (room): Promise<Started> => {
          const [serpcache, bare] = await both(room, store, '1MiB');
          if (targets.length === 0) {
            const page = await pageOfSize(serpcache.url, PAGE_BYTES);
            targets = Array.from({ length: STORE_QUERIES }, (_, at) => `${page}&filter=price:..${90_000_000 + at}`);
            for (const target of targets) await fetchPage(serpcache.url + target);
          }
          return { serpcache, bare, targets };
        };
      },
    },
  };
}

/**
 * `same` holds the ratios of the other checkout against itself, which differ by chance alone. The versions differ when the
 * median of `ours` lies outside of the range of `same`. @returns undefined when no start was measured
 */
export function differs(ours: readonly number[], same: readonly number[]): boolean | undefined {
  if (ours.length === 0 || same.length === 0) return undefined;
  const { figure } = figureOf(ours);
  return figure < Math.min(...same) || figure > Math.max(...same);
}

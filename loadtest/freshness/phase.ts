import { engineCallsOf, parseMetrics, type Series } from '../k6/kit/metrics-text.ts';
import type { Indexer } from './indexer.ts';
import { askAll, startLoad, type Target } from './load.ts';
import type { Searches } from './searches.ts';
import { type FreshnessStack, REPLICAS, type Replica, type Variant } from './stack.ts';

export type Fleet = Awaited<ReturnType<typeof openFleet>>;
export type Phase = Awaited<ReturnType<typeof runPhase>>;

/** Three replicas of one variant, with no page and an empty feed at first. */
export async function openFleet(stack: FreshnessStack, variant: Variant, nodeOptions: readonly string[] = []) {
  await stack.clear();
  const start = (at: number): Promise<Replica> => stack.startReplica(at, variant, nodeOptions);
  const replicas = await Promise.all(Array.from({ length: REPLICAS }, (_, at) => start(at)));
  const targets = replicas.map(({ url }): Target => ({ url, excusedUntilMs: 0 }));
  return {
    replicas: replicas as readonly Replica[],
    targets: targets as readonly Target[],
    /** Starts a replica that was ended again; the load then asks it at its new address. */
    restart: async (at: number): Promise<void> => {
      const replica = await start(at);
      replicas[at] = replica;
      const target = targets[at];
      if (target !== undefined) target.url = replica.url;
    },
    pages: () => Promise.all(replicas.map(({ admin }) => admin.page('/metrics'))),
    stop: async (): Promise<void> => {
      await Promise.all(replicas.map(({ stop }) => stop()));
    },
  };
}

/** Every repeated search is in L2, and in the L1 of each replica. */
export async function warm({ targets }: Fleet, { repeated }: Searches): Promise<void> {
  const [first, ...others] = targets;
  if (first !== undefined) await askAll(first, repeated);
  await Promise.all(others.map((target) => askAll(target, repeated)));
}

interface PhaseOptions {
  readonly stack: FreshnessStack;
  readonly fleet: Fleet;
  readonly searches: Searches;
  readonly indexer: Indexer;
  readonly searchesPerSecond: number;
  readonly changesPerSecond: number;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** Searches and changes side by side, with what the replicas counted meanwhile. */
export async function runPhase(options: PhaseOptions) {
  const { stack, fleet, searches, indexer, searchesPerSecond, changesPerSecond, seconds, signal } = options;
  const salesBefore = indexer.counts.sale;
  const before = await fleet.pages();
  const load = startLoad({
    targets: fleet.targets,
    searches,
    engine: stack.engine,
    indexer,
    perSecond: searchesPerSecond,
    seconds,
    signal,
  });
  const [changes] = await Promise.all([indexer.run(changesPerSecond, seconds, signal), load.ended]);
  const after = await fleet.pages();
  const grown = (of: (page: string) => number): number =>
    after.reduce((sum, page, at) => sum + of(page) - of(before[at] ?? ''), 0);
  const grownSeries = (name: string, isCounted: (series: Series) => boolean = () => true): number =>
    grown((page) =>
      parseMetrics(page).reduce((sum, one) => sum + (one.name === name && isCounted(one) ? one.value : 0), 0),
    );
  return {
    ...load.tally,
    lagMs: load.lagMs(),
    changesPerSecond: changes.perSecond,
    longestChangeMs: changes.longestMs,
    sales: indexer.counts.sale - salesBefore,
    engineQueries: grown((page) => engineCallsOf(page) ?? 0),
    pagesChanged: Object.fromEntries(
      PAGE_CHANGES.map((why) => [
        why,
        grownSeries('serpcache_pages_changed_total', ({ labels }) => labels['reason'] === why),
      ]),
    ),
    gaps: grownSeries('serpcache_changes_gaps_total'),
  };
}

const PAGE_CHANGES = ['deleted', 'changed', 'entered', 'unknown'] as const;

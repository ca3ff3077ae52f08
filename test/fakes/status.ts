import type { StoreNode } from '../../src/cache/store.ts';
import type { FeedStatus } from '../../src/changes/feed.ts';
import type { DomainStatus } from '../../src/search/status.ts';

export interface StatusChanges extends Partial<Omit<DomainStatus, 'memory' | 'engine'>> {
  readonly memory?: Partial<DomainStatus['memory']>;
  readonly engine?: Partial<DomainStatus['engine']>;
}

/** The status of a domain with an empty L1, an idle engine and no store, but for the changes. */
export function fakeStatus(domain: string, { memory, engine, ...others }: StatusChanges = {}): DomainStatus {
  return {
    domain,
    state: 'ok',
    memory: {
      entries: 0,
      bytes: 0,
      maxBytes: 1024,
      emptyEntries: 0,
      emptyBytes: 0,
      emptyMaxBytes: 0,
      evictions: 0,
      ghostHits: 0,
      ...memory,
    },
    engine: {
      state: 'ok',
      kind: 'fake',
      breaker: 'closed',
      forcedOpen: false,
      reachable: true,
      endpoints: [],
      inFlight: 0,
      queued: 0,
      maxConcurrent: 4,
      ceiling: 4,
      overdue: 0,
      overloaded: false,
      ...engine,
    },
    store: undefined,
    lifeboat: undefined,
    controlStanding: 'ok',
    processes: 1,
    leaseWaiters: 0,
    loads: 0,
    ...others,
  };
}

type StoreStatus = NonNullable<DomainStatus['store']>;

/** The status of a store whose nodes, given by name, are connected and idle, but for the changes. */
export function fakeStoreStatus(
  nodes: Readonly<Record<string, Partial<StoreNode>>>,
  changes: Partial<Omit<StoreStatus, 'nodes'>> = {},
): StoreStatus {
  const idle = { breaker: 'closed', connected: true, outstanding: 0 } as const;
  return {
    state: 'ok',
    reasons: [],
    nodes: Object.entries(nodes).map(([node, own]) => ({ node, ...idle, ...own })),
    ...changes,
  };
}

/** A feed that is followed and has had changes. */
export const FAKE_FEED: FeedStatus = {
  following: true,
  shared: true,
  heardMsAgo: 50,
  changedMsAgo: 1000,
  changes: 40,
  gaps: 1,
  lagMs: 20,
  filled: 0.5,
  coversMs: undefined,
  texts: 10,
  known: 30,
};

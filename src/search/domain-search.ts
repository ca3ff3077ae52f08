import { createBackfill } from '../cache/backfill.ts';
import type { LifetimePolicy } from '../cache/entry.ts';
import type { EntryRules } from '../cache/invalidation.ts';
import { createLeases } from '../cache/lease.ts';
import type { MemoryTier } from '../cache/memory.ts';
import type { Signing } from '../cache/signing.ts';
import type { Store } from '../cache/store.ts';
import { createTiers, isDenied } from '../cache/tiers.ts';
import type { EngineGuard } from '../resilience/create-guard.ts';
import type { EngineHealth } from '../resilience/engine-health.ts';
import type { Runtime } from '../runtime.ts';
import type { SearchDomain, SearchRequest } from './domain.ts';
import type { Engine } from './engine.ts';
import type { SearchEvent } from './events.ts';
import { type Explanation, explain } from './explain.ts';
import { createFreshnessAudit } from './freshness-audit.ts';
import { type PreparedSearch, storedNameOf } from './key.ts';
import { createLifeboat, type LifeboatOptions } from './lifeboat.ts';
import { createLoader } from './load.ts';
import { createMissPath } from './miss-path.ts';
import type { EncodePageOptions } from './page.ts';
import type { SearchParameters } from './query.ts';
import { createReadPath, type ReadPath } from './read-path.ts';
import { createRefresh, createRefreshAhead, createWarmer, type PopularSearch } from './refresh.ts';
import { type DomainStatus, type StatusParts, statusOf } from './status.ts';
import type { Tracer } from './trace.ts';

/** A domain as http sees it: prepared searches carry it. Its load and its failures do not affect other domains. */
export interface SearchedDomain extends SearchDomain, ReadPath {
  /** How each tier would treat this search now. Asks no engine and does not count as a use. @throws InvalidSearch */
  readonly explain: (parameters: SearchParameters) => Promise<Explanation>;
  /** Maximum time that a cache downstream may keep a page. */
  readonly clientMaxAgeMs: number;
  /** The state of each of its parts: what /readyz and /admin/domains show. */
  readonly status: () => DomainStatus;
}

export type Domain = ReturnType<typeof createDomain>;

/** The parts that other rooms own. */
export interface DomainOptions extends Omit<Runtime<SearchEvent>, 'processId'> {
  readonly domain: SearchDomain;
  readonly settings: DomainSearchSettings;
  readonly memory: MemoryTier;
  readonly store?: Store;
  /** Signs and verifies entries, when given. */
  readonly signing?: Signing | undefined;
  readonly engine: DomainEngine;
  readonly lifeboat?: Pick<LifeboatOptions, 'engine' | 'guard' | 'deadlineMs'> | undefined;
  /** The decisions of operators, and the feed of changes. */
  readonly rules: EntryRules<SearchRequest>;
  /** A drill is simulating an engine outage. */
  readonly forcedOpen: () => boolean;
  readonly controlStanding: StatusParts['controlStanding'];
  /** The processes that share the store. */
  readonly fleet: { readonly live: () => number; readonly rank: () => number };
  readonly tracer?: Tracer | undefined;
  readonly popularity: {
    readonly note: (key: string, prepared: PreparedSearch) => void;
    /** The `n` most popular searches, most popular first. */
    readonly top: (n: number) => readonly (PopularSearch & { readonly key: string })[];
  };
}

/** The engine with its guard. */
interface DomainEngine {
  /** One per endpoint. */
  readonly engines: readonly Engine[];
  readonly guard: EngineGuard;
  readonly health: Pick<EngineHealth, 'reachable'>;
}

interface DomainSearchSettings {
  readonly freshness: LifetimePolicy & { readonly clientMaxAgeMs: number };
  readonly compression: EncodePageOptions['compression'];
  readonly maxEntryBytes: number;
  /** The maximum time a client waits in all. */
  readonly patienceMs: number;
  readonly engine: { readonly kind: string; readonly deadlineMs: number; readonly hardDeadlineMs: number };
  readonly storeDeadlineMs: number;
  readonly maxLeaseWaiters: number;
  /** Entries written back per second after a store has lost its data; 0: none. */
  readonly backfillPerSecond: number;
  readonly popularity: { readonly maxQueries: number };
  /** Absent: there is no feed. `audit`: number of hits for each one that is compared with the engine; 0: none is. */
  readonly changes?: { readonly audit: number; readonly engineLagMs: number } | undefined;
}

/** A change of a document is in force in every process after this time, beside the lag of the engine. */
const FEED_MS = 1000;

/**
 * Added to the hard deadline in the lifetime of a lease: the time to write a page before another process may take the
 * lease.
 */
const LEASE_WRITE_MS = 1_000;

/** One domain's search with its background tasks. */
export function createDomain(options: DomainOptions) {
  const { domain, settings, memory, store, engine, lifeboat, rules, fleet, popularity, clock, random, observe } =
    options;
  const { patienceMs, maxEntryBytes, storeDeadlineMs, compression } = settings;
  const { deadlineMs, hardDeadlineMs } = settings.engine;
  const { guard } = engine;
  const lifetimes = settings.freshness;
  const common = { domain: domain.name, clock, random, observe, rules, deadlineMs };
  const entryLimits = { lifetimes, maxEntryBytes, signing: options.signing };

  const tiers = createTiers({ ...common, memory, store, storeDeadlineMs, ...entryLimits });
  const leases =
    store &&
    createLeases({
      ...common,
      store: store.leases,
      ttlMs: hardDeadlineMs + LEASE_WRITE_MS,
      storeDeadlineMs,
      maxWaiters: settings.maxLeaseWaiters,
    });
  const { engines } = engine;
  const loader = createLoader({
    ...common,
    lifetimes,
    compression,
    signing: options.signing,
    engines,
    guard,
    tiers,
    leases,
    tracer: options.tracer,
  });
  const refresh = createRefresh({ ...common, loader, hasStore: tiers.hasStore, revivals: guard.revivals });
  const missPath = createMissPath({
    ...common,
    tiers,
    loader,
    lifeboat: lifeboat && createLifeboat({ ...common, lifetimes, compression, hides: rules.hides, ...lifeboat }),
  });
  const spare = (): number => (guard.troubled() ? 0 : guard.limiter.spare());
  const { audit: every = 0, engineLagMs = 0 } = settings.changes ?? {};
  const graceMs = FEED_MS + engineLagMs;
  const auditHit =
    every === 0
      ? undefined
      : createFreshnessAudit({ ...common, every, graceMs, engines, guard, spare, refresh: refresh.ahead });
  const readPath = createReadPath({
    tiers,
    missPath,
    engineTroubled: guard.troubled,
    refreshStale: refresh.stale,
    auditHit,
    nodeOf: (storeName) => store?.locate(storeName).node,
    note: popularity.note,
    batchConcurrency: guard.limiter.max,
    patienceMs,
    clock,
  });

  const ahead = createRefreshAhead({
    ...common,
    popular: popularity.top,
    peek: (prepared) => {
      const entry = memory.peek(prepared.key);
      if (entry === undefined) return undefined;
      const verdict = rules.judge(entry, prepared);
      return isDenied(verdict) ? undefined : { entry, outdated: verdict === 'outdated' };
    },
    refresh: refresh.ahead,
    spare,
  });
  const tasks = [ahead, backfill(options)];

  const status: StatusParts = {
    ...options,
    ...engine,
    domain: domain.name,
    engineKind: settings.engine.kind,
    ceiling: guard.ceiling,
    lifeboat: lifeboat?.guard,
    processes: fleet.live,
    leaseWaiters: () => leases?.waiting() ?? 0,
    loads: loader.size,
  };
  const explained = { ...options, ...entryLimits, storeDeadlineMs, lastMiss: missPath.lastMiss };
  return {
    ...domain,
    ...readPath,
    clientMaxAgeMs: settings.freshness.clientMaxAgeMs,
    explain: (parameters: SearchParameters) => explain(parameters, explained),
    status: () => statusOf(status),
    warm: createWarmer(tiers, loader),
    /** Number of engine permits that no client needs now. */
    spare,
    /** Number of running loads. */
    loading: loader.size,
    /** Ends the background tasks. Searches go on. */
    close: (): void => {
      for (const task of tasks) task?.close();
    },
  };
}

function backfill(options: DomainOptions): { readonly close: () => void } | undefined {
  const { domain, settings, store, popularity } = options;
  if (store === undefined || settings.backfillPerSecond === 0) return undefined;
  return createBackfill({
    ...options,
    domain: domain.name,
    store,
    nameOf: (key) => storedNameOf(key, domain.name),
    hottest: () => popularity.top(settings.popularity.maxQueries).map(({ key }) => key),
    perSecond: settings.backfillPerSecond,
    // A poll may last longer than a read, because no client waits for it.
    deadlineMs: settings.engine.deadlineMs,
  });
}

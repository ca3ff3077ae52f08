import { unflushed } from './cache/rules.ts';
import type { Store, StoreEvent } from './cache/store.ts';
import { createTiers } from './cache/tiers.ts';
import type { Clock } from './clock.ts';
import type { DomainSettings, EngineSettings, Settings } from './config/settings.ts';
import { createSphinxEngine, SPHINX_REVISION } from './engines/sphinx/engine.ts';
import { createSqliteEngine, SQLITE_REVISION } from './engines/sqlite/engine.ts';
import type { EngineEvent } from './metrics/observe-engine.ts';
import { type BreakerState, createBreaker } from './resilience/breaker.ts';
import type { GuardEvent } from './resilience/events.ts';
import { createGuard } from './resilience/guard.ts';
import { createPermit } from './resilience/permit.ts';
import { createCompute } from './search/compute.ts';
import type { SearchDomain } from './search/domain.ts';
import { createDomainSearch } from './search/domain-search.ts';
import { type Engine, EngineError } from './search/engine.ts';
import { createEngineHealth } from './search/engine-health.ts';
import type { SearchEvent } from './search/events.ts';
import { explain } from './search/explain.ts';
import { createMissPath } from './search/flight.ts';
import { profileHash } from './search/profile.ts';
import type { DomainPart } from './search/service.ts';
import { statusOf } from './search/status.ts';
import { createMemoryTier } from './stores/memory/memory-tier.ts';
import { createRedisStore } from './stores/redis/store.ts';

export interface DomainComposition {
  readonly clock: Clock;
  readonly random: () => number;
  readonly compression: Settings['compression'];
  readonly observeSearch: (event: SearchEvent) => void;
  readonly observeStore: (domain: string, event: StoreEvent) => void;
  readonly observeEngine: (domain: string, event: EngineEvent) => void;
  readonly observeGuard: (domain: string, event: GuardEvent) => void;
}

export interface ComposedDomain extends DomainPart {
  readonly close: () => Promise<void>;
}

/**
 * Of an engine's calls in the last 3 s, at least 20, more than half failed. The window is shorter than the wait for a
 * probe (±20 %): opossum keeps it over a closing, and failures from before would open it again at the first new one.
 */
const ENGINE_BREAKER = { errorThresholdPercent: 50, volumeThreshold: 20, windowMs: 3_000 };
const ENGINE_RESET_MS = 4_000;

const ENGINE_PROBE = { intervalMs: 5_000, timeoutMs: 2_000 };

/** One domain of the configuration with its own tiers, store, guard and engine: it is loaded, lost and healed alone. */
export async function composeDomain(settings: DomainSettings, given: DomainComposition): Promise<ComposedDomain> {
  const { clock, random } = given;
  const { name, store: storeSettings, engine: engineSettings, maxEntryBytes } = settings;
  const domain = searchDomainOf(settings);
  const engine = await engineOf(engineSettings, domain, given);
  const store: Store | undefined =
    storeSettings.kind === 'none'
      ? undefined
      : createRedisStore({
          settings: storeSettings,
          name,
          clock,
          random,
          observe: (event) => given.observeStore(name, event),
        });
  const storeDeadlineMs = storeSettings.kind === 'none' ? 0 : storeSettings.deadlineMs;
  const shared = { domain: name, clock, observe: given.observeSearch, deadlineMs: engineSettings.deadlineMs };

  const observeGuard = (event: GuardEvent): void => given.observeGuard(name, event);
  const breaker = createBreaker({
    name: `${name} engine`,
    ...ENGINE_BREAKER,
    // Longer than any call begun before the opening: its late end must not be taken for a probe's.
    resetMs: Math.max(ENGINE_RESET_MS, 2 * engineSettings.deadlineMs),
    isAlive: (error) => error instanceof EngineError && error.code === 'engine-rejected',
    monotonicMs: clock.monotonicMs,
    random,
    onState: (state: BreakerState) => observeGuard({ kind: 'breaker', target: name, state }),
  });
  const guard = createGuard({
    target: name,
    breaker,
    permit: createPermit({ ...engineSettings, clock }),
    deadlineMs: engineSettings.deadlineMs,
    hardDeadlineMs: engineSettings.hardDeadlineMs,
    abortEndsWork: engine.abortEndsWork,
    clock,
    observe: observeGuard,
  });

  const health = createEngineHealth({ engine, ...ENGINE_PROBE, random });
  const { maxBytes, emptyMaxBytes } = settings.memory;
  const memory = createMemoryTier({ maxBytes: maxBytes - emptyMaxBytes, emptyMaxBytes });
  const optionalStore = store === undefined ? {} : { store };
  const tiers = createTiers({ ...shared, memory, ...optionalStore, storeDeadlineMs, maxEntryBytes, rules: unflushed });
  const compute = createCompute({
    ...shared,
    observe: (event) => {
      if (event.kind === 'engine') health.note(event);
      given.observeSearch(event);
    },
    engine,
    guard,
    rules: unflushed,
    lifetimes: settings.freshness,
    compression: given.compression,
    random,
  });
  const breakerRetryAfterMs = breaker.retryAfterMs;
  const missPath = createMissPath({ ...shared, tiers, compute, breakerRetryAfterMs });
  const batchConcurrency = engineSettings.maxConcurrent;
  const search = createDomainSearch({ ...shared, tiers, missPath, breakerRetryAfterMs, batchConcurrency });

  const status = {
    domain: name,
    engineKind: engineSettings.kind,
    memory,
    ...optionalStore,
    guard,
    health,
    flights: missPath.flights,
  };
  const explained = { domain, memory, ...optionalStore, storeDeadlineMs, rules: unflushed, search, clock };
  return {
    domain,
    search,
    explain: (parameters) => explain(parameters, explained),
    status: () => statusOf(status),
    close: async () => {
      guard.close();
      health.close();
      await Promise.all([store?.close(), engine.close()]);
    },
  };
}

/** What the rooms know of a domain; the answer profile is part of every key. */
export function searchDomainOf({ name, attributes, context, engine }: DomainSettings): SearchDomain {
  const { kind, snippetLength } = engine;
  const own =
    engine.kind === 'sqlite'
      ? { revision: SQLITE_REVISION, index: name, ranker: 'bm25', details: [] }
      : {
          revision: SPHINX_REVISION,
          index: engine.index,
          ranker: engine.ranker,
          details: [engine.idAttribute ?? '', engine.maxMatches],
        };
  const answerProfile = profileHash({ engine: kind, ...own, snippetLength, attributes });
  return { name, attributes, context, answerProfile };
}

async function engineOf(settings: EngineSettings, domain: SearchDomain, given: DomainComposition): Promise<Engine> {
  const observe = (event: EngineEvent): void => given.observeEngine(domain.name, event);
  switch (settings.kind) {
    case 'sqlite':
      return createSqliteEngine({
        file: indexFileOf(settings.directory, domain.name),
        domain,
        workers: settings.workers,
        snippetLength: settings.snippetLength,
        random: given.random,
        observe,
      });
    case 'sphinx':
    case 'manticore':
      return createSphinxEngine({
        ...settings,
        dialect: settings.kind,
        domain,
        maxConnections: settings.maxConcurrent,
        clock: given.clock,
        random: given.random,
        observe,
      });
  }
}

/** Where a domain's embedded index is. */
export function indexFileOf(directory: string, domain: string): string {
  return `${directory}/${domain}.sqlite`;
}

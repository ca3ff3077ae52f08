import { createLeases } from './cache/lease.ts';
import type { MemoryTier } from './cache/memory.ts';
import { createSigning } from './cache/signing.ts';
import type { StoreEvent } from './cache/store.ts';
import { createTiers } from './cache/tiers.ts';
import { composeControl, composeMeter } from './compose-control.ts';

import { composeUpkeep } from './compose-upkeep.ts';
import type { DomainSettings, Settings } from './config/settings.ts';
import type { Control, ControlEvent } from './control/control.ts';
import { createMembership, fleetShare } from './control/membership.ts';
import { createEngines, type EngineEvent, searchDomainOf } from './engines/create-engines.ts';
import type { Meter } from './operations/meter/meter.ts';
import { createPopularity, type Popularity } from './popularity/popularity.ts';
import type { GuardEvent } from './resilience/guard.ts';
import type { Clock } from './runtime.ts';
import type { SearchEvent } from './search/events.ts';
import { explain } from './search/explain.ts';
import { createCompute, createMissPath } from './search/load.ts';
import { createForward, createLifeboat } from './search/miss-path.ts';
import { createDomainSearch, type PreparedSearch } from './search/read-path.ts';
import { createRefresh, createWarmer, type Warmer } from './search/refresh.ts';
import type { DomainPart } from './search/search.ts';
import { statusOf } from './search/status.ts';
import { createMemoryTier } from './stores/memory/memory-tier.ts';
import { createRedisStore, type RedisStore } from './stores/redis/store.ts';
import type { ProcessStores } from './stores/stores.ts';

export interface DomainComposition {
  readonly clock: Clock;
  readonly random: () => number;
  /** Of this process, among those that share a store. */
  readonly processId: string;
  readonly stores: ProcessStores;
  readonly compression: Settings['compression'];
  /** Absent: nothing is signed. */
  readonly signing?: Settings['signing'];
  readonly observeSearch: (event: SearchEvent) => void;
  readonly observeStore: (domain: string, event: StoreEvent) => void;
  readonly observeEngine: (domain: string, event: EngineEvent) => void;
  readonly observeGuard: (domain: string, event: GuardEvent) => void;
  readonly observeControl: (event: ControlEvent) => void;
}

export interface ComposedDomain extends DomainPart, OperatedParts {
  /** Until every store node is connected and the fleet counted, or `timeoutMs` have passed: a store may be away. */
  readonly connected: (timeoutMs: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** What operators work on. */
export interface OperatedParts {
  readonly settings: DomainSettings;
  readonly control: Control;
  /** The control document is not kept among the entries. */
  readonly controlElsewhere: boolean;
  readonly store?: RedisStore;
  readonly memory: MemoryTier;
  readonly meter: Meter;
  readonly popularity: Popularity<PreparedSearch>;
  readonly warm: Warmer;
  /** Places of the engine that nobody wants now. */
  readonly spare: () => number;
}

/** Beyond the hard deadline: what writing a page may take before its lease may be taken by somebody else. */
const LEASE_WRITE_MS = 1_000;

/** At the end, for the last flights to give their leases back. */
const GIVE_BACK_MS = 200;

/** One domain of the configuration with its own tiers, store, guard and engine: it is loaded, lost and healed alone. */
export async function composeDomain(settings: DomainSettings, given: DomainComposition): Promise<ComposedDomain> {
  const { clock, random, observeSearch } = given;
  const { name, engine: engineSettings, disabledDefences: without } = settings;
  const domain = searchDomainOf(settings);
  const lacks = (defence: DomainSettings['disabledDefences'][number]): boolean => without.includes(defence);

  const store = storeOf(settings, given);
  const hasStore = store === undefined ? {} : { store };
  const storeDeadlineMs = settings.store.kind === 'none' ? 0 : settings.store.deadlineMs;
  const fleet = createMembership({ ...hasStore, id: given.processId, clock, random });
  const lifetimes = lacks('stale')
    ? { ...settings.freshness, staleWhileRevalidateMs: 0, staleIfErrorMs: 0 }
    : settings.freshness;
  const signing = given.signing === undefined ? undefined : createSigning(given.signing, name);
  const encoding = { lifetimes, compression: given.compression };
  const { control, elsewhere, forcedOpen } = composeControl(settings, store, signing, given);
  const { rules } = control;
  const engine = await createEngines(
    settings,
    domain,
    {
      fleetShare: (total) => fleetShare(total, fleet),
      refusal: () => (forcedOpen() ? 'breaker-open' : undefined),
    },
    {
      clock,
      random,
      observe: ({ source, event }) =>
        source === 'guard' ? given.observeGuard(name, event) : given.observeEngine(name, event),
    },
  );

  const { deadlineMs } = engineSettings;
  const { patienceMs } = settings;
  const shared = { domain: name, clock, random, observe: observeSearch, deadlineMs };
  const { maxBytes, emptyMaxBytes } = settings.memory;
  const memory = createMemoryTier({ maxBytes: maxBytes - emptyMaxBytes, emptyMaxBytes });
  const limits = { lifetimes, maxEntryBytes: settings.maxEntryBytes, signing };
  const meter = composeMeter(engine, forcedOpen, clock);
  const tiers = createTiers({ ...shared, memory, ...hasStore, storeDeadlineMs, ...limits, rules });
  const leases =
    store === undefined || lacks('lease')
      ? undefined
      : createLeases({
          ...shared,
          store: store.leases,
          ttlMs: engineSettings.hardDeadlineMs + LEASE_WRITE_MS,
          storeDeadlineMs,
          maxWaiters: settings.maxLeaseWaiters,
        });
  const compute = createCompute({
    ...shared,
    ...encoding,
    signing,
    observe: (event) => {
      if (event.kind === 'engine') {
        engine.health.note(event);
        meter.noteEngine({ failed: isFailed(event.result), durationMs: event.durationMs });
      }
      observeSearch(event);
    },
    engines: engine.engines,
    guard: engine.guard,
    tiers,
    ...(leases === undefined ? {} : { leases }),
    rules,
  });
  const missPath = createMissPath({ tiers, compute, coalesce: !lacks('coalescing') });
  const breakerRetryAfterMs = engine.guard.balancer.retryAfterMs;
  const refresh = createRefresh({
    ...shared,
    missPath,
    hasStore: tiers.hasStore,
    breakerRetryAfterMs,
    revivals: engine.guard.revivals,
  });
  const lifeboat =
    engine.lifeboat === undefined
      ? {}
      : { lifeboat: createLifeboat({ ...shared, ...encoding, ...engine.lifeboat, hides: rules.hides }) };
  const warm = createWarmer({ ...shared, tiers, missPath });
  const { forward, lastMiss } = createForward({
    ...shared,
    patienceMs,
    tiers,
    missPath,
    ...lifeboat,
    breakerRetryAfterMs,
  });
  const popularity = createPopularity<PreparedSearch>({ ...settings.popularity, clock });
  const search = createDomainSearch({
    tiers,
    forward,
    refresh,
    engineTroubled: engine.guard.troubled,
    note: (prepared) => popularity.note(prepared.key, prepared),
    batchConcurrency: engine.guard.limiter.max,
    clock,
  });

  const spare = (): number => (engine.guard.troubled() ? 0 : engine.guard.limiter.spare());
  const upkeep = composeUpkeep(settings, { ...shared, ...hasStore, memory, fleet, rules, popularity, refresh, spare });

  const status = {
    domain: name,
    engineKind: engineSettings.kind,
    memory,
    ...hasStore,
    guard: engine.guard,
    forcedOpen,
    ceiling: engine.guard.ceiling,
    health: engine.health,
    ...(engine.lifeboat === undefined ? {} : { lifeboat: engine.lifeboat.guard }),
    controlStanding: () => control.state().standing,
    processes: fleet.live,
    leaseWaiters: () => leases?.waiting() ?? 0,
    flights: missPath.flights,
  };
  const nodes = () => store?.nodes() ?? [];
  const explained = { domain, memory, ...hasStore, storeDeadlineMs, ...limits, rules, forward: { lastMiss }, clock };
  return {
    domain,
    settings,
    control,
    controlElsewhere: elsewhere,
    ...hasStore,
    memory,
    meter,
    popularity,
    warm,
    spare,
    search,
    explain: (parameters) => explain(parameters, explained),
    status: () => statusOf(status),
    connected: (timeoutMs) =>
      waitFor(
        () => fleet.counted() && control.hasSynced() && nodes().every(({ connected }) => connected),
        timeoutMs,
        clock,
      ),
    close: async () => {
      upkeep.close();
      await Promise.all([fleet.close(), control.close()]);
      await engine.close();
      // The flights that ended with the engine give their leases back: the store hears of it before it is left.
      const isAnswered = (): boolean => nodes().every(({ connected, outstanding }) => !connected || outstanding === 0);
      await waitFor(() => missPath.flights() === 0 && isAnswered(), GIVE_BACK_MS, clock);
      await store?.close();
    },
  };
}

/** Until it holds or the time is over, whichever comes first. */
async function waitFor(holds: () => boolean, timeoutMs: number, clock: Clock): Promise<void> {
  const untilMs = clock.monotonicMs() + timeoutMs;
  while (!holds() && clock.monotonicMs() < untilMs) await new Promise((done) => setTimeout(done, 10));
}

function isFailed(result: Extract<SearchEvent, { kind: 'engine' }>['result']): boolean {
  return result !== 'whole' && result !== 'empty' && result !== 'partial';
}

function storeOf({ name, store }: DomainSettings, given: DomainComposition): RedisStore | undefined {
  if (store.kind === 'none') return undefined;
  const { clock, random } = given;
  return createRedisStore({
    settings: store,
    name,
    clock,
    random,
    observe: (event) => given.observeStore(name, event),
  });
}

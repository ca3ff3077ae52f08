import type { MemoryTier } from './cache/memory.ts';
import { createSigning } from './cache/signing.ts';
import type { StoreEvent } from './cache/store.ts';
import { composeControl, composeMeter } from './compose-control.ts';

import type { DomainSettings, Settings } from './config/settings.ts';
import type { Control, ControlEvent } from './control/control.ts';
import { createMembership, fleetShare } from './control/membership.ts';
import { createEngines, type EngineEvent, searchDomainOf } from './engines/create-engines.ts';
import type { Meter } from './operations/meter/meter.ts';
import { createPopularity, type Popularity } from './popularity/popularity.ts';
import type { GuardEvent } from './resilience/guard.ts';
import type { Clock } from './runtime.ts';
import { createDomain, type Domain } from './search/domain-search.ts';
import type { SearchEvent } from './search/events.ts';
import type { PreparedSearch } from './search/key.ts';
import { createMemoryTier } from './stores/memory/memory-tier.ts';
import { createRedisStore, type RedisStore } from './stores/redis/store.ts';
import type { ProcessStores } from './stores/stores.ts';

export interface DomainComposition {
  readonly clock: Clock;
  readonly random: () => number;
  /** The name of this process among those that share a store. */
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

export interface ComposedDomain extends Omit<Domain, 'close'>, OperatedParts {
  /** Until every store node is connected and the fleet counted, or `timeoutMs` have passed: a store may be away. */
  readonly connected: (timeoutMs: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The parts that operators work on. */
export interface OperatedParts {
  readonly settings: DomainSettings;
  readonly control: Control;
  /** The control document is not kept among the entries. */
  readonly controlElsewhere: boolean;
  readonly store?: RedisStore;
  readonly memory: MemoryTier;
  readonly meter: Meter;
  readonly popularity: Popularity<PreparedSearch>;
}

/** At the end: the time in which the last loads may give their leases back. */
const GIVE_BACK_MS = 200;

/** One domain of the configuration: its store, control, engine and lifeboat, connected to its search. */
export async function composeDomain(settings: DomainSettings, given: DomainComposition): Promise<ComposedDomain> {
  const { clock, random, compression, processId } = given;
  const { name } = settings;
  const runtime = { clock, random };
  const domain = searchDomainOf(settings);

  const store =
    settings.store.kind === 'none'
      ? undefined
      : createRedisStore({
          ...runtime,
          settings: settings.store,
          name,
          observe: (event) => given.observeStore(name, event),
        });
  const withStore = store === undefined ? {} : { store };
  const storeDeadlineMs = settings.store.kind === 'none' ? 0 : settings.store.deadlineMs;
  const fleet = createMembership({ ...withStore, id: processId, ...runtime });
  const signing = given.signing === undefined ? undefined : createSigning(given.signing, name);
  const { control, elsewhere, forcedOpen } = composeControl(settings, store, signing, given);
  const engine = await createEngines(
    settings,
    domain,
    {
      fleetShare: (total) => fleetShare(total, fleet),
      refusal: () => (forcedOpen() ? 'breaker-open' : undefined),
    },
    {
      ...runtime,
      observe: ({ source, event }) =>
        source === 'guard' ? given.observeGuard(name, event) : given.observeEngine(name, event),
    },
  );
  const meter = composeMeter(engine, forcedOpen, clock);
  const { maxBytes, emptyMaxBytes } = settings.memory;
  const memory = createMemoryTier({ maxBytes: maxBytes - emptyMaxBytes, emptyMaxBytes });
  const popularity = createPopularity<PreparedSearch>({ ...settings.popularity, clock });
  const search = createDomain({
    ...runtime,
    ...withStore,
    ...{ domain, memory, signing, engine, lifeboat: engine.lifeboat, forcedOpen, fleet, popularity },
    settings: { ...settings, compression, storeDeadlineMs },
    rules: control.rules,
    controlStanding: () => control.state().standing,
    observe: (event) => {
      if (event.kind === 'engine') {
        meter.noteEngine({ failed: isFailed(event.result), durationMs: event.durationMs });
      }
      given.observeSearch(event);
    },
  });

  const nodes = () => store?.nodes() ?? [];
  return {
    ...search,
    settings,
    control,
    controlElsewhere: elsewhere,
    ...withStore,
    memory,
    meter,
    popularity,
    connected: (timeoutMs) =>
      waitFor(
        () => fleet.counted() && control.hasSynced() && nodes().every(({ connected }) => connected),
        timeoutMs,
        clock,
      ),
    close: async () => {
      search.close();
      await Promise.all([fleet.close(), control.close()]);
      await engine.close();
      // The loads that ended with the engine give their leases back: the store must hear of it before it is closed.
      const isAnswered = (): boolean => nodes().every(({ connected, outstanding }) => !connected || outstanding === 0);
      await waitFor(() => search.loading() === 0 && isAnswered(), GIVE_BACK_MS, clock);
      await store?.close();
    },
  };
}

/** Until `holds` is true or the time is over. */
async function waitFor(holds: () => boolean, timeoutMs: number, clock: Clock): Promise<void> {
  const untilMs = clock.monotonicMs() + timeoutMs;
  while (!holds() && clock.monotonicMs() < untilMs) await new Promise((done) => setTimeout(done, 10));
}

function isFailed(result: Extract<SearchEvent, { kind: 'engine' }>['result']): boolean {
  return result !== 'whole' && result !== 'empty' && result !== 'partial';
}

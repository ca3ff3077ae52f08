import type { DomainSettings, EngineSettings, LifeboatSettings } from '../config/settings.ts';
import { createGuard, type EngineGuard, type GuardPorts } from '../resilience/create-guard.ts';
import { createEngineHealth } from '../resilience/engine-health.ts';
import type { GuardEvent } from '../resilience/guard.ts';
import type { Runtime } from '../runtime.ts';
import type { SearchDomain } from '../search/domain.ts';
import type { Engine } from '../search/engine.ts';
import { profileHash } from '../search/key.ts';
import { ANALYSIS_HASH } from './analysis/table.ts';
import { createSphinxEngine, SPHINX_REVISION, type SphinxEvent } from './sphinx/engine.ts';
import { createSqliteEngine, SQLITE_REVISION } from './sqlite/engine.ts';
import type { SqliteEvent } from './sqlite/pool.ts';
import { indexFileOf } from './sqlite/schema.ts';

/** The engine of one domain with its guard, and the engine of its lifeboat with a guard of its own. */
export interface DomainEngines extends GuardedEngine {
  readonly lifeboat?: { readonly engine: Engine; readonly guard: EngineGuard; readonly deadlineMs: number };
}

type GuardedEngine = Awaited<ReturnType<typeof createGuardedEngine>>;

export type EngineEvent = SphinxEvent | SqliteEvent;

/** Shares of the fleet are whole numbers. */
export interface EnginesPorts extends Pick<GuardPorts, 'fleetShare' | 'forcedOpen'> {
  /** The whole index of an endpoint was replaced: pages from before may be wrong. */
  readonly onReplaced?: (() => void) | undefined;
}

type GuardedSettings = Pick<DomainSettings, 'name' | 'engine' | 'patienceMs'>;

interface EnginesRuntime extends Pick<Runtime<never>, 'clock' | 'random'> {
  readonly observeEngine: (event: EngineEvent) => void;
  readonly observeGuard: (event: GuardEvent) => void;
}

/** @throws when an embedded index cannot be opened. A searchd that does not answer is no error here. */
export async function createEngines(
  settings: GuardedSettings & Pick<DomainSettings, 'lifeboat'>,
  domain: SearchDomain,
  ports: EnginesPorts,
  runtime: EnginesRuntime,
): Promise<DomainEngines> {
  const main = await createGuardedEngine(settings, domain, ports, runtime);
  if (settings.lifeboat === undefined) return main;
  const lifeboat = await createLifeboatEngine(settings.name, settings.lifeboat, settings.engine, domain, runtime).catch(
    async (error) => {
      await main.close();
      throw error;
    },
  );
  const [engine] = lifeboat.engines;
  if (engine === undefined) throw new Error('a lifeboat without an engine');
  return {
    ...main,
    lifeboat: { engine, guard: lifeboat.guard, deadlineMs: settings.lifeboat.deadlineMs },
    close: async () => {
      await Promise.all([main.close(), lifeboat.close()]);
    },
  };
}

/** With these pages are fresh again within 0.3 s of the return of an engine whose breaker was open. */
const PROBE = { intervalMs: 5_000, openIntervalMs: 200, timeoutMs: 2_000 };

async function createGuardedEngine(
  { name, engine: settings, patienceMs }: GuardedSettings,
  domain: SearchDomain,
  { fleetShare, forcedOpen, onReplaced }: EnginesPorts,
  { clock, random, observeEngine, observeGuard }: EnginesRuntime,
) {
  const engines = await createAdapters(settings, domain, { clock, random, observe: observeEngine, onReplaced });
  const guard = createGuard(
    {
      ...settings,
      target: name,
      endpoints: endpointNames(settings),
      maxWaitMs: patienceMs,
      abortEndsWork: engines.every((engine) => engine.abortEndsWork),
    },
    {
      // Each process has its own embedded engine; a search server is shared by the fleet.
      fleetShare: settings.kind === 'sqlite' ? (total) => total : fleetShare,
      forcedOpen,
      onBreaker: (endpoint, state) => health.breakerIs(endpoint, state),
    },
    { clock, random, observe: observeGuard },
  );
  const health = createEngineHealth({
    engines,
    ...PROBE,
    monotonicMs: clock.monotonicMs,
    random,
    onProbe: guard.balancer.reportProbe,
  });
  return {
    /** One per endpoint, in the order of the endpoints, all over the same index. */
    engines,
    guard,
    health,
    close: async (): Promise<void> => {
      health.close();
      guard.close();
      await Promise.all(engines.map((engine) => engine.close()));
    },
  };
}

/** The embedded index of the same catalogue. The domain's status shows its guard; the guard's events are not reported. */
function createLifeboatEngine(
  name: string,
  { directory, workers, deadlineMs, maxQueued }: LifeboatSettings,
  { snippetLength }: EngineSettings,
  domain: SearchDomain,
  runtime: EnginesRuntime,
): Promise<GuardedEngine> {
  const engine = {
    kind: 'sqlite',
    directory,
    workers,
    demo: false,
    deadlineMs,
    hardDeadlineMs: deadlineMs,
    maxConcurrent: workers,
    maxQueued,
    limit: 'fixed',
    snippetLength,
  } as const;
  return createGuardedEngine(
    { name: `${name} lifeboat`, engine, patienceMs: deadlineMs },
    domain,
    // A drill that is simulating an engine outage relies on the lifeboat.
    { fleetShare: (total) => total, forcedOpen: () => false },
    { ...runtime, observeGuard: () => {} },
  );
}

function endpointNames(settings: EngineSettings): readonly string[] {
  if (settings.kind === 'sqlite') return ['embedded'];
  return settings.endpoints.map(({ host, port }) => `${host}:${port}`);
}

type AdaptersRuntime = Pick<Runtime<EngineEvent>, 'clock' | 'random' | 'observe'> & Pick<EnginesPorts, 'onReplaced'>;

/** The bare engines, one per endpoint, in their order. @throws when an embedded index cannot be opened. */
export async function createAdapters(
  settings: EngineSettings,
  domain: SearchDomain,
  runtime: AdaptersRuntime,
): Promise<readonly Engine[]> {
  switch (settings.kind) {
    case 'sqlite': {
      const file = indexFileOf(settings.directory, domain.name);
      return [await createSqliteEngine({ ...settings, ...runtime, file, domain, wallMs: runtime.clock.wallMs })];
    }
    case 'sphinx':
    case 'manticore': {
      const { kind: dialect, maxConcurrent: maxConnections, endpoints } = settings;
      const shared = { ...settings, ...runtime, dialect, domain, maxConnections };
      return endpoints.map((endpoint) => createSphinxEngine({ ...shared, ...endpoint }));
    }
  }
}

/** The declaration of a domain. Its answer profile is part of every key: it differs when pages may differ. */
export function searchDomainOf({ name, attributes, context, engine }: DomainSettings): SearchDomain {
  const { kind, snippetLength } = engine;
  const own =
    engine.kind === 'sqlite'
      ? { revision: SQLITE_REVISION, index: name, ranker: 'bm25', details: [ANALYSIS_HASH] }
      : {
          revision: SPHINX_REVISION,
          index: engine.index,
          ranker: engine.ranker,
          details: [ANALYSIS_HASH, engine.idAttribute ?? '', engine.maxMatches],
        };
  const answerProfile = profileHash({ engine: kind, ...own, snippetLength, attributes });
  return { name, attributes, context, answerProfile };
}

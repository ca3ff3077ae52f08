import type { DomainSettings, EngineSettings } from './config/settings.ts';
import { type Fleet, fleetShare } from './control/membership.ts';
import { createSphinxEngine, SPHINX_REVISION } from './engines/sphinx/engine.ts';
import { createSqliteEngine, SQLITE_REVISION } from './engines/sqlite/engine.ts';
import type { EngineEvent } from './metrics/observe-store.ts';
import {
  type AimdLimitOptions,
  createAimdLimit,
  createFixedLimit,
  createGradientLimit,
  type GradientLimitOptions,
  type Limit,
} from './resilience/adaptive-limit.ts';
import { type Breaker, createBreaker } from './resilience/breaker.ts';
import { createPermit } from './resilience/concurrency-limiter.ts';
import { createGuard, type Guard, type GuardEvent } from './resilience/guard.ts';
import { createEndpoints, type Endpoints } from './resilience/load-balancer.ts';
import { createRetryBudget } from './resilience/retry-budget.ts';
import { createRamp } from './resilience/slow-start.ts';
import type { Clock } from './runtime.ts';
import type { SearchDomain } from './search/domain.ts';
import { type Engine, EngineError } from './search/engine.ts';
import { createEngineHealth, type EngineHealth } from './search/engine-health.ts';
import { profileHash } from './search/key.ts';

/** A domain's engine with everything that stands before it. */
export interface ComposedEngine {
  /** One per endpoint. */
  readonly engines: readonly Engine[];
  readonly guard: Guard;
  readonly health: EngineHealth;
  /** How many times the breaker of an endpoint has closed again: a refresh that failed before may succeed after it. */
  readonly revivals: () => number;
  /** This process's share of `maxConcurrent`. */
  readonly ceiling: () => number;
  readonly close: () => Promise<void>;
}

export interface EngineComposition {
  readonly clock: Clock;
  readonly random: () => number;
  readonly observeEngine: (event: EngineEvent) => void;
  readonly observeGuard: (event: GuardEvent) => void;
  /** A drill has it that the engine is dead. */
  readonly forcedOpen: () => boolean;
}

/** It opens when of an engine's calls in the last 3 s, at least 20, more than half failed. */
const ENGINE_BREAKER = { errorThresholdPercent: 50, volumeThreshold: 20, windowMs: 3_000 };
/**
 * Then one search is let through. Probes close the breaker long before, but a probe may fail where a search does not: on a
 * connection that has died in silence, or for a facet that the engine does not know.
 */
const ENGINE_RESET_MS = 4_000;
/** While the breaker is open: with the wait for a search's turn, pages are fresh within 0.3 s of the engine's return. */
const ENGINE_PROBE = { intervalMs: 5_000, openIntervalMs: 200, timeoutMs: 2_000 };
/** More calls than any window sees: a breaker that never opens. */
const NEVER = Number.MAX_SAFE_INTEGER;

/** At most a tenth more calls by asking another endpoint; a few at once when one has just died. */
const RETRIES = { share: 0.1, burst: 10 };

/** Of the deadline: an answer later than that is one too many at once, in the eyes of the aimd limit. */
const SLOW_SHARE = 0.5;

/** @param fleet that shares the engine. */
export async function composeEngine(
  {
    name,
    engine: settings,
    patienceMs,
    disabledDefences: without,
  }: Pick<DomainSettings, 'name' | 'engine' | 'patienceMs' | 'disabledDefences'>,
  domain: SearchDomain,
  fleet: Pick<Fleet, 'live' | 'rank'>,
  given: EngineComposition,
): Promise<ComposedEngine> {
  const { clock, random, observeGuard } = given;
  const { deadlineMs, maxConcurrent, maxQueued } = settings;
  const engines = await enginesOf(settings, domain, given);
  const ramp = createRamp({ monotonicMs: clock.monotonicMs });
  const names = endpointNames(settings);
  let revivals = 0;
  const breakers: Breaker[] = names.map((endpoint, i) =>
    createBreaker({
      name: `${name} engine ${endpoint}`,
      ...ENGINE_BREAKER,
      ...(without.includes('breaker') ? { volumeThreshold: NEVER } : {}),
      // Longer than any call begun before the opening: its late end must not be taken for the end of that search.
      resetMs: Math.max(ENGINE_RESET_MS, 2 * deadlineMs),
      isAlive: (error) => error instanceof EngineError && error.code === 'engine-rejected',
      monotonicMs: clock.monotonicMs,
      random,
      onState: (state) => {
        // Back after nobody could be asked; with another endpoint up all the while there is nothing to climb.
        const alone = breakers.filter((breaker) => breaker.state() === 'closed').length <= 1;
        if (state === 'closed' && alone) ramp.begin();
        if (state === 'closed') revivals += 1;
        health.breakerIs(i, state);
        observeGuard({ kind: 'breaker', target: endpoint, state });
      },
    }),
  );
  const endpoints: Endpoints = createEndpoints({
    targets: names.map((endpoint, i) => ({ name: endpoint, breaker: at(breakers, i) })),
    budget: createRetryBudget(RETRIES),
    mayRetry: (error) => error instanceof EngineError && error.code === 'engine-unavailable',
    onRetry: (result) => observeGuard({ kind: 'retry', target: name, result }),
  });

  const health = createEngineHealth({
    engines,
    ...ENGINE_PROBE,
    monotonicMs: clock.monotonicMs,
    random,
    onProbe: endpoints.probed,
  });

  // An embedded engine is each process's own; a server is shared, and half of it gone carries half.
  const ceiling = (): number =>
    settings.kind === 'sqlite' ? maxConcurrent : fleetShare(maxConcurrent * endpoints.share(), fleet);
  const limitKind = without.includes('limit') ? 'fixed' : settings.limit;
  const limit = limitOf(limitKind, {
    ceiling,
    monotonicMs: clock.monotonicMs,
    random,
    slowMs: SLOW_SHARE * deadlineMs,
  });
  const rampFactor = without.includes('ramp') ? () => 1 : ramp.factor;
  const permit = createPermit({
    max: () => Math.max(1, Math.min(limit.current(), Math.floor(ceiling() * rampFactor()))),
    maxQueued,
    deadlineMs,
    patienceMs,
    clock,
    shedding: !without.includes('shedding'),
  });
  const guard = createGuard({
    target: name,
    endpoints,
    permit,
    limit,
    isOverload: (error) =>
      error instanceof EngineError && (error.code === 'engine-overloaded' || error.code === 'engine-timeout'),
    rampFactor,
    forcedOpen: given.forcedOpen,
    deadlineMs,
    hardDeadlineMs: without.includes('late-pages') ? deadlineMs : settings.hardDeadlineMs,
    abortEndsWork: engines.every((engine) => engine.abortEndsWork),
    clock,
    observe: observeGuard,
  });
  return {
    engines,
    guard,
    health,
    revivals: () => revivals,
    ceiling,
    close: async () => {
      health.close();
      guard.close();
      await Promise.all(engines.map((engine) => engine.close()));
    },
  };
}

function limitOf(kind: EngineSettings['limit'], options: GradientLimitOptions & AimdLimitOptions): Limit {
  switch (kind) {
    case 'gradient':
      return createGradientLimit(options);
    case 'aimd':
      return createAimdLimit(options);
    case 'fixed':
      return createFixedLimit(options);
  }
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

/** One engine per endpoint, in their order. @throws when an embedded index cannot be opened. */
export async function enginesOf(
  settings: EngineSettings,
  domain: SearchDomain,
  { clock, random, observeEngine }: Omit<EngineComposition, 'observeGuard' | 'forcedOpen'>,
): Promise<readonly Engine[]> {
  switch (settings.kind) {
    case 'sqlite': {
      const { directory, workers, snippetLength } = settings;
      const file = indexFileOf(directory, domain.name);
      return [await createSqliteEngine({ file, domain, workers, snippetLength, random, observe: observeEngine })];
    }
    case 'sphinx':
    case 'manticore':
      return settings.endpoints.map((endpoint) =>
        createSphinxEngine({
          ...settings,
          ...endpoint,
          dialect: settings.kind,
          domain,
          maxConnections: settings.maxConcurrent,
          clock,
          random,
          observe: observeEngine,
        }),
      );
  }
}

function endpointNames(settings: EngineSettings): readonly string[] {
  if (settings.kind === 'sqlite') return ['embedded'];
  return settings.endpoints.map(({ host, port }) => `${host}:${port}`);
}

/** Where a domain's embedded index is. */
export function indexFileOf(directory: string, domain: string): string {
  return `${directory}/${domain}.sqlite`;
}

function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new Error(`nothing at ${index} of ${list.length}`);
  return item;
}

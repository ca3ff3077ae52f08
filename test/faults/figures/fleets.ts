import { join } from 'node:path';
import { type EngineProxy, startEngineProxy } from '../../../loadtest/fault-proxy/engine-proxy.ts';
import { startStandalone } from '../../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import { sampleGoods, startSearchd } from '../../../loadtest/stack/sphinx.ts';
import { type Queries, queriesOf } from '../../../loadtest/traffic/queries.ts';
import { until } from '../../until.ts';
import { type Changes, configurationOf, INDEX } from '../configuration.ts';
import { buildWithResources, waitUntilReady } from '../harness.ts';
import type { ServiceProcess } from '../service.ts';

/**
 * A fleet whose engine has a limited capacity: a proxy in front of searchd limits the number of concurrent searches and
 * delays each one. So the engine is slow without taking CPU from the clients. The control has its own store and reaches
 * searchd directly.
 */
export interface LimitedFleet {
  readonly services: readonly ServiceProcess[];
  readonly control: ServiceProcess;
  /** The store of the services. */
  readonly store: RedisNode;
  readonly engineProxy: EngineProxy;
  readonly queries: Queries;
  /**
   * Stops the services, ends their searches at the engine, sets its capacity and starts the services again.
   * `empty` clears their store before the start.
   */
  readonly startServices: (
    changes: Changes,
    options: { readonly capacity: EngineCapacity; readonly empty: boolean },
  ) => Promise<void>;
  readonly startControl: (changes: Changes) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Capacity of the engine: maximum number of concurrent searches, and the delay added to each. */
export interface EngineCapacity {
  readonly slots: number;
  readonly delayMs: number;
}

interface LimitedFleetOptions {
  readonly checkout: string;
  readonly services: number;
  /** Number of searches that are asked repeatedly. */
  readonly searches: number;
  readonly documents?: number;
}

export const perSecondOf = ({ slots, delayMs }: EngineCapacity): number => (slots * 1000) / delayMs;

/** Connections that a process without a concurrency limit opens. */
const ENGINE_CONNECTIONS = 700;
const DOCUMENTS = 3000;

export function startLimitedFleet(options: LimitedFleetOptions): Promise<LimitedFleet> {
  return buildWithResources('narrow', async (resources) => {
    const { keep } = resources;
    const startStore = async (): Promise<RedisNode> => {
      const [node] = keep(await startStandalone({ flavour: 'redis' })).nodes;
      if (node === undefined) throw new Error('a store without a node');
      return node;
    };
    const goods = sampleGoods(options.documents ?? DOCUMENTS);
    const engine = keep(
      await startSearchd({
        directory: join(resources.directory, 'engine'),
        from: { domains: [{ ...goods, index: INDEX }] },
        maxConnections: ENGINE_CONNECTIONS,
      }),
    );
    const engineProxy = keep(await startEngineProxy({ target: { host: engine.host, port: engine.port } }));
    const store = await startStore();
    const controlStore = await startStore();
    const names = Array.from({ length: options.services }, (_, at) => `serpcache-${at + 1}`);
    const [control, ...services] = await resources.services(['control', ...names], options);
    if (control === undefined) throw new Error('no control');
    const configuration = (own: RedisNode, at: { readonly host: string; readonly port: number }, changes: Changes) =>
      configurationOf(
        {
          store: { kind: 'standalone', nodes: [{ host: own.host, port: own.port }] },
          engine: { host: at.host, port: at.port },
        },
        changes,
      );
    return {
      services,
      control,
      store,
      engineProxy,
      queries: queriesOf(goods.documents, options.searches),
      startServices: async (changes, { capacity, empty }) => {
        await Promise.all(services.map((service) => service.stop()));
        await clearEngine(engineProxy);
        if (empty) await store.command('FLUSHALL');
        engineProxy.set({ capacity: capacity.slots, delayMs: capacity.delayMs, multiply: 1, fail: undefined });
        engineProxy.resetCounts();
        const config = configuration(store, engineProxy, changes);
        await Promise.all(services.map((service) => service.start(config)));
        await Promise.all(services.map(waitUntilReady));
      },
      startControl: async (changes) => {
        await controlStore.command('FLUSHALL');
        await control.start(configuration(controlStore, engine, changes));
        await waitUntilReady(control);
      },
      stop: resources.stop,
    };
  });
}

/** Ends abandoned searches, which would otherwise occupy the engine for minutes. */
async function clearEngine(engineProxy: EngineProxy): Promise<void> {
  engineProxy.resume();
  engineProxy.maxedOut(false);
  await engineProxy.refuse(false);
  engineProxy.cut();
  await until('an engine at rest', async () => {
    const { atEngine, waiting } = engineProxy.counts();
    return atEngine + waiting === 0;
  });
}

/** The state of each search in each tier, as reported by `/admin/explain`. */
type TierStates = Readonly<Record<'l1' | 'l2', ReadonlyMap<string, string>>>;

const AT_ONCE = 8;

/** `/admin/explain` does not count as an access and asks no engine. */
export async function tierStatesOf({ adminUrl }: ServiceProcess, texts: readonly string[]): Promise<TierStates> {
  const found = { l1: new Map<string, string>(), l2: new Map<string, string>() };
  const rest = texts.values();
  const worker = async (): Promise<void> => {
    for (const text of rest) {
      const response = await fetch(`${adminUrl}/admin/explain?q=${encodeURIComponent(text)}`);
      const { tiers } = (await response.json()) as { tiers: readonly { tier: 'l1' | 'l2'; state: string }[] };
      for (const { tier, state } of tiers) found[tier].set(text, state);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return found;
}

/** Searches whose entry may be served, at least as a fallback. */
export function servableIn(tier: ReadonlyMap<string, string>): ReadonlySet<string> {
  return inState(tier, ['fresh', 'stale', 'failing']);
}

/** Searches whose entry is fresh. */
export function freshIn(tier: ReadonlyMap<string, string>): ReadonlySet<string> {
  return inState(tier, ['fresh']);
}

function inState(tier: ReadonlyMap<string, string>, states: readonly string[]): ReadonlySet<string> {
  return new Set([...tier].filter(([, state]) => states.includes(state)).map(([text]) => text));
}

/** State of the guard of the domain. */
export interface GuardState {
  readonly breaker: string;
  readonly overloaded: boolean;
  /** The current concurrency limit. */
  readonly maxConcurrent: number;
}

export async function guardStateOf({ adminUrl }: ServiceProcess): Promise<GuardState> {
  const response = await fetch(`${adminUrl}/admin/domains`);
  const { domains } = (await response.json()) as { domains: readonly { engine: GuardState }[] };
  const [domain] = domains;
  if (domain === undefined) throw new Error('a process without a domain');
  return domain.engine;
}

import { join } from 'node:path';
import { type EngineProxy, startEngineProxy } from '../../../loadtest/proxy/engine-proxy.ts';
import { type RedisStack, startCluster, startStandalone, until } from '../../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import { startSearchd } from '../../../loadtest/stack/sphinx.ts';
import { type Queries, queriesOf } from '../../../loadtest/traffic/queries.ts';
import { buildWithResources, sampleGoods, waitUntilReady } from '../harness.ts';
import { type Changes, configurationOf, INDEX, type ServiceProcess } from '../service.ts';

/** Several serpcache processes over one store cluster and one engine, whose searches a proxy counts. */
export interface Fleet {
  readonly services: readonly ServiceProcess[];
  readonly store: RedisStack;
  readonly engineProxy: EngineProxy;
  /** Searches, by rank. */
  readonly texts: readonly string[];
  readonly configuration: (changes: Changes) => string;
  /** Every node runs, the cluster is whole and holds nothing. */
  readonly emptyStore: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface FleetOptions {
  readonly checkout: string;
  readonly processes: number;
  readonly searches: number;
}

/**
 * A fleet whose engine can do so much and no more: a proxy before searchd gives it places and makes each search last, so
 * that it is slow without taking any CPU from those who ask. The control has a store of its own and asks searchd directly.
 */
export interface LimitedFleet {
  readonly services: readonly ServiceProcess[];
  readonly control: ServiceProcess;
  /** Of the services. */
  readonly store: RedisNode;
  readonly engineProxy: EngineProxy;
  readonly queries: Queries;
  /** Ends the services and what they left at the engine, sets its width, and starts them: on what is stored, or on nothing. */
  readonly startServices: (
    changes: Changes,
    options: { readonly width: EngineCapacity; readonly empty: boolean },
  ) => Promise<void>;
  readonly startControl: (changes: Changes) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Of the engine: searches at once, and how much longer each lasts than searchd takes for it. */
export interface EngineCapacity {
  readonly slots: number;
  readonly delayMs: number;
}

export interface LimitedFleetOptions {
  readonly checkout: string;
  readonly services: number;
  /** Searches that come again. */
  readonly searches: number;
  readonly documents?: number;
}

export const perSecondOf = ({ slots: places, delayMs }: EngineCapacity): number => (places * 1000) / delayMs;

const FLEET_DOCUMENTS = 2000;
/** More than all processes together may hold, also while each still takes itself for the only one. */
const FLEET_ENGINE_CONNECTIONS = 512;

export function startFleet({ checkout, processes, searches }: FleetOptions): Promise<Fleet> {
  return buildWithResources('fleet', async (ground) => {
    const goods = sampleGoods(FLEET_DOCUMENTS);
    const engine = ground.keep(
      await startSearchd({
        directory: join(ground.directory, 'engine'),
        from: { domains: [{ ...goods, index: INDEX }] },
        maxConnections: FLEET_ENGINE_CONNECTIONS,
      }),
    );
    const engineProxy = ground.keep(await startEngineProxy({ target: { host: engine.host, port: engine.port } }));
    const store = ground.keep(await startCluster({ flavour: 'redis', masters: 3 }));
    const names = Array.from({ length: processes }, (_, at) => `serpcache-${at + 1}`);
    const services = await ground.services(names, { checkout });
    return {
      services,
      store,
      engineProxy,
      texts: queriesOf(goods.documents, searches).repeated,
      configuration: (changes) =>
        configurationOf(
          {
            store: { kind: 'cluster', nodes: store.nodes.map(({ host, port }) => ({ host, port })) },
            engine: { host: engineProxy.host, port: engineProxy.port },
          },
          changes,
        ),
      emptyStore: async () => {
        await until('a store that is whole and empty', async () => {
          for (const node of store.nodes) {
            if (!String(await node.command('CLUSTER', 'INFO')).includes('cluster_state:ok')) return false;
            await node.command('FLUSHALL');
          }
          return true;
        });
      },
      stop: ground.stop,
    };
  });
}

/** As many as a process without limits opens. */
const ENGINE_CONNECTIONS = 700;
const DOCUMENTS = 3000;

export function startLimitedFleet(options: LimitedFleetOptions): Promise<LimitedFleet> {
  return buildWithResources('narrow', async (ground) => {
    const { keep } = ground;
    const startStore = async (): Promise<RedisNode> => {
      const [node] = keep(await startStandalone({ flavour: 'redis' })).nodes;
      if (node === undefined) throw new Error('a store without a node');
      return node;
    };
    const goods = sampleGoods(options.documents ?? DOCUMENTS);
    const engine = keep(
      await startSearchd({
        directory: join(ground.directory, 'engine'),
        from: { domains: [{ ...goods, index: INDEX }] },
        maxConnections: ENGINE_CONNECTIONS,
      }),
    );
    const engineProxy = keep(await startEngineProxy({ target: { host: engine.host, port: engine.port } }));
    const store = await startStore();
    const controlStore = await startStore();
    const names = Array.from({ length: options.services }, (_, at) => `serpcache-${at + 1}`);
    const [control, ...services] = await ground.services(['control', ...names], options);
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
      startServices: async (changes, { width, empty }) => {
        await Promise.all(services.map((service) => service.stop()));
        await clear(engineProxy);
        if (empty) await store.command('FLUSHALL');
        engineProxy.set({ capacity: width.slots, delayMs: width.delayMs, multiply: 1, fail: undefined });
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
      stop: ground.stop,
    };
  });
}

/** Searches nobody waits for any more would be worked off for minutes. */
async function clear(engineProxy: EngineProxy): Promise<void> {
  engineProxy.resume();
  engineProxy.maxedOut(false);
  await engineProxy.refuse(false);
  engineProxy.cut();
  await until('an engine at rest', async () => {
    const { atEngine, waiting } = engineProxy.counts();
    return atEngine + waiting === 0;
  });
}

/** In which state each of these searches is in a tier, as the process itself explains it. */
export type TierStates = Readonly<Record<'l1' | 'l2', ReadonlyMap<string, string>>>;

const AT_ONCE = 8;

/** Asks `/admin/explain`, which counts as no use and asks no engine. */
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

/** Those that may be served, at least when nothing better can be had. */
export function servableIn(tier: ReadonlyMap<string, string>): ReadonlySet<string> {
  return inState(tier, ['fresh', 'stale', 'failing']);
}

export function freshIn(tier: ReadonlyMap<string, string>): ReadonlySet<string> {
  return inState(tier, ['fresh']);
}

function inState(tier: ReadonlyMap<string, string>, states: readonly string[]): ReadonlySet<string> {
  return new Set([...tier].filter(([, state]) => states.includes(state)).map(([text]) => text));
}

/** What the guard of the domain says of itself. */
export interface GuardState {
  readonly breaker: string;
  readonly overloaded: boolean;
  /** Places now. */
  readonly maxConcurrent: number;
}

export async function guardStateOf({ adminUrl }: ServiceProcess): Promise<GuardState> {
  const response = await fetch(`${adminUrl}/admin/domains`);
  const { domains } = (await response.json()) as { domains: readonly { engine: GuardState }[] };
  const [domain] = domains;
  if (domain === undefined) throw new Error('a process without a domain');
  return domain.engine;
}

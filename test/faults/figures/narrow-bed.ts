import { join } from 'node:path';
import { type EngineProxy, startEngineProxy } from '../../../loadtest/proxy/engine-proxy.ts';
import { startStandalone, until } from '../../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import { startSearchd } from '../../../loadtest/stack/sphinx.ts';
import { type Queries, queriesOf } from '../../../loadtest/traffic/queries.ts';
import { type Changes, configurationOf, INDEX } from '../configuration.ts';
import { isReady, onGround, someGoods } from '../ground.ts';
import type { ServiceProcess } from '../process.ts';

/**
 * A fleet whose engine can do so much and no more: a proxy before searchd gives it places and makes each search last, so
 * that it is slow without taking any CPU from those who ask. The control has a store of its own and asks searchd directly.
 */
export interface NarrowBed {
  readonly services: readonly ServiceProcess[];
  readonly control: ServiceProcess;
  /** Of the services. */
  readonly store: RedisNode;
  readonly engineProxy: EngineProxy;
  readonly queries: Queries;
  /** Ends the services and what they left at the engine, sets its width, and starts them: on what is stored, or on nothing. */
  readonly startServices: (
    changes: Changes,
    options: { readonly width: Width; readonly empty: boolean },
  ) => Promise<void>;
  readonly startControl: (changes: Changes) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Of the engine: searches at once, and how much longer each lasts than searchd takes for it. */
export interface Width {
  readonly places: number;
  readonly delayMs: number;
}

export const perSecondOf = ({ places, delayMs }: Width): number => (places * 1000) / delayMs;

export interface NarrowBedOptions {
  readonly checkout: string;
  readonly services: number;
  /** Searches that come again. */
  readonly searches: number;
  readonly documents?: number;
}

/** As many as a process without limits opens. */
const ENGINE_CONNECTIONS = 700;
const DOCUMENTS = 3000;

export function startNarrowBed(options: NarrowBedOptions): Promise<NarrowBed> {
  return onGround('narrow', async (ground) => {
    const { keep } = ground;
    const startStore = async (): Promise<RedisNode> => {
      const [node] = keep(await startStandalone({ flavour: 'redis' })).nodes;
      if (node === undefined) throw new Error('a store without a node');
      return node;
    };
    const goods = someGoods(options.documents ?? DOCUMENTS);
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
        engineProxy.set({ capacity: width.places, delayMs: width.delayMs, multiply: 1, fail: undefined });
        engineProxy.resetCounts();
        const config = configuration(store, engineProxy, changes);
        await Promise.all(services.map((service) => service.start(config)));
        await Promise.all(services.map(isReady));
      },
      startControl: async (changes) => {
        await controlStore.command('FLUSHALL');
        await control.start(configuration(controlStore, engine, changes));
        await isReady(control);
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

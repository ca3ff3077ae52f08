import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EngineProxy, startEngineProxy } from '../../../loadtest/proxy/engine-proxy.ts';
import { freePorts } from '../../../loadtest/stack/process.ts';
import { startStandalone, until } from '../../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import { startSearchd } from '../../../loadtest/stack/sphinx.ts';
import { DEMO_DOMAINS, demoDocuments } from '../../../src/catalogue/demo.ts';
import { type Changes, configurationOf, INDEX } from '../configuration.ts';
import { createServiceProcess, type ServiceProcess } from '../process.ts';
import { type Queries, queriesOf } from '../queries.ts';

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

export async function startNarrowBed(options: NarrowBedOptions): Promise<NarrowBed> {
  const directory = mkdtempSync(join(tmpdir(), 'serpcache-narrow-'));
  const cleanUp: (() => Promise<void>)[] = [async () => rmSync(directory, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const end of cleanUp.splice(0).toReversed()) await end().catch(() => undefined);
  };
  const keep = <T extends { readonly stop: () => Promise<void> }>(part: T): T => {
    cleanUp.push(part.stop);
    return part;
  };
  const startStore = async (): Promise<RedisNode> => {
    const [node] = keep(await startStandalone({ flavour: 'redis' })).nodes;
    if (node === undefined) throw new Error('a store without a node');
    return node;
  };
  try {
    const domain = DEMO_DOMAINS.find(({ name }) => name === 'goods');
    if (domain === undefined) throw new Error('the demo has no goods');
    const documents = [...demoDocuments('goods')].slice(0, options.documents ?? DOCUMENTS);
    const engine = keep(
      await startSearchd({
        directory: join(directory, 'engine'),
        from: { domains: [{ domain: { ...domain, answerProfile: '' }, index: INDEX, documents }] },
        maxConnections: ENGINE_CONNECTIONS,
      }),
    );
    const engineProxy = keep(await startEngineProxy({ target: { host: engine.host, port: engine.port } }));
    const store = await startStore();
    const controlStore = await startStore();
    const ports = await freePorts(2 * options.services + 2);
    const [control, ...services] = Array.from({ length: options.services + 1 }, (_, at) =>
      keep(
        createServiceProcess({
          name: at === 0 ? 'control' : `serpcache ${at}`,
          directory: join(directory, `serpcache-${at}`),
          ports: [ports[2 * at] ?? 0, ports[2 * at + 1] ?? 0],
          checkout: options.checkout,
          nodeOptions: '',
        }),
      ),
    );
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
      queries: queriesOf(documents, options.searches),
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
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
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

async function isReady({ url }: ServiceProcess): Promise<void> {
  const answers = async (): Promise<boolean> => (await (await fetch(`${url}/readyz`)).text()).includes('"ready"');
  await until(`${url} to be ready`, answers, 20_000);
}

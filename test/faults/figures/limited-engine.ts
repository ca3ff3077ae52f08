import { join } from 'node:path';
import { type EngineProxy, startEngineProxy } from '../../../loadtest/fault-proxy/engine-proxy.ts';
import { createClient } from '../../../loadtest/http-driver/client.ts';
import { openLoop } from '../../../loadtest/http-driver/loops.ts';
import { startStandalone } from '../../../loadtest/stack/redis.ts';
import { sampleGoods, startSearchd } from '../../../loadtest/stack/sphinx.ts';
import { type Queries, queriesOf } from '../../../loadtest/traffic/queries.ts';
import { systemClock } from '../../../src/runtime.ts';
import { until } from '../../until.ts';
import { type Changes, configurationOf, HUNG_MS, INDEX } from '../configuration.ts';
import { buildWithResources, clientHeaders, searchPath, waitUntilReady } from '../harness.ts';
import { percentile } from '../report.ts';
import type { ServiceProcess } from '../service.ts';
import { type ReplyVerdict, verdictOf } from '../verdict.ts';

/**
 * A process whose engine has a limited capacity: a proxy in front of searchd limits the number of concurrent searches and
 * delays each one. So the engine is slow without taking CPU from the clients. The control has its own store and reaches
 * searchd directly.
 */
export interface LimitedEngine {
  readonly service: ServiceProcess;
  readonly control: ServiceProcess;
  readonly engineProxy: EngineProxy;
  readonly queries: Queries;
  /** Stops the process, ends its searches at the engine, empties its store and starts it again. */
  readonly restart: (changes: Changes, capacity: EngineCapacity) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Capacity of the engine: maximum number of concurrent searches, and the delay added to each. */
export interface EngineCapacity {
  readonly slots: number;
  readonly delayMs: number;
}

/** Connections that a process without a concurrency limit opens. */
const ENGINE_CONNECTIONS = 700;

export function startLimitedEngine(checkout: string, documents: number): Promise<LimitedEngine> {
  return buildWithResources('narrow', async ({ directory, keep, services, stop }) => {
    const goods = sampleGoods(documents);
    const engine = keep(
      await startSearchd({
        directory: join(directory, 'engine'),
        from: { domains: [{ ...goods, index: INDEX }] },
        maxConnections: ENGINE_CONNECTIONS,
      }),
    );
    const engineProxy = keep(await startEngineProxy({ target: { host: engine.host, port: engine.port } }));
    const [store, controlStore] = [
      keep(await startStandalone({ flavour: 'redis' })),
      keep(await startStandalone({ flavour: 'redis' })),
    ];
    const [service, control] = await services(['serpcache', 'control'], { checkout });
    if (service === undefined || control === undefined) throw new Error('two processes are wanted');
    const configuration = ({ nodes }: typeof store, { host, port }: { host: string; port: number }, changes: Changes) =>
      configurationOf(
        {
          store: { kind: 'standalone', nodes: nodes.map((node) => ({ host: node.host, port: node.port })) },
          engine: { host, port },
        },
        changes,
      );
    await control.start(configuration(controlStore, engine, { memory: { maxBytes: '64MiB' } }));
    await waitUntilReady(control);
    return {
      service,
      control,
      engineProxy,
      queries: queriesOf(goods.documents, 1),
      restart: async (changes, capacity) => {
        await service.stop();
        await clearEngine(engineProxy);
        for (const node of store.nodes) await node.command('FLUSHALL');
        engineProxy.set({ capacity: capacity.slots, delayMs: capacity.delayMs, multiply: 1, fail: undefined });
        engineProxy.resetCounts();
        await service.start(configuration(store, engineProxy, changes));
        await waitUntilReady(service);
      },
      stop,
    };
  });
}

/** Ends abandoned searches, which would otherwise occupy the engine for minutes. */
async function clearEngine(engineProxy: EngineProxy): Promise<void> {
  engineProxy.cut();
  await until('an engine at rest', async () => {
    const { atEngine, waiting } = engineProxy.counts();
    return atEngine + waiting === 0;
  });
}

/** The current concurrency limit of the domain. */
export async function limitOf({ adminUrl }: ServiceProcess): Promise<number> {
  const response = await fetch(`${adminUrl}/admin/domains`);
  const { domains } = (await response.json()) as { domains: readonly { engine: { maxConcurrent: number } }[] };
  const [domain] = domains;
  if (domain === undefined) throw new Error('a process without a domain');
  return domain.engine.maxConcurrent;
}

/** A search that was never asked before. */
export interface NewSearch {
  readonly text: string;
  /** URL path and query. Default: a search for the text without further parameters. */
  readonly target?: string;
}

/** One search and its result. */
export interface SentSearch extends Required<NewSearch> {
  /** Time since the start of the stream. */
  readonly sentMs: number;
  readonly durationMs: number;
  readonly verdict: ReplyVerdict;
}

interface OpenLoopOptions {
  readonly url: string;
  readonly ratePerSecond: number;
  readonly random: () => number;
  readonly next: () => NewSearch;
  readonly durationMs: number;
}

/** Sends searches without waiting for answers. `lagMs`: p99 lateness of the generator. */
export async function askInOpenLoop({ url, ratePerSecond, random, next, durationMs }: OpenLoopOptions) {
  const client = createClient({ baseUrl: url, patienceMs: HUNG_MS, maxConnections: 4096 });
  const asked: SentSearch[] = [];
  const startMs = systemClock.monotonicMs();
  const sinceStartMs = (): number => systemClock.monotonicMs() - startMs;
  const send = async (arrival: number): Promise<void> => {
    const { text, target = searchPath(text) } = next();
    const sentMs = sinceStartMs();
    const verdict = verdictOf(await client.get(target, clientHeaders(arrival)), text);
    asked.push({ text, target, sentMs, durationMs: sinceStartMs() - sentMs, verdict });
  };
  const loop = openLoop({ ratePerSecond, random, send });
  setTimeout(loop.stop, durationMs);
  await loop.ended;
  client.close();
  return { asked, lagMs: percentile(loop.lagMs(), 0.99) };
}

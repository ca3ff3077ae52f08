import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DEMO_DOMAINS } from '../../src/catalogue/demo.ts';
import type { Change } from '../../src/changes/change.ts';
import { encodeChange } from '../../src/changes/record.ts';
import { createSphinxEngine } from '../../src/engines/sphinx/engine.ts';
import { systemClock } from '../../src/runtime.ts';
import type { Document, SearchDomain } from '../../src/search/domain.ts';
import { createRedisStore } from '../../src/stores/redis/store.ts';
import { startTcpProxy, type TcpProxy } from '../fault-proxy/tcp-proxy.ts';
import { freePort } from '../stack/process.ts';
import { manyGoods, startRealtimeSearchd } from '../stack/realtime.ts';
import { startCluster } from '../stack/redis.ts';
import { startRedisNode } from '../stack/redis-node.ts';
import { declarationOf, startService } from '../stack/service.ts';

export type FreshnessStack = Awaited<ReturnType<typeof startFreshnessStack>>;
export type Replica = Awaited<ReturnType<FreshnessStack['startReplica']>>;

/** How the replicas keep their pages fresh. `changes`: the section of the domain; absent: no feed. */
export interface Variant {
  readonly ttl: string;
  readonly changes?: { readonly onChange: 'stale' | 'miss' };
}

export const REPLICAS = 3;
const INDEX = 'goods';
const ENGINE_LIMIT_MS = 10_000;
const BATCH_BYTES = 60 * 1024;
const SEND_LIMIT_MS = 5000;

/**
 * A searchd with a real-time table, a Redis cluster for pages, a Redis server for the feed with a proxy for each replica, and replicas
 * that are started one by one.
 */
export async function startFreshnessStack(options: {
  readonly directory: string;
  readonly count: number;
  readonly say: (text: string) => void;
}) {
  const { directory, count, say } = options;
  const found = DEMO_DOMAINS.find(({ name }) => name === INDEX);
  if (found === undefined) throw new Error(`the demo has no ${INDEX}`);
  const domain: SearchDomain = { ...found, answerProfile: '' };
  const documents: readonly Document[] = [...manyGoods(count)];
  await using starting = new AsyncDisposableStack();
  say(`filling a real-time table with ${count} documents`);
  const engineServer = await startRealtimeSearchd({
    directory: join(directory, 'searchd'),
    domain,
    index: INDEX,
    documents,
  });
  starting.defer(engineServer.stop);
  const cluster = await startCluster({ flavour: 'redis', masters: 3, directory: join(directory, 'cluster') });
  starting.defer(cluster.stop);
  const controlPort = await freePort();
  const control = await startRedisNode({
    flavour: 'redis',
    port: controlPort,
    directory: join(directory, 'control'),
    config: ['maxmemory 256mb', 'maxmemory-policy noeviction'],
  });
  starting.defer(control.stop);
  const proxies = await Array.fromAsync({ length: REPLICAS }, async (): Promise<TcpProxy> => {
    const proxy = await startTcpProxy({ target: { host: '127.0.0.1', port: controlPort } });
    starting.defer(proxy.stop);
    return proxy;
  });
  const { port } = engineServer.searchd;
  const engine = createSphinxEngine({
    host: '127.0.0.1',
    port,
    domain,
    index: INDEX,
    dialect: 'sphinx',
    ranker: 'proximity_bm25',
    idAttribute: 'doc_id',
    connectTimeoutMs: ENGINE_LIMIT_MS,
    hardDeadlineMs: ENGINE_LIMIT_MS,
    maxConnections: 8,
    maxMatches: 1000,
    snippetLength: 240,
    clock: systemClock,
    random: Math.random,
  });
  starting.defer(engine.close);

  const configurationOf = (at: number, { ttl, changes }: Variant): object => ({
    log: { hitSample: 0 },
    control: { kind: 'standalone', nodes: [`127.0.0.1:${proxies[at]?.port}`] },
    domains: {
      [domain.name]: {
        store: { kind: 'cluster', nodes: cluster.nodes.map(({ address }) => address) },
        engine: { kind: 'sphinx', host: '127.0.0.1', port, index: INDEX, idAttribute: 'doc_id', maxConcurrent: 8 },
        freshness: { ttl, emptyTtl: ttl, staleWhileRevalidate: changes === undefined ? '0s' : '1m', jitter: 0 },
        ...(changes && { changes: { ...changes, audit: 0 } }),
        ...declarationOf(domain),
      },
    },
  });
  const startReplica = async (at: number, variant: Variant, nodeOptions: readonly string[] = []) => {
    const own = join(directory, `replica-${at + 1}`);
    mkdirSync(own, { recursive: true });
    const configuration = configurationOf(at, variant);
    const service = await startService({ name: 'serpcache', directory: own, configuration, nodeOptions });
    const { pid, url, admin, stop } = service;
    return { at, pid, url, admin, stop, logFile: join(own, 'serpcache.log') };
  };
  const feed = createRedisStore({
    settings: {
      kind: 'standalone',
      nodes: [{ host: '127.0.0.1', port: controlPort }],
      database: 0,
      deadlineMs: SEND_LIMIT_MS,
      socketTimeoutMs: 30_000,
      connectTimeoutMs: 2000,
      maxOutstanding: 1024,
      batchSize: 128,
      refreshMs: 15_000,
      dedicated: false,
    },
    name: domain.name,
    clock: systemClock,
    random: Math.random,
    observe: () => undefined,
  });
  starting.defer(feed.close);
  const append = async (records: readonly Buffer[]): Promise<void> => {
    const added = await feed.changes.append(domain.name, { bytes: Buffer.concat(records), afterMs: 0 }, SEND_LIMIT_MS);
    if (added.kind !== 'appended') throw new Error(`the feed does not take changes: ${JSON.stringify(added)}`);
  };
  const started = starting.move();
  return {
    domain,
    documents,
    engine,
    writer: engineServer.writer,
    cluster,
    control,
    /** Of the feed, in the control store. */
    streamName: `sc1:${domain.name}:{control:${domain.name}}:changes`,
    /** Between each replica and the feed. */
    proxies,
    startReplica,
    /** Gives changes to the feed, in batches. */
    sendChanges: async (changes: readonly Change[]): Promise<void> => {
      let records: Buffer[] = [];
      let bytes = 0;
      for (const change of changes) {
        const record = encodeChange(change, domain);
        if (bytes + record.length > BATCH_BYTES) {
          await append(records);
          [records, bytes] = [[], 0];
        }
        records.push(record);
        bytes += record.length;
      }
      if (records.length > 0) await append(records);
    },
    /** Removes every page and the feed. */
    clear: async (): Promise<void> => {
      for (const node of [...cluster.nodes, control]) await node.command('FLUSHALL');
    },
    stop: () => started.disposeAsync(),
  };
}

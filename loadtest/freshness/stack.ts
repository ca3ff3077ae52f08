import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEMO_DOMAINS } from '../../src/catalogue/demo.ts';
import type { Change } from '../../src/changes/change.ts';
import { createSphinxEngine } from '../../src/engines/sphinx/engine.ts';
import { systemClock } from '../../src/runtime.ts';
import type { Document, SearchDomain } from '../../src/search/domain.ts';
import { startTcpProxy, type TcpProxy } from '../fault-proxy/tcp-proxy.ts';
import { freePort } from '../stack/process.ts';
import { manyGoods, startRealtimeSearchd } from '../stack/realtime.ts';
import { startCluster } from '../stack/redis.ts';
import { startRedisNode } from '../stack/redis-node.ts';
import { declarationOf, startService } from '../stack/service.ts';

export type FreshnessStack = Awaited<ReturnType<typeof startFreshnessStack>>;

type Service = Awaited<ReturnType<typeof startService>>;
export interface Replica extends Service {
  readonly logFile: string;
}

/** How the replicas keep their pages fresh. `changes`: the section of the domain; absent: no feed. */
export interface Variant {
  readonly ttl: string;
  readonly changes?: { readonly onChange: 'stale' | 'miss' };
}

export const REPLICAS = 3;
const INDEX = 'goods';
const ENGINE_LIMIT_MS = 10_000;
/** A replica that does not answer in this time is passed over: the next one takes the changes. */
const SEND_LIMIT_MS = 3000;
const SEND_ATTEMPTS = 60;
const SEND_PAUSE_MS = 500;

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
  const startReplica = async (at: number, variant: Variant, nodeOptions: readonly string[] = []): Promise<Replica> => {
    const own = join(directory, `replica-${at + 1}`);
    mkdirSync(own, { recursive: true });
    const configuration = configurationOf(at, variant);
    const service = await startService({ name: 'serpcache', directory: own, configuration, nodeOptions });
    const replica = { ...service, logFile: join(own, 'serpcache.log') };
    takers.delete(at);
    if (variant.changes !== undefined) takers.set(at, replica);
    return replica;
  };
  /** The replica of each place that takes changes; none where the variant has no feed. */
  const takers = new Map<number, Replica>();
  const sendTo = async ({ env }: Replica, body: string): Promise<boolean> => {
    const response = await fetch(`http://127.0.0.1:${env.ADMIN_PORT}/admin/changes?domain=${domain.name}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${env.ADMIN_TOKEN}`, 'content-type': 'application/x-ndjson' },
      body,
      signal: AbortSignal.timeout(SEND_LIMIT_MS),
    }).catch(() => undefined);
    if (response === undefined || response.status >= 500) return false;
    const answer = await response.text();
    if (response.status === 202 && JSON.parse(answer).refusedCount === 0) return true;
    throw new Error(`the feed refuses changes: ${response.status} ${answer}`);
  };
  let turn = 0;
  const started = starting.move();
  return {
    domain,
    documents,
    engine,
    writer: engineServer.writer,
    cluster,
    control,
    /** The stream of the feed, in the control store. */
    streamName: `sc1:${domain.name}:{control:${domain.name}}:changes`,
    /** Between each replica and the feed. */
    proxies,
    startReplica,
    /**
     * Gives at most 10,000 changes to a replica, each call to the next one. A call that is not taken is made again, as an indexer does:
     * changes that are sent twice do no harm. @throws when no replica takes them
     */
    sendChanges: async (changes: readonly Change[]): Promise<void> => {
      const body = changes.map((change) => JSON.stringify(change)).join('\n');
      for (let attempt = 1; takers.size > 0; attempt += 1) {
        turn += 1;
        const taker = [...takers.values()][turn % takers.size];
        if (taker !== undefined && (await sendTo(taker, body))) return;
        if (attempt === SEND_ATTEMPTS) throw new Error('no replica takes changes');
        if (attempt % takers.size === 0) await sleep(SEND_PAUSE_MS);
      }
    },
    /** Removes every page and the feed. */
    clear: async (): Promise<void> => {
      for (const node of [...cluster.nodes, control]) await node.command('FLUSHALL');
    },
    stop: () => started.disposeAsync(),
  };
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/runtime.ts';
import { createClient, outcomeOf } from '../http-driver/client.ts';
import { parseMetrics, type Series } from '../k6/kit/metrics-text.ts';
import { createStoreAsker, type StoreSample } from '../sample/store.ts';
import { installParts } from '../stack/parts.ts';
import { startCluster, startStandalone } from '../stack/redis.ts';
import { declarationOf, startService } from '../stack/service.ts';
import { sampleGoods, startSearchd } from '../stack/sphinx.ts';
import { queriesOf } from '../traffic/queries.ts';
import { say } from './rehearse.ts';

/** The settings that the plan is given, too. Pages live shortly, so that a run sees many lives. */
export const SETTINGS = {
  processes: 2,
  shards: 3,
  permits: 4,
  ttlMs: 20_000,
  keptMs: 60_000,
  memoryBytes: 64 * 2 ** 20,
};

export type PlanStack = Awaited<ReturnType<typeof startPlanStack>>;

const DOCUMENTS = 6000;
const PATIENCE_MS = 5000;
const ASK_MS = 1000;

/** Counters of the whole fleet since its start, and levels now. */
export type Reading = Awaited<ReturnType<PlanStack['read']>>;

/** Two processes, a Redis cluster of three, a control store and searchd on free ports of loopback. */
export async function startPlanStack(texts: number) {
  installParts(['redis', 'sphinx']);
  await using parts = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), 'serpcache-plan-'));
  parts.defer(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  const { domain, documents } = sampleGoods(DOCUMENTS);
  say(`a Redis cluster of ${SETTINGS.shards}, a control store, searchd`);
  const [store, control, searchd] = await Promise.all([
    startCluster({ flavour: 'redis', masters: SETTINGS.shards }),
    startStandalone({ flavour: 'redis' }),
    startSearchd({ directory: join(directory, 'searchd'), from: { domains: [{ domain, index: 'goods', documents }] } }),
  ]);
  for (const { stop } of [store, control, searchd]) parts.defer(stop);
  const addresses = ({ nodes }: typeof store): readonly string[] => nodes.map(({ address }) => address);
  const configuration = {
    log: { hitSample: 0 },
    memory: { maxBytes: `${SETTINGS.memoryBytes}B` },
    // The size of an answer is then the size of the stored page.
    compression: { coding: 'identity' },
    control: { kind: 'standalone', nodes: addresses(control) },
    domains: {
      goods: {
        store: { kind: 'cluster', nodes: addresses(store) },
        engine: {
          kind: 'sphinx',
          host: searchd.host,
          port: searchd.port,
          index: 'goods',
          idAttribute: 'doc_id',
          maxConcurrent: SETTINGS.permits,
        },
        freshness: {
          ttl: `${SETTINGS.ttlMs}ms`,
          emptyTtl: `${SETTINGS.ttlMs}ms`,
          staleWhileRevalidate: '0ms',
          staleIfError: `${SETTINGS.keptMs - SETTINGS.ttlMs}ms`,
        },
        ...declarationOf(domain),
      },
    },
  };
  say(`${SETTINGS.processes} processes of serpcache`);
  const processes: Awaited<ReturnType<typeof startAsked>>[] = [];
  for (let at = 0; at < SETTINGS.processes; at += 1) {
    const started = await startAsked(`serpcache-${at + 1}`, directory, configuration);
    parts.defer(started.stop);
    processes.push(started);
  }
  const askers = store.nodes.map(({ host, port }, at) => createStoreAsker({ name: `${at}`, host, port }, systemClock));
  for (const asker of askers) parts.defer(asker.close);
  const started = parts.move();
  return {
    stop: () => started.disposeAsync(),
    processes,
    texts: queriesOf([...documents], texts).repeated,
    read: async () => {
      const [nodes, pages] = await Promise.all([
        Promise.all(askers.map((asker) => asker.ask(ASK_MS))),
        Promise.all(processes.map(({ admin }) => admin.page('/metrics'))),
      ]);
      const series = pages.flatMap(parseMetrics);
      return {
        atMs: performance.now(),
        processorMs: 1000 * sumOf(series, 'process_cpu_seconds_total'),
        residentBytes: sumOf(series, 'process_resident_memory_bytes'),
        searches: sumOf(series, 'serpcache_requests_total'),
        memoryHits: sumOf(series, 'serpcache_requests_total', 'hit-l1'),
        engineCalls: sumOf(series, 'serpcache_engine_calls_total'),
        engineSeconds: sumOf(series, 'serpcache_engine_duration_seconds_sum'),
        memoryEntries: sumOf(series, 'serpcache_tier_entries'),
        memoryBytes: sumOf(series, 'serpcache_tier_bytes'),
        nodes: nodes.filter((node): node is StoreSample => node !== undefined),
      };
    },
    /** Every page is a miss from now on. */
    flush: () =>
      processes[0]?.admin.post('/admin/flush', { domain: 'goods', mode: 'drop', fraction: 1, reason: 'rehearsal' }),
  };
}

async function startAsked(name: string, directory: string, configuration: object) {
  const service = await startService({ name, directory, configuration });
  const client = createClient({
    baseUrl: service.url,
    patienceMs: PATIENCE_MS,
    maxConnections: 256,
    discardsBodies: true,
  });
  return {
    admin: service.admin,
    /** @returns the outcome and the size of the page; undefined when there was no page. */
    ask: async (text: string): Promise<{ readonly outcome: string; readonly bytes: number } | undefined> => {
      const reply = await client.get(`/search?domain=goods&q=${encodeURIComponent(text)}`);
      if (reply.kind !== 'answer' || reply.status !== 200) return undefined;
      return { outcome: outcomeOf(reply) ?? '', bytes: reply.bytes };
    },
    stop: async (): Promise<void> => {
      client.close();
      await service.stop();
    },
  };
}

function sumOf(series: readonly Series[], name: string, outcome?: string): number {
  return series
    .filter((one) => one.name === name && (outcome === undefined || one.labels['outcome'] === outcome))
    .reduce((sum, { value }) => sum + value, 0);
}

/** The differences of two readings, per second where they are rates. */
export function between(before: Reading, after: Reading) {
  const seconds = (after.atMs - before.atMs) / 1000;
  const store = (of: (node: StoreSample) => number): number =>
    after.nodes.reduce((sum, node) => sum + of(node), 0) - before.nodes.reduce((sum, node) => sum + of(node), 0);
  const searches = after.searches - before.searches;
  const engineCalls = after.engineCalls - before.engineCalls;
  return {
    seconds,
    searches,
    engineCalls,
    processorMs: after.processorMs - before.processorMs,
    memoryRatio: (after.memoryHits - before.memoryHits) / searches,
    latencyMs: (1000 * (after.engineSeconds - before.engineSeconds)) / engineCalls,
    commands: store(({ commands }) => commands) / seconds,
    sentBytes: store(({ sentBytes }) => sentBytes) / seconds,
    storeCores: store(({ cpuSeconds }) => cpuSeconds) / seconds,
    usedBytes: store(({ usedBytes }) => usedBytes),
    keys: store(({ keys }) => keys),
  };
}

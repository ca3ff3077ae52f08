import { join } from 'node:path';
import { freePorts } from '../../loadtest/stack/process.ts';
import { startCluster } from '../../loadtest/stack/redis.ts';
import { startRedisNode } from '../../loadtest/stack/redis-node.ts';
import { sampleGoods, startSearchd } from '../../loadtest/stack/sphinx.ts';
import { queriesOf } from '../../loadtest/traffic/queries.ts';
import { buildWithResources, waitUntilReady } from '../faults/harness.ts';
import type { ServiceProcess } from '../faults/service.ts';
import { until } from '../until.ts';
import { createOperator } from './operator-harness.ts';
import { ask } from './service-harness.ts';

export type Fleet = Awaited<ReturnType<typeof startFleet>>;
export type Member = ReturnType<typeof memberOf>;

export async function engineCallsOf(members: readonly Member[]): Promise<number> {
  return (await Promise.all(members.map((member) => member.engineCalls()))).reduce((sum, each) => sum + each, 0);
}

/** A slow machine renews late: an owner that lives must not lose its drill. */
export const LEASE_MS = 4000;
const PATIENT = { deadline: '10s', socketTimeout: '30s' };
const TOKEN = 'a-token-for-a-whole-fleet';
const DOCUMENTS = 2000;
const REPEATED = 80;
const CONCURRENT_SEARCHES = 5;
/** A search with several pages of results. */
export const BROAD = 'диван';

/**
 * Processes with one Redis Cluster, one searchd, and a small store for control documents.
 * @param candidates further candidates beside `valkey`, by name; absent: the domain declares none.
 */
export function startFleet(candidates?: Readonly<Record<string, object>>) {
  return buildWithResources('operate', async ({ directory, keep, services, stop }) => {
    const goods = sampleGoods(DOCUMENTS);
    const [port = 0, candidatePort = 0] = await freePorts(2);
    const cluster = startCluster({ flavour: 'redis', masters: 3 }).then(keep);
    const control = startRedisNode({
      flavour: 'redis',
      port,
      directory: join(directory, 'control'),
      config: ['maxmemory 64mb', 'maxmemory-policy noeviction'],
    }).then(keep);
    const other =
      candidates === undefined
        ? undefined
        : startRedisNode({
            flavour: 'valkey',
            port: candidatePort,
            directory: join(directory, 'candidate'),
            config: [],
          });
    const engine = startSearchd({
      directory: join(directory, 'searchd'),
      from: { domains: [{ domain: goods.domain, index: 'goods', documents: goods.documents }] },
    }).then(keep);
    // Wait for all three: when one fails, `stop` ends the parts that have started.
    await Promise.allSettled([cluster, control, engine, other?.then(keep)]);
    const candidate = await other;
    const [{ nodes }, controlNode, searchd] = await Promise.all([cluster, control, engine]);
    const config = configurationOf(searchd, {
      control: { kind: 'standalone', nodes: [controlNode.address] },
      store: { kind: 'cluster', nodes: nodes.map(({ address }) => address), dedicated: true },
      candidates: candidate && {
        valkey: { kind: 'standalone', nodes: [candidate.address], ...PATIENT },
        ...candidates,
      },
    });
    const checkout = join(import.meta.dirname, '..', '..');
    const all = await services(['one', 'two', 'spare'], { checkout });
    const [first, second, spare] = all.map((service) => memberOf(service, config));
    if (first === undefined || second === undefined || spare === undefined)
      throw new Error('three processes are needed');
    const members = [first, second] as const;
    await Promise.all(members.map((member) => member.start()));
    await Promise.all(members.map(({ service }) => waitUntilReady(service)));
    const { repeated } = queriesOf(goods.documents, REPEATED);
    const texts = repeated.filter((text) => text !== BROAD);
    return {
      members,
      /** Not started yet. */
      spare,
      nodes,
      controlNode,
      /** A Valkey server that every process declares as the candidate `valkey`; absent unless it was asked for. */
      candidate,
      texts,
      stop,
    };
  });
}

interface Stores {
  readonly store: object;
  readonly control?: object;
  readonly candidates?: object;
}

/** The configuration of a process with the domain `goods`, for a busy machine. */
export function configurationOf(
  searchd: { readonly host: string; readonly port: number },
  { store, control, candidates }: Stores,
): string {
  return JSON.stringify({
    admin: { token: TOKEN },
    // On a busy machine a late event loop does not mean that the process is overloaded.
    public: { drain: '2s', maxLoopDelay: '1m' },
    log: { hitSample: 0 },
    drills: { lease: `${LEASE_MS}ms` },
    control,
    domains: {
      goods: {
        // For the same reason, a late reply does not mean that the store or the engine is slow.
        store: { ...store, ...PATIENT },
        patience: '10s',
        candidates,
        engine: {
          kind: 'sphinx',
          host: searchd.host,
          port: searchd.port,
          index: 'goods',
          idAttribute: 'doc_id',
          deadline: '5s',
          hardDeadline: '10s',
        },
        // No entry expires during the tests: only operators remove entries.
        freshness: { ttl: '1h', emptyTtl: '1h', staleWhileRevalidate: '10m' },
        attributes: {
          category: { type: 'string', facet: true },
          city: { type: 'string', facet: true },
          price: { type: 'integer', sort: true },
        },
      },
    },
  });
}

export function memberOf(service: ServiceProcess, config: string) {
  return {
    service,
    operator: createOperator({ adminUrl: service.adminUrl, token: TOKEN }),
    /** Starts it again; resolves when it accepts connections. */
    start: () => service.start(config),
    /** @throws when it is refused */
    page: async (text: string, more = ''): Promise<{ readonly total: number; readonly ids: readonly string[] }> => {
      const { status, body } = await ask(service, text, more);
      if (status !== 200) throw new Error(`${text}: ${body}`);
      const { total, results } = JSON.parse(body) as { total: number; results: readonly { id: string }[] };
      return { total, ids: results.map(({ id }) => id) };
    },
    /** The `Cache-Status` of one search; the problem when it is refused. */
    cacheStatusOf: async (text: string, more = ''): Promise<string> => {
      const { status, cacheStatus, body } = await ask(service, text, more);
      return status === 200 ? cacheStatus : body;
    },
    /** Since its start. */
    engineCalls: (): Promise<number> => service.metric('serpcache_engine_calls_total'),
  };
}

/** Fills L1 of each process and L2. @param more parameters that make keys of their own. */
export async function fillCaches(members: readonly Member[], texts: readonly string[], more: string): Promise<void> {
  for (const { cacheStatusOf } of members) {
    // A few at a time, so that the traffic is not shed.
    for (let from = 0; from < texts.length; from += CONCURRENT_SEARCHES) {
      const some = texts.slice(from, from + CONCURRENT_SEARCHES);
      await Promise.all(
        some.map((text) => until(`${text} to be cached`, async () => isHit(await cacheStatusOf(text, more)))),
      );
    }
  }
}

/** Searches each text once in each process. @returns the cache statuses that are not hits. */
export async function missStatuses(
  members: readonly Member[],
  texts: readonly string[],
  more: string,
): Promise<readonly string[]> {
  const statuses = members.flatMap(({ cacheStatusOf }) => texts.map((text) => cacheStatusOf(text, more)));
  return (await Promise.all(statuses)).filter((status) => !isHit(status));
}

/** A hit of either tier with a fresh page. */
export function isHit(cacheStatus: string): boolean {
  return /; hit; ttl=\d/.test(cacheStatus);
}

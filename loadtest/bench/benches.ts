import { resolve } from 'node:path';
import { searchDomainOf } from '../../src/engines/create-engines.ts';
import { prepareSearch } from '../../src/search/key.ts';
import { startCluster, startStandalone } from '../stack/redis.ts';
import { fillDocument } from './full-document.ts';
import type { Server, Servers, Service, ServiceOptions } from './servers.ts';

/** Both servers of one start, and the targets of the requests to them. */
export interface Started {
  readonly serpcache: Server;
  readonly bare: Server;
  readonly targets: readonly string[];
}

export interface Bench {
  readonly title: string;
  readonly baseline: string;
  /** The outcome that nearly all measured requests must have. */
  readonly outcome: string;
  /** The smallest share of them; with less, something else was measured. */
  readonly leastShare: number;
  /** Starts the parts that all starts share. @returns a start of both servers, which the caller closes. */
  readonly prepare: (servers: Servers) => Promise<(servers: Servers) => Promise<Started>>;
}

const PAGE_BYTES = 4096;
/** Far more entries than the smallest L1 holds, so that nearly every request is an L2 hit. */
const STORE_QUERIES = 4000;

const L1_HIT = { title: 'L1 hit', outcome: 'hit-l1', leastShare: 0.99 } as const;
const L2_HIT = { title: 'L2 hit', outcome: 'hit-l2', leastShare: 0.95 } as const;

const IN_MEMORY = { store: 'store: { kind: none }', memory: '64MiB' } as const;

export const BENCHES: Readonly<Record<string, Bench>> = {
  l1: {
    ...L1_HIT,
    baseline: 'bare node:http',
    prepare: async () => async (servers) => {
      const serpcache = await servers.startService({ ...IN_MEMORY, name: 'l1' });
      const target = await pageOfSize(serpcache.url, PAGE_BYTES);
      const bare = await servers.startBare(await fetchPage(serpcache.url + target));
      return { serpcache, bare, targets: [target] };
    },
  },
  control: {
    ...L1_HIT,
    title: 'L1 hit, following a full control document',
    baseline: 'the same without a document',
    prepare: async () => startFollowing,
  },
  l2: { ...L2_HIT, baseline: 'node:http + ioredis', prepare: prepareStore },
  page: {
    ...L1_HIT,
    title: 'search page of 20 results, out of memory',
    baseline: 'the same answer as JSON from bare node:http',
    prepare: async () => async (servers) => {
      const serpcache = await servers.startService({ ...IN_MEMORY, name: 'page' });
      const question = `?q=${encodeURIComponent('кроссовки')}`;
      const bare = await servers.startBare(await fetchPage(`${serpcache.url}/search${question}`));
      return { serpcache, bare, targets: [`/${question}`] };
    },
  },
  signing: { ...L2_HIT, title: 'L2 hit, with a signing key', baseline: 'the same without', prepare: prepareSigned },
};

/** The same service twice: the first follows a control document of the maximum size, the second follows none. */
async function startFollowing(servers: Servers): Promise<Started> {
  const [node] = (await servers.startStores(startStandalone({ flavour: 'redis' }))).nodes;
  if (node === undefined) throw new Error('a stack without a server');
  const more = `control: { kind: standalone, nodes: ["${node.host}:${node.port}"] }\n`;
  const serpcache = await servers.startService({ ...IN_MEMORY, name: 'following', more });
  const bare = await servers.startService({ ...IN_MEMORY, name: 'alone' });
  const target = await pageOfSize(serpcache.url, PAGE_BYTES);
  await fetchPage(bare.url + target);
  await fillDocument('goods', node, preparedBy(serpcache)(target).bucket);
  return { serpcache, bare, targets: [target] };
}

/** The store of all starts. The first start fills it; the others find everything there and begin with an empty L1. */
async function sharedStore(shared: Servers, kind: 'cluster' | 'standalone') {
  const flavour = 'redis';
  const starting = kind === 'cluster' ? startCluster({ flavour, masters: 3 }) : startStandalone({ flavour });
  const nodes = (await shared.startStores(starting)).nodes.map(({ host, port }) => ({ host, port }));
  const list = nodes.map(({ host, port }) => `"${host}:${port}"`).join(', ');
  let targets: readonly string[] | undefined;
  return {
    nodes,
    options: { store: `store: { kind: ${kind}, nodes: [${list}], deadline: 1s }`, memory: '1MiB' },
    filledBy: async (server: Server): Promise<readonly string[]> => {
      targets ??= await fillStore(server);
      return targets;
    },
  };
}

async function prepareStore(shared: Servers): Promise<(servers: Servers) => Promise<Started>> {
  const { nodes, options, filledBy } = await sharedStore(shared, 'cluster');
  return async (servers) => {
    const serpcache = await servers.startService({ ...options, name: 'l2' });
    const targets = await filledBy(serpcache);
    const prepared = preparedBy(serpcache);
    const nameOf = Object.fromEntries(targets.map((target) => [target, prepared(target).storeName]));
    const page = await fetchPage(serpcache.url + targets[0]);
    const bare = await servers.startBare({ ...page, store: { nodes, nameOf } });
    return { serpcache, bare, targets };
  };
}

/** The same service twice over the same signed entries: the first verifies signatures, the second does not read them. */
async function prepareSigned(shared: Servers): Promise<(servers: Servers) => Promise<Started>> {
  const { options, filledBy } = await sharedStore(shared, 'standalone');
  const more = `signing: { key: ${'k'.repeat(64)} }\n`;
  return async (servers) => {
    const serpcache = await servers.startService({ ...options, name: 'signed', more });
    const bare = await servers.startService({ ...options, name: 'unsigned' });
    return { serpcache, bare, targets: await filledBy(serpcache) };
  };
}

/** The key of a target, as this service computes it. */
function preparedBy({ settings }: Service) {
  const domains = settings.domains.map(searchDomainOf);
  return (target: string) => {
    const pairs = [...new URLSearchParams(target.slice(target.indexOf('?')))];
    return prepareSearch({ pairs }, domains);
  };
}

/** Stores one page under many keys: each search has another upper bound that no price reaches. */
async function fillStore({ url }: Server): Promise<readonly string[]> {
  const page = await pageOfSize(url, PAGE_BYTES);
  const targets = Array.from({ length: STORE_QUERIES }, (_, at) => `${page}&filter=price:..${90_000_000 + at}`);
  for (const target of targets) await fetchPage(url + target);
  return targets;
}

/** The search whose page comes nearest to the wanted size. */
async function pageOfSize(baseUrl: string, wantedBytes: number): Promise<string> {
  const sized: { target: string; off: number }[] = [];
  for (let limit = 4; limit <= 24; limit += 1) {
    const target = `/search?q=${encodeURIComponent('кроссовки')}&limit=${limit}&facet=city`;
    const { body } = await fetchPage(baseUrl + target);
    sized.push({ target, off: Math.abs(Buffer.byteLength(body) - wantedBytes) });
  }
  return sized.sort((a, b) => a.off - b.off)[0]?.target ?? '';
}

async function fetchPage(url: string): Promise<{ headers: Record<string, string>; body: string }> {
  const response = await fetch(url, { headers: { 'accept-encoding': 'identity' } });
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${body}`);
  const headers = Object.fromEntries(response.headers);
  for (const own of ['date', 'connection', 'keep-alive', 'content-length']) delete headers[own];
  return { headers, body };
}

/**
 * The benches `l1` and `l2` with another version of the service in the place of the bare server.
 * @param first, second checkouts; undefined is this one.
 */
export function versionBenches(first: string | undefined, second: string): Readonly<Record<'l1' | 'l2', Bench>> {
  const both = async (servers: Servers, same: Pick<ServiceOptions, 'store' | 'memory'>) => ({
    serpcache: await servers.startService({ ...same, name: 'first', ...(first && { checkout: resolve(first) }) }),
    bare: await servers.startService({ ...same, name: 'second', checkout: resolve(second) }),
  });
  const baseline = 'the other checkout';
  return {
    l1: {
      ...L1_HIT,
      baseline,
      prepare: async () => async (servers) => {
        const { serpcache, bare } = await both(servers, IN_MEMORY);
        const target = await pageOfSize(serpcache.url, PAGE_BYTES);
        // The same warm-up for both: the search for a page of this size is part of what V8 optimises for.
        await pageOfSize(bare.url, PAGE_BYTES);
        return { serpcache, bare, targets: [target] };
      },
    },
    l2: {
      ...L2_HIT,
      baseline,
      prepare: async (shared) => {
        const { options, filledBy } = await sharedStore(shared, 'standalone');
        return async (servers) => {
          const started = await both(servers, options);
          return { ...started, targets: await filledBy(started.serpcache) };
        };
      },
    },
  };
}

import { searchDomainOf } from '../../src/engines/create-engines.ts';
import { prepareSearch } from '../../src/search/key.ts';
import { startCluster, startStandalone } from '../stack/redis.ts';
import { fillDocument } from './full-document.ts';
import { fetchPage, pageOfSize } from './page.ts';
import type { Room, Server } from './room.ts';

/** Both servers of one start, and what they are asked for. */
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
  /** Starts in `room` the parts that all starts share. @returns a start of both servers, in a room of its own. */
  readonly prepare: (room: Room) => Promise<(room: Room) => Promise<Started>>;
}

export const PAGE_BYTES = 4096;
/** Far more entries than the smallest L1 holds, so that nearly every request is an L2 hit. */
export const STORE_QUERIES = 4000;

export const BENCHES: Readonly<Record<string, Bench>> = {
  l1: {
    title: 'L1 hit',
    baseline: 'bare node:http',
    outcome: 'hit-l1',
    leastShare: 0.99,
    prepare: async () => async (room) => {
      const serpcache = await room.startService({ name: 'l1', store: 'store: { kind: none }', memory: '64MiB' });
      const target = await pageOfSize(serpcache.url, PAGE_BYTES);
      const bare = await room.startBare(await fetchPage(serpcache.url + target));
      return { serpcache, bare, targets: [target] };
    },
  },
  control: {
    title: 'L1 hit, following a full control document',
    baseline: 'the same without a document',
    outcome: 'hit-l1',
    leastShare: 0.99,
    prepare: async () => startFollowing,
  },
  l2: {
    title: 'L2 hit',
    baseline: 'node:http + ioredis',
    outcome: 'hit-l2',
    leastShare: 0.95,
    prepare: prepareStore,
  },
  page: {
    title: 'search page of 20 results, out of memory',
    baseline: 'the same answer as JSON from bare node:http',
    outcome: 'hit-l1',
    leastShare: 0.99,
    prepare: async () => async (room) => {
      const serpcache = await room.startService({ name: 'page', store: 'store: { kind: none }', memory: '64MiB' });
      const question = `?q=${encodeURIComponent('кроссовки')}`;
      const bare = await room.startBare(await fetchPage(`${serpcache.url}/search${question}`));
      return { serpcache, bare, targets: [`/${question}`] };
    },
  },
  signing: {
    title: 'L2 hit, with a signing key',
    baseline: 'the same without',
    outcome: 'hit-l2',
    leastShare: 0.95,
    prepare: prepareSigned,
  },
};

/** The same service twice: the one follows a document as full as it may be in a store, the other nothing. */
async function startFollowing(room: Room): Promise<Started> {
  const { nodes } = await room.startStores(startStandalone({ flavour: 'redis' }));
  const [node] = nodes;
  if (node === undefined) throw new Error('a stack without a server');
  const more = `control: { kind: standalone, nodes: ["${node.host}:${node.port}"] }\n`;
  const same = { store: 'store: { kind: none }', memory: '64MiB' };
  const serpcache = await room.startService({ ...same, name: 'following', more });
  const bare = await room.startService({ ...same, name: 'alone' });
  const target = await pageOfSize(serpcache.url, PAGE_BYTES);
  await fetchPage(bare.url + target);
  const pairs = [...new URLSearchParams(target.slice(target.indexOf('?')))];
  const { bucket } = prepareSearch({ pairs }, serpcache.settings.domains.map(searchDomainOf));
  await fillDocument('goods', node, bucket);
  return { serpcache, bare, targets: [target] };
}

/** The first start fills the store; the others find everything there and begin with an empty L1. */
async function prepareStore(shared: Room): Promise<(room: Room) => Promise<Started>> {
  const cluster = await shared.startStores(startCluster({ flavour: 'redis', masters: 3 }));
  const nodes = cluster.nodes.map(({ host, port }) => ({ host, port }));
  const list = nodes.map(({ host, port }) => `"${host}:${port}"`).join(', ');
  const store = `store: { kind: cluster, nodes: [${list}], deadline: 1s }`;
  let targets: readonly string[] = [];
  return async (room) => {
    const serpcache = await room.startService({ name: 'l2', store, memory: '1MiB' });
    if (targets.length === 0) {
      const page = await pageOfSize(serpcache.url, PAGE_BYTES);
      // The same page under many keys: an upper bound nothing reaches.
      targets = Array.from({ length: STORE_QUERIES }, (_, at) => `${page}&filter=price:..${90_000_000 + at}`);
      for (const target of targets) await fetchPage(serpcache.url + target);
    }
    const domains = serpcache.settings.domains.map(searchDomainOf);
    const nameOf = Object.fromEntries(
      targets.map((target) => {
        const pairs = [...new URLSearchParams(target.slice(target.indexOf('?')))];
        return [target, prepareSearch({ pairs }, domains).storeName];
      }),
    );
    const page = await fetchPage(serpcache.url + targets[0]);
    const bare = await room.startBare({ ...page, store: { nodes, nameOf } });
    return { serpcache, bare, targets };
  };
}

/** The same service twice over the same signed entries: one verifies them, the other does not look at signatures. */
async function prepareSigned(shared: Room): Promise<(room: Room) => Promise<Started>> {
  const { nodes } = await shared.startStores(startStandalone({ flavour: 'redis' }));
  const [node] = nodes;
  if (node === undefined) throw new Error('a stack without a server');
  const same = {
    store: `store: { kind: standalone, nodes: ["${node.host}:${node.port}"], deadline: 1s }`,
    memory: '1MiB',
  };
  const more = `signing: { key: ${'k'.repeat(64)} }\n`;
  let targets: readonly string[] = [];
  return async (room) => {
    const serpcache = await room.startService({ ...same, name: 'signed', more });
    const bare = await room.startService({ ...same, name: 'unsigned' });
    if (targets.length === 0) {
      const page = await pageOfSize(serpcache.url, PAGE_BYTES);
      targets = Array.from({ length: STORE_QUERIES }, (_, at) => `${page}&filter=price:..${90_000_000 + at}`);
      for (const target of targets) await fetchPage(serpcache.url + target);
    }
    return { serpcache, bare, targets };
  };
}

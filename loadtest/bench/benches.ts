import { nginxCache, nginxLua } from '../labs/peers/nginx.ts';
import type { Peer } from '../labs/peers/peer.ts';
import { varnish } from '../labs/peers/varnish.ts';
import { PROXY_HEADS } from '../traffic/proxy-heads.ts';
import { createZipf } from '../traffic/zipf.ts';
import { changingPages, QUIET } from './changes.ts';
import type { Load } from './load.ts';
import type { Expected, Started, Subject } from './measure.ts';
import { fetchPage, fillDocument, fillStore, type Page, pageOfSize, preparedBy } from './pages.ts';
import type { Processes, Server, Service, ServiceOptions } from './processes.ts';

/** The ratio that serpcache should reach to the rate of another server of the same starts. */
export interface Goal {
  readonly against: string;
  readonly goal?: number;
  /** Below it the goal is missed; between both it is the floor that is held. */
  readonly floor?: number;
}

export interface Bench extends Expected {
  readonly title: string;
  /** The subject that the committed figure is relative to. */
  readonly baseline: string;
  readonly goals?: readonly Goal[];
  /** Measured only when it is named. */
  readonly byName?: true;
  /** Starts the parts that all starts share. @returns a start of all servers, which the caller closes. */
  readonly prepare: (shared: Processes) => Promise<(processes: Processes) => Promise<Started>>;
}

export const SERPCACHE = 'serpcache';
const BARE = 'bare node:http';
const NET = 'net probe';
const ONE_URL = 'serpcache, l1 in the same process';
const WITH_REDIS = 'node:http + ioredis';
const NGINX = 'nginx proxy_cache';
const LUA = 'nginx-lua + Redis';

const L1_HIT = { outcome: 'hit-l1', leastShare: 0.99 } as const;
const L2_HIT = { outcome: 'hit-l2', leastShare: 0.95 } as const;
// wrk abandons a request on each connection at the end of a round.
const MISS = { outcome: 'engine', leastShare: 0.95 } as const;
/** Far more entries than the smallest L1 holds, so that nearly every request is an L2 hit. */
const STORE_QUERIES = 4000;
const SMALLEST_L1 = '1MiB';

/** As a proxy with a trace sends them. */
const UNIQUE_IDS = { 'X-Request-Id': 'req-{n}', Traceparent: '00-{n}{n}-{n}-01' };
/** As a proxy's pool of connections sends them, from many clients. */
const UNIQUE_CLIENTS = { 'X-Forwarded-For': '{ip}', 'X-Request-Id': 'req-{n}', Cookie: 'session={n}; theme=dark' };

/** 10⁵ pages of 4 KiB, each with about 1.3 KiB of objects. */
const MANY = { urls: 100_000, memory: '768MiB', draws: 131_072, exponent: 1 };

export const BENCHES: Readonly<Record<string, Bench>> = {
  l1: {
    ...L1_HIT,
    title: 'L1 hit',
    baseline: BARE,
    goals: [
      { against: BARE, goal: 1.25, floor: 1.1 },
      { against: NGINX, goal: 1.25, floor: 1 },
    ],
    prepare: onePage({ peers: ['fastify', nginxCache, varnish] }),
  },
  'l1-ids': {
    ...L1_HIT,
    title: 'L1 hit, x-request-id and traceparent unique to each request',
    baseline: BARE,
    goals: [
      { against: NGINX, goal: 1.1 },
      { against: BARE, floor: 1.2 },
    ],
    prepare: onePage({ peers: [nginxCache], headers: UNIQUE_IDS }),
  },
  'l1-304': {
    ...L1_HIT,
    title: 'L1 hit, answered with 304',
    baseline: BARE,
    prepare: onePage({ peers: [nginxCache], isKnown: true }),
  },
  'l1-gzip': {
    ...L1_HIT,
    title: 'L1 hit, the page compressed by gzip',
    baseline: BARE,
    prepare: onePage({ peers: [nginxCache], headers: { 'Accept-Encoding': 'gzip' }, service: { coding: 'gzip' } }),
  },
  'l1-many': {
    ...L1_HIT,
    title: 'L1 hit of 100,000 URLs, drawn by Zipf',
    baseline: ONE_URL,
    goals: [{ against: ONE_URL, goal: 0.9, floor: 0.8 }],
    prepare: manyPages,
  },
  'l1-mixed': {
    ...L1_HIT,
    title: 'L1 hit from a proxy: unique client, id and cookie, 1 % of the requests for /healthz',
    baseline: ONE_URL,
    goals: [{ against: ONE_URL, goal: 0.9, floor: 0.8 }],
    prepare: onePage({ headers: UNIQUE_CLIENTS, others: { target: '/healthz', every: 100 }, isBesideOneUrl: true }),
  },
  'l1-proxy': {
    ...L1_HIT,
    leastLaneShare: 1,
    title: 'L1 hit, heads as proxies, tracing clients, browsers and crawlers send them',
    baseline: ONE_URL,
    // At most 1.15 times the processor time of a hit with a bare head.
    goals: [{ against: ONE_URL, goal: 1 / 1.15, floor: 0.8 }],
    prepare: onePage({ heads: Object.values(PROXY_HEADS), isBesideOneUrl: true }),
  },
  'l1-off': {
    ...L1_HIT,
    title: 'L1 hit, the lane off',
    baseline: BARE,
    goals: [{ against: BARE, goal: 0.8 }],
    prepare: onePage({ service: { more: 'public: { lane: off }\n' } }),
  },
  l2: {
    ...L2_HIT,
    title: 'L2 hit',
    baseline: BARE,
    goals: [
      { against: BARE, goal: 0.86, floor: 0.66 },
      { against: LUA, goal: 1.3, floor: 1 },
    ],
    prepare: storedPages,
  },
  miss: {
    ...MISS,
    title: 'miss, 8 connections, searchd on the other processor',
    baseline: 'node:http + engine',
    prepare: misses,
  },
  msearch: {
    ...L1_HIT,
    title: 'batch of ten L1 hits',
    baseline: BARE,
    prepare: async () => batches,
  },
  control: {
    ...L1_HIT,
    title: 'L1 hit, following a full control document',
    baseline: 'serpcache, without a document',
    prepare: async () => following,
  },
  changes: {
    // The changed documents make some pages stale; on a slow machine these are a larger part of the hits.
    outcome: 'hit-l1',
    leastShare: 0.95,
    // While another server has its turn no page is judged, and then each by thousands of changes at once.
    leadSeconds: 1,
    title: 'L1 hit of 2,000 URLs, following 1,000 changes a second',
    baseline: QUIET,
    // At most 1.05 times the processor time, with that of the changes themselves.
    goals: [{ against: QUIET, goal: 1 / 1.05 }],
    prepare: changingPages,
  },
  page: {
    ...L1_HIT,
    title: 'search page of 20 results, out of memory',
    baseline: 'the same answer as JSON from bare node:http',
    byName: true,
    prepare: async () => async (processes) => {
      const service = await processes.startService({ name: 'page' });
      const question = `?q=${encodeURIComponent('кроссовки')}`;
      const bare = await processes.startNode(planOf('http', await fetchPage(`${service.url}/search${question}`)));
      return startedOf(service, { targets: [`/${question}`] }, { 'the same answer as JSON from bare node:http': bare });
    },
  },
  signing: {
    ...L2_HIT,
    title: 'L2 hit, with a signing key',
    baseline: 'serpcache, without a key',
    byName: true,
    prepare: signedPages,
  },
};

/** The service with this load, then other servers with the same. */
function startedOf(service: Service, load: Load, others: Readonly<Record<string, Server>>): Started {
  const subjects = Object.entries({ [SERPCACHE]: service, ...others }).map(([name, server]) => ({
    name,
    server,
    load,
  }));
  return { service, subjects };
}

const planOf = (kind: 'http' | 'fastify' | 'net', { headers, body }: Page) => ({
  kind,
  headers,
  body: body.toString('base64'),
});

interface OnePageOptions {
  /** Beside the service, bare node:http and the probe. */
  readonly peers?: readonly (Peer | 'fastify')[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly heads?: Load['heads'];
  /** Requests carry the page's own etag. */
  readonly isKnown?: boolean;
  readonly others?: Load['others'];
  readonly service?: Partial<ServiceOptions>;
  /** The service is measured with plain requests, too. */
  readonly isBesideOneUrl?: true;
}

/** One page of 4 KiB out of memory; caches get it from bare node:http. */
function onePage(options: OnePageOptions) {
  const { peers = [], headers = {}, heads, isKnown, others, service: own, isBesideOneUrl } = options;
  return async () =>
    async (processes: Processes): Promise<Started> => {
      const service = await processes.startService({ name: 'service', ...own });
      const target = await pageOfSize(service.url);
      const accepted = headers['Accept-Encoding'];
      const page = await fetchPage(service.url + target, {
        headers: accepted === undefined ? {} : { 'accept-encoding': accepted },
      });
      const sent: Record<string, string> = { ...headers };
      if (isKnown) sent['If-None-Match'] = page.headers['etag'] ?? '';
      const load = { targets: [target], headers: sent, heads, others };
      const bare = await processes.startNode(planOf('http', page));
      const servers: Record<string, Server> = { [NET]: await processes.startNode(planOf('net', page)), [BARE]: bare };
      for (const peer of peers) {
        if (peer === 'fastify') servers['Fastify, a Buffer'] = await processes.startNode(planOf('fastify', page));
        else servers[peer.name] = await processes.startPeer(peer, { origin: bare.url });
      }
      const { subjects } = startedOf(service, load, servers);
      const plain: Subject = { name: ONE_URL, server: service, load: { targets: [target] } };
      return { service, subjects: isBesideOneUrl ? [...subjects, plain] : subjects };
    };
}

/** A Redis of all starts. The first start fills it; the others find everything there and begin with an empty L1. */
async function sharedStore(shared: Processes, fill: Omit<Parameters<typeof fillStore>[1], 'store'>) {
  const node = await shared.startRedis();
  // The stores of tests are small; this one holds the pages of every bench.
  await node.command('CONFIG', 'SET', 'maxmemory', '1gb');
  const store = { host: node.host, port: node.port };
  let targets: readonly string[] | undefined;
  return {
    store,
    option: `store: { kind: standalone, nodes: ["${node.host}:${node.port}"], deadline: 1s }`,
    filledBy: async (service: Service): Promise<readonly string[]> => {
      targets ??= await fillStore(service, { store, ...fill });
      return targets;
    },
  };
}

async function storedPages(shared: Processes) {
  const { store, option, filledBy } = await sharedStore(shared, { count: STORE_QUERIES, withBodies: true });
  return async (processes: Processes): Promise<Started> => {
    const service = await processes.startService({ name: 'service', store: option, memory: SMALLEST_L1 });
    const targets = await filledBy(service);
    const page = await fetchPage(service.url + targets[0]);
    const [plain, reading] = [planOf('http', page), { ...planOf('http', page), store }];
    const bare = await processes.startNode(plain);
    const lua = { origin: bare.url, store, headers: { ...page.headers, 'x-request-id': '$request_id' } };
    return startedOf(
      service,
      { targets },
      {
        'net + ioredis': await processes.startNode({ ...reading, kind: 'net' }),
        [WITH_REDIS]: await processes.startNode(reading),
        [BARE]: bare,
        [LUA]: await processes.startPeer(nginxLua, lua),
      },
    );
  };
}

async function manyPages(shared: Processes) {
  const { option, filledBy } = await sharedStore(shared, { count: MANY.urls });
  const rank = createZipf({ size: MANY.urls, exponent: MANY.exponent });
  return async (processes: Processes): Promise<Started> => {
    const service = await processes.startService({ name: 'service', store: option, memory: MANY.memory });
    const targets = await filledBy(service);
    const drawn = Array.from({ length: MANY.draws }, () => targets[rank(Math.random)] ?? '');
    return {
      service,
      subjects: [
        { name: SERPCACHE, server: service, load: { targets: drawn }, fill: targets },
        { name: ONE_URL, server: service, load: { targets: targets.slice(0, 1) } },
      ],
    };
  };
}

/** Every request has another price, and the same page as result. */
async function missesOf({ url }: Service): Promise<Load> {
  return { targets: [`${await pageOfSize(url)}&filter=price:..{d}`], connections: 8 };
}

async function misses(shared: Processes) {
  const engine = await shared.startSearchd();
  return async (processes: Processes): Promise<Started> => {
    const service = await processes.startService({ name: 'service', engine });
    const load = await missesOf(service);
    return startedOf(service, load, { 'node:http + engine': await processes.startOrigin(engine) });
  };
}

async function batches(processes: Processes): Promise<Started> {
  const service = await processes.startService({ name: 'service' });
  const searches = Array.from({ length: 10 }, (_, at) => ({ q: 'кроссовки', limit: 4, page: at + 1 }));
  const body = JSON.stringify({ searches });
  const page = await fetchPage(`${service.url}/msearch`, { body });
  const bare = await processes.startNode(planOf('http', page));
  return startedOf(service, { targets: ['/msearch'], body }, { [BARE]: bare });
}

/** The same service twice: the first follows a control document of the maximum size, the second follows none. */
async function following(processes: Processes): Promise<Started> {
  const node = await processes.startRedis();
  const more = `control: { kind: standalone, nodes: ["${node.host}:${node.port}"] }\n`;
  const service = await processes.startService({ name: 'following', more });
  const alone = await processes.startService({ name: 'alone' });
  const target = await pageOfSize(service.url);
  await fetchPage(alone.url + target);
  await fillDocument('goods', node, preparedBy(service)(target).bucket);
  return startedOf(service, { targets: [target] }, { 'serpcache, without a document': alone });
}

const KEY = 'k'.repeat(64);

/** The same service twice over the same signed entries: the first verifies signatures, the second does not read them. */
async function signedPages(shared: Processes) {
  const { option, filledBy } = await sharedStore(shared, { count: STORE_QUERIES, signingKey: KEY });
  return async (processes: Processes): Promise<Started> => {
    const same = { store: option, memory: SMALLEST_L1 };
    const service = await processes.startService({ ...same, name: 'signed', more: `signing: { key: ${KEY} }\n` });
    const unsigned = await processes.startService({ ...same, name: 'unsigned' });
    return startedOf(service, { targets: await filledBy(service) }, { 'serpcache, without a key': unsigned });
  };
}

export const OTHER_CHECKOUT = 'the other checkout';

/**
 * The benches with another version of the service in the place of the bare server. Entries are written by the first, so both
 * versions must have their format.
 * @param first, second checkouts; undefined is this one.
 */
export function versionBenches(first: string | undefined, second: string) {
  type Same = Omit<ServiceOptions, 'name'>;
  const bench = (
    expected: Expected,
    title: string,
    start: (
      shared: Processes,
    ) => Promise<{ readonly same: Same; readonly loadOf: (service: Service) => Promise<Load> }>,
  ): Bench => ({
    ...expected,
    title,
    baseline: OTHER_CHECKOUT,
    prepare: async (shared) => {
      const { same, loadOf } = await start(shared);
      return async (processes) => {
        const service = await processes.startService({ ...same, name: 'first', checkout: first });
        const other = await processes.startService({ ...same, name: 'second', checkout: second });
        const load = await loadOf(service);
        // The same warm-up for both: the search for a page of this size is part of what V8 optimises for.
        await loadOf(other);
        return startedOf(service, load, { [OTHER_CHECKOUT]: other });
      };
    },
  });
  return {
    l1: bench(L1_HIT, 'L1 hit', async () => ({
      same: {},
      loadOf: async ({ url }) => ({ targets: [await pageOfSize(url)] }),
    })),
    l2: bench(L2_HIT, 'L2 hit', async (shared) => {
      const { option, filledBy } = await sharedStore(shared, { count: STORE_QUERIES });
      const loadOf = async (service: Service): Promise<Load> => ({ targets: await filledBy(service) });
      return { same: { store: option, memory: SMALLEST_L1 }, loadOf };
    }),
    miss: bench(MISS, 'miss', async (shared) => ({ same: { engine: await shared.startSearchd() }, loadOf: missesOf })),
  };
}

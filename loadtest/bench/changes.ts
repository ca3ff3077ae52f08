import { setTimeout as sleep } from 'node:timers/promises';
import { demoDocuments } from '../../src/catalogue/demo.ts';
import { createChangeLog } from '../../src/changes/log.ts';
import { encodeChange, interestOf } from '../../src/changes/record.ts';
import { searchDomainOf } from '../../src/engines/create-engines.ts';
import type { Document, SearchDomain } from '../../src/search/domain.ts';
import { prepareSearch } from '../../src/search/key.ts';
import { closedLoop } from '../http-driver/loops.ts';
import { openAdapter } from '../labs/experiments/adapter.ts';
import type { RedisNode } from '../stack/redis-node.ts';
import { queriesOf } from '../traffic/queries.ts';
import { processorTime, type Started, type Subject } from './measure.ts';
import { fetchPage } from './pages.ts';
import type { Processes, Server } from './processes.ts';

/**
 * L1 hits of a service that follows 1,000 changes a second. The pages are many, so that a page is asked for about once between two
 * reads of the stream and most hits are judged anew. The changes are ads of the other domains of the demo, whole texts with city
 * and price: they share words with the searches, and enter none of their pages, because a page that is computed again is no hit.
 */

export const QUIET = 'serpcache, no changes come';
export const WITHOUT_FEED = 'serpcache, without a feed';

const CHANGES_PER_SECOND = 1000;
/** The calls of an indexer, a hundred a second. */
const CHANGES_PER_BATCH = 10;
const BATCH_MS = (CHANGES_PER_BATCH / CHANGES_PER_SECOND) * 1000;
const PAGES = 2000;
/** One change in 2,000 is that of a document which the pages may show. */
const SHOWN_EVERY = 2000;
/** A judgement follows a bounded number of changes. */
const JUDGED_AT_ONCE = 500;
const LOG_BYTES = 16 * 2 ** 20;
const [FILLING, MAX_TRIES] = [4, 40];
const IDLE_SECONDS = 3;
const APPEND_DEADLINE_MS = 1000;

export async function changingPages(shared: Processes) {
  const [changing, quiet] = [await shared.startRedis(), await shared.startRedis()];
  const goods = [...demoDocuments('goods')];
  let prepared: ReturnType<typeof prepare> | undefined;
  return async (processes: Processes): Promise<Started> => {
    const start = (name: string, node?: RedisNode) =>
      processes.startService({
        name,
        store: `store: { kind: none }${node === undefined ? '' : '\n    changes: { audit: 0 }'}`,
        // A slow machine is late with 2,000 pages, and a search that is refused is an error of the bench.
        more: `public: { maxLoopDelay: 1m }\n${node === undefined ? '' : `control: { kind: standalone, nodes: ["${node.host}:${node.port}"] }\n`}`,
      });
    const service = await start('changing', changing);
    const [settings] = service.settings.domains;
    if (settings === undefined) throw new Error('a service without a domain');
    prepared ??= prepare(searchDomainOf(settings), goods);
    const { paths, batches } = prepared;
    const others = { [QUIET]: await start('quiet', quiet), [WITHOUT_FEED]: await start('without') };
    const subjects = Object.entries({ serpcache: service, ...others }).map(
      ([name, server]): Subject => ({ name, server, load: { targets: paths } }),
    );
    for (const { server } of subjects) await closedLoop(paths, FILLING, (path) => fetched(server.url + path));
    const feed = startFeed(changing, batches);
    processes.defer(feed.stop);
    await sleep(1000);
    const [own, idle] = await Promise.all([service, others[QUIET]].map(idleMs));
    const note = `${CHANGES_PER_SECOND} changes/s alone take ${own} ms of processor time a second, the service at rest ${idle}`;
    return { service, subjects, note };
  };
}

/** Asks until a page comes: a busy service refuses some of the first searches. @throws after `MAX_TRIES` */
async function fetched(url: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return void (await fetchPage(url));
    } catch (error) {
      if (tries === MAX_TRIES) throw error;
      await sleep(250);
    }
  }
}

/** Processor time of a server without requests, in milliseconds a second. */
async function idleMs(server: Server | undefined): Promise<string> {
  if (server === undefined) return '';
  const before = processorTime(server);
  await sleep(IDLE_SECONDS * 1000);
  return ((processorTime(server) - before) / IDLE_SECONDS).toFixed(1);
}

/** The batches of changes, and searches whose pages none of the ads enters. */
function prepare(domain: SearchDomain, goods: readonly Document[]) {
  const ads = ['auto', 'realty', 'jobs'].flatMap((name) => [...demoDocuments(name)]);
  const recordOf = ({ id, title, description, attributes: { city = '', price = 0 } }: Document): Buffer =>
    encodeChange({ id, op: 'upsert', text: `${title} ${description}`, attributes: { city, price } }, domain);
  const records = ads.map(recordOf);
  let searches = queriesOf(goods, 2 * PAGES).repeated.map((text) => {
    const { request } = prepareSearch({ pairs: [['q', text]] }, [domain]);
    return { text, interest: interestOf(request) };
  });
  const log = createChangeLog({ maxBytes: LOG_BYTES });
  for (let at = 0; at < records.length; at += JUDGED_AT_ONCE) {
    const from = log.head();
    log.append(Buffer.concat(records.slice(at, at + JUDGED_AT_ONCE)), at);
    searches = searches.filter(({ interest }) => log.judge([], from, interest) === undefined);
  }
  if (searches.length < PAGES) throw new Error(`the changes leave only ${searches.length} searches as they were`);
  for (const [at, document] of goods.entries()) if (at % SHOWN_EVERY === 0) records[at] = recordOf(document);
  return {
    paths: searches.slice(0, PAGES).map(({ text }) => `/search?q=${encodeURIComponent(text)}`),
    batches: Array.from({ length: Math.floor(records.length / CHANGES_PER_BATCH) }, (_, at) =>
      Buffer.concat(records.slice(at * CHANGES_PER_BATCH, (at + 1) * CHANGES_PER_BATCH)),
    ),
  };
}

/** Appends a batch every `BATCH_MS`, however late the timers are. */
function startFeed(node: RedisNode, batches: readonly Buffer[]) {
  const store = openAdapter({ target: node, deadlineMs: APPEND_DEADLINE_MS });
  const startedMs = performance.now();
  let [sent, stopped] = [0, false];
  const ended = (async () => {
    while (!stopped) {
      for (; sent < (performance.now() - startedMs) / BATCH_MS; sent += 1) {
        const bytes = batches[sent % batches.length] ?? Buffer.alloc(0);
        await store.changes.append('goods', { bytes, afterMs: 0 }, APPEND_DEADLINE_MS);
      }
      await sleep(BATCH_MS);
    }
    await store.close();
  })();
  return {
    stop: async () => {
      stopped = true;
      await ended;
    },
  };
}

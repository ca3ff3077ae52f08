/**
 * `origin-server.ts <port> <configuration> <ttl seconds>`: the origin behind the HTTP caches. `GET /search?q=…` is a search,
 * its page the same bytes as serpcache's, with caching headers. It queues rather than refuses, so that a stampede costs the
 * searches that the cache lets through, not the ones that the origin refused.
 */
import { createServer } from 'node:http';
import { etagOf } from '../../../src/cache/codec.ts';
import { loadSettings } from '../../../src/config/load.ts';
import { createAdapters, searchDomainOf } from '../../../src/engines/create-engines.ts';
import { parseQueryString } from '../../../src/http/transport/request-target.ts';
import { SearchError } from '../../../src/resilience/search-error.ts';
import { systemClock } from '../../../src/runtime.ts';
import { prepareSearch } from '../../../src/search/key.ts';
import { encodeBody } from '../../../src/search/page.ts';
import { InvalidSearch } from '../../../src/search/query.ts';

/** Several bursts of several hundred. */
const MOST_WAITING = 8192;

const [, , port = '0', file = '', ttlSeconds = '60'] = process.argv;
const [settings] = loadSettings({ env: { SERPCACHE_CONFIG: file }, cwd: process.cwd() }).domains;
if (settings === undefined) throw new Error('a configuration without a domain');
const domain = searchDomainOf(settings);
const given = { clock: systemClock, random: Math.random, observe: () => {} };
const [engine] = await createAdapters(settings.engine, domain, given);
if (engine === undefined) throw new Error('a domain without an engine');

// The limits of one serpcache.
const { maxConcurrent: atOnce, hardDeadlineMs } = settings.engine;
const waiting: (() => void)[] = [];
let running = 0;

/** Runs the work when a slot is free: first in, first out, without a deadline. */
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running < atOnce) running += 1;
  else if (waiting.length < MOST_WAITING) await new Promise<void>((resolve) => waiting.push(resolve));
  else throw new SearchError('engine-overloaded', `${MOST_WAITING} searches wait already`);
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    // The next waiter takes the slot over directly, so that no newcomer can take it.
    if (next === undefined) running -= 1;
    else next();
  }
}

const pageOf = async (target: string): Promise<Buffer> => {
  const at = target.indexOf('?');
  const pairs = parseQueryString(at < 0 ? '' : target.slice(at + 1));
  const { request } = prepareSearch({ pairs }, [domain]);
  // The deadline does not include the time in the queue.
  return inTurn(async () => encodeBody(request, await engine.search(request, AbortSignal.timeout(hardDeadlineMs))));
};

const server = createServer((request, response) => {
  const target = request.url ?? '';
  if (!/^\/search(?:\?|$)/.test(target)) {
    response.writeHead(404).end();
    return;
  }
  pageOf(target).then(
    (body) => {
      response.writeHead(200, {
        'content-type': 'application/json; charset=utf-8',
        'content-length': body.length,
        'cache-control': `public, max-age=${Number(ttlSeconds)}`,
        etag: `"${etagOf(body)}"`,
      });
      response.end(body);
    },
    (error: unknown) => {
      const detail = error instanceof Error ? error.message : String(error);
      response.writeHead(statusOf(error), { 'content-type': 'text/plain' }).end(detail);
    },
  );
});
// Caches keep their connections. Closing an idle one first could lose a request that is on its way.
server.keepAliveTimeout = 300_000;
server.listen({ port: Number(port), host: '127.0.0.1', backlog: 4096 });

function statusOf(error: unknown): number {
  if (error instanceof InvalidSearch) return 400;
  if (error instanceof SearchError) return error.reason === 'engine-timeout' ? 504 : 503;
  return 500;
}

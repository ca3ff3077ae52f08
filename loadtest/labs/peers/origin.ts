import type { RequestListener } from 'node:http';
import { etagOf } from '../../../src/cache/codec.ts';
import { parseQueryString } from '../../../src/http/transport/request-target.ts';
import type { SearchDomain } from '../../../src/search/domain.ts';
import { type Engine, EngineError } from '../../../src/search/engine.ts';
import { prepareSearch } from '../../../src/search/key.ts';
import { encodeBody } from '../../../src/search/page.ts';
import { InvalidSearch } from '../../../src/search/search-error.ts';
import { createTurns } from './turns.ts';

export interface OriginOptions {
  readonly engine: Engine;
  readonly domain: SearchDomain;
  readonly ttlSeconds: number;
  /** Past it a search is given up: 504. Its time in the queue does not count. */
  readonly deadlineMs: number;
  /** Searches at the engine at once; the others wait, first in first out. */
  readonly atOnce: number;
  /** More are answered 503. */
  readonly mostWaiting: number;
}

/**
 * What stands behind a cache that knows no engine: `GET /search?q=…` is a search, its page the same bytes as
 * serpcache's, with the headers by which HTTP caches keep it. It waits rather than refuses, so that a stampede costs what
 * the cache lets through, and not what the origin turned away.
 */
export function createOrigin(options: OriginOptions): RequestListener {
  const { engine, domain, ttlSeconds, deadlineMs } = options;
  const turns = createTurns(options);

  const pageOf = async (target: string): Promise<Buffer> => {
    const at = target.indexOf('?');
    const pairs = parseQueryString(at < 0 ? '' : target.slice(at + 1));
    const { request } = prepareSearch({ pairs }, [domain]);
    return turns.run(async () => encodeBody(request, await engine.search(request, AbortSignal.timeout(deadlineMs))));
  };

  return (request, response) => {
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
          'cache-control': `public, max-age=${ttlSeconds}`,
          etag: `"${etagOf(body)}"`,
        });
        response.end(body);
      },
      (error: unknown) => {
        const detail = error instanceof Error ? error.message : String(error);
        response.writeHead(statusOf(error), { 'content-type': 'text/plain' }).end(detail);
      },
    );
  };
}

function statusOf(error: unknown): number {
  if (error instanceof InvalidSearch) return 400;
  if (error instanceof EngineError) return error.code === 'engine-timeout' ? 504 : 503;
  return 500;
}

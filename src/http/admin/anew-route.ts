import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../runtime.ts';
import type { Search } from '../../search/search.ts';
import { createIdentityBodies } from '../search-api/identity-bodies.ts';
import { PAGE_ANSWERS, PROBLEM_ANSWERS, searchQuerySchema } from '../search-api/schema.ts';
import { createSearchHandler } from '../search-api/search-handler.ts';
import { createDoor } from '../transport/admission.ts';
import type { App } from '../transport/app.ts';
import type { RequestEvent } from '../transport/events.ts';
import { createExchanges } from '../transport/exchange.ts';
import { createNegotiator } from '../transport/negotiate.ts';
import type { RequestLog } from '../transport/request-log.ts';
import { createTargets } from '../transport/request-target.ts';

export interface AnewOptions {
  readonly search: Search;
  /** Gets one event per search. */
  readonly observe: (event: RequestEvent) => void;
  readonly requestLog: RequestLog;
  readonly requestId: (given: string | string[] | undefined) => string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly maxUrlBytes: number;
  /** The largest page any domain may hold, inflated. */
  readonly maxPageBytes: number;
  readonly app: Pick<App, 'drain' | 'held'>;
}

/** A few operators' pages. */
const IDENTITY_BODIES_BYTES = 2 ** 20;

/**
 * `GET /admin/search`: answers as `/search` does, from the engine instead of the cache, and stores the page. It is here
 * because whoever may do this has a token, and a listener that takes tokens must be one that strangers do not reach.
 */
export function registerAnew(routes: FastifyInstance, options: AnewOptions): void {
  const { search, observe, requestLog, requestId, clock, random, maxUrlBytes, maxPageBytes, app } = options;
  const handle = createSearchHandler({
    search,
    door: createDoor({ search }),
    targets: createTargets({ search, maxUrlBytes }),
    exchanges: createExchanges({ observe, requestLog, requestId, clock, random, hangingUp: app.drain.hangingUp }),
    negotiate: createNegotiator(),
    identityBodies: createIdentityBodies({ maxBytes: IDENTITY_BODIES_BYTES, maxPageBytes }),
    held: app.held,
    clientMaxAgeMs: () => 0,
    maxUrlBytes,
    anew: true,
    hangingUp: app.drain.hangingUp,
  });
  routes.route({
    method: 'GET',
    url: '/admin/search',
    config: { spends: true },
    schema: {
      summary: 'One page of results, computed anew',
      description:
        'Takes what `/search` takes and answers as it does, but asks the engine and overwrites the page in both tiers. It costs the engine a search, so it always needs the token.',
      tags: ['state'],
      security: [{ token: [] }],
      querystring: searchQuerySchema(search),
      response: { ...PAGE_ANSWERS, ...PROBLEM_ANSWERS },
    },
    handler: (request, reply) => {
      reply.hijack();
      handle(request.raw, reply.raw);
    },
  });
}

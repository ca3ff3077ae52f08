import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { promised } from '../../runtime.ts';
import type { AppliedRule } from '../../search/canonical.ts';
import type { TierExplanation } from '../../search/explain.ts';
import { domainOf, prepareSearch } from '../../search/key.ts';
import type { Answer } from '../../search/read-path.ts';
import { createTraceRecorder, LIVE_TRACE } from '../../search/trace-recorder.ts';
import type { RequestEvent } from '../events.ts';
import { problemOf } from '../problems.ts';
import { createRequestCounter, outcomeOf, type RequestLog } from '../search-api/exchange.ts';
import { PAGE_ANSWERS, PROBLEM_ANSWERS, searchQuerySchema } from '../search-api/openapi.ts';
import { cacheStatus } from '../search-api/response-headers.ts';
import { createSearchHandler, type SearchHandlerOptions } from '../search-api/search-handler.ts';
import type { App } from '../transport/app.ts';
import { createPageBodies } from '../transport/content-coding.ts';
import { parametersOf } from '../transport/request-target.ts';
import { adminRoutes } from './input.ts';

interface AdminSearchOptions
  extends Pick<SearchHandlerOptions, 'domains' | 'requestLog' | 'requestId' | 'clock' | 'random' | 'maxUrlBytes'> {
  /** Gets one event per search. */
  readonly observe: (event: RequestEvent) => void;
  readonly requestLog: RequestLog;
  /** The largest page that any domain may have, inflated. */
  readonly maxPageBytes: number;
  readonly app: Pick<App, 'drain' | 'buffers'>;
}

/** Enough for the few pages of operators. */
const PAGE_BODIES_BYTES = 2 ** 20;

/** Routes that make, explain and trace one search. */
export function registerSearches(routes: FastifyInstance, options: AdminSearchOptions): void {
  const { domains, clock, random, maxUrlBytes, observe, requestLog, maxPageBytes, app } = options;
  const { get } = adminRoutes(routes, 'state');
  const handle = createSearchHandler({
    ...options,
    clientOf: () => ({ bypass: true }),
    count: createRequestCounter({ observe, requestLog }),
    pageBodies: createPageBodies({ maxBytes: PAGE_BODIES_BYTES, maxPageBytes }),
    buffers: app.buffers,
    noStore: true,
    closesConnections: () => app.drain.closesConnections,
  });
  // Answers like `/search`, but from the engine instead of the cache, and stores the page. The route is on this listener
  // because it needs a token, and clients must not reach a listener that takes tokens.
  routes.route({
    method: 'GET',
    url: '/admin/search',
    config: { callsEngine: true },
    schema: {
      summary: 'One page of results, computed again',
      description:
        'Takes the parameters of `/search` and answers in the same form, but asks the engine and overwrites the page in both tiers. It costs the engine a search, so it always needs the token.',
      tags: ['state'],
      security: [{ token: [] }],
      querystring: searchQuerySchema(domains),
      response: { ...PAGE_ANSWERS, ...PROBLEM_ANSWERS },
    },
    handler: (request, reply) => {
      reply.hijack();
      handle(request.raw, reply.raw);
    },
  });

  get('/admin/explain', {
    summary: 'Why a search is answered as it is, tier by tier',
    describedQuery: searchQuerySchema(domains),
    answer: ExplanationBody,
    handle: async ({ request: { raw, headers } }) => {
      const parameters = parametersOf(raw.url ?? '', headers, maxUrlBytes);
      return domainOf(parameters, domains).explain(parameters);
    },
  });

  // One search as a client would make it, with every stage that it went through. It may ask the engine and store a page, as
  // any search may; it is not counted as a request of a client.
  get('/admin/trace', {
    summary: 'One live search, stage by stage, with its times',
    describedQuery: searchQuerySchema(domains),
    answer: LIVE_TRACE,
    handle: async ({ request: { raw, headers } }) => {
      const prepared = prepareSearch(parametersOf(raw.url ?? '', headers, maxUrlBytes), domains);
      const recorder = createTraceRecorder({ clock, random });
      const span = recorder.begin();
      const ended = await promised<Answer>((done) => prepared.domain.search(prepared, { span }, done)).then(
        (answer) => ({ outcome: answer.outcome, reason: answer.reason, cacheStatus: cacheStatus(answer) }),
        (error: unknown) => {
          const problem = problemOf(error);
          return { outcome: outcomeOf(problem), problem: { code: problem.code, detail: problem.detail } };
        },
      );
      span.end();
      const spans = recorder.spans();
      return {
        domain: prepared.request.domain,
        canonical: prepared.canonical,
        key: prepared.key,
        ...ended,
        durationMs: spans[0]?.durationMs ?? 0,
        spans,
      };
    },
  });
}

/** Members depend on the rule or tier. */
const members = <Of>(description?: string) =>
  Type.Array(Type.Unsafe<Of>(Type.Record(Type.String(), Type.Unknown())), { description });

const ExplanationBody = Type.Object(
  {
    domain: Type.String(),
    rules: members<AppliedRule>('Each canonicalisation rule that changed the text, in order.'),
    ignored: Type.Array(Type.String(), { description: 'Parameters that no domain declares: not part of the key.' }),
    canonical: Type.String(),
    answerProfile: Type.String(),
    key: Type.String(),
    storeName: Type.String(),
    bucket: Type.Integer(),
    slot: Type.Optional(Type.Integer()),
    node: Type.Optional(Type.String()),
    tiers: members<TierExplanation>(),
    lastMiss: Type.Optional(Type.Object({ reason: Type.String(), secondsAgo: Type.Integer() })),
  },
  { description: 'What would happen to this search now, tier by tier. Written for readers: members may change.' },
);

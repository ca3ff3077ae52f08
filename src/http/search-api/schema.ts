import { type TSchema, Type } from 'typebox';
import { OUTCOMES } from '../../search/events.ts';
import type { Search } from '../../search/search.ts';
import { PROBLEMS } from '../transport/problem.ts';

/** The shapes on the wire, as OpenAPI documents them. */

export const MAX_BATCH = 50;

const literals = (values: readonly string[]): TSchema => Type.Enum([...values]);

/** For people and generators; what is valid is judged by `search.prepare`, which knows the domain. */
export function searchQuerySchema(search: Search): TSchema {
  const names = search.domains.map(({ name }) => name);
  return Type.Object({
    q: Type.String({ description: 'What to search for: 1–256 characters after trimming.', examples: ['кроссовки'] }),
    domain: Type.Optional(Type.String({ enum: names, ...(names[0] === undefined ? {} : { default: names[0] }) })),
    page: Type.Optional(Type.Integer({ minimum: 1, default: 1, description: 'page × limit is at most 1000.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
    sort: Type.Optional(
      Type.String({ default: 'relevance', description: '`relevance` or a sortable attribute; `-price` descends.' }),
    ),
    filter: Type.Optional(
      Type.Array(Type.String(), { description: 'Repeatable: `attribute:value,value` or `attribute:10..50`.' }),
    ),
    facet: Type.Optional(Type.Array(Type.String(), { description: 'Repeatable: a facet attribute to count.' })),
    highlight: Type.Optional(Type.Boolean({ default: true, description: 'Mark what matched with `<em>`.' })),
    ...queryContext(search),
  });
}

function queryContext(search: Search): Record<string, TSchema> {
  const context = search.domains.flatMap((domain) =>
    domain.context
      .filter(({ source }) => source === 'query')
      .map(({ name, values }): [string, TSchema] => {
        const description = `Declared by domain ${domain.name}.`;
        return [name, Type.Optional(Type.String({ enum: [...values], default: values[0] ?? '', description }))];
      }),
  );
  return Object.fromEntries(context);
}

const Scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean()]);
const List = Type.Union([Type.String(), Type.Array(Type.String())]);

/** For people and generators, like `searchQuerySchema`: members are judged one by one, each item alone. */
export function batchBodySchema(search: Search): TSchema {
  const item = Type.Object(
    {
      q: Type.Optional(Type.String()),
      domain: Type.Optional(Type.String()),
      page: Type.Optional(Scalar),
      limit: Type.Optional(Scalar),
      sort: Type.Optional(Type.String()),
      filter: Type.Optional(List),
      facet: Type.Optional(List),
      highlight: Type.Optional(Scalar),
      ...queryContext(search),
    },
    {
      additionalProperties: false,
      description: 'The parameters of GET /search, query context included; no other members.',
    },
  );
  return Type.Object(
    { searches: Type.Array(item, { minItems: 1, maxItems: MAX_BATCH }) },
    { additionalProperties: false },
  );
}

/** What must hold before items are looked at: their number. */
export const CountedBatch = Type.Object({
  searches: Type.Array(Type.Unknown(), { minItems: 1, maxItems: MAX_BATCH }),
});

/** What must hold before items are judged, each alone. */
export const BatchEnvelope = Type.Object({
  searches: Type.Array(Type.Record(Type.String(), Type.Unknown())),
});

export const ProblemBody = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: literals(Object.keys(PROBLEMS)),
    parameter: Type.Optional(Type.String({ description: 'What was wrong: a parameter, or a JSON pointer.' })),
  },
  { description: 'RFC 9457, application/problem+json.' },
);

export const PageBody = Type.Object({
  query: Type.String({ description: 'The canonical text that was searched for.' }),
  domain: Type.String(),
  page: Type.Integer(),
  limit: Type.Integer(),
  total: Type.Integer(),
  totalRelation: literals(['eq', 'gte']),
  degraded: Type.Optional(Type.Literal(true)),
  results: Type.Array(
    Type.Object({
      id: Type.String(),
      title: Type.String({ description: 'Plain text.' }),
      snippet: Type.String({ description: 'HTML-escaped; `<em>` is the only markup.' }),
      score: Type.Number(),
      attributes: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()])),
    }),
  ),
  facets: Type.Record(
    Type.String(),
    Type.Array(Type.Object({ value: Type.Union([Type.String(), Type.Number()]), count: Type.Integer() })),
  ),
});

export const BatchAnswer = Type.Object({
  results: Type.Array(
    Type.Object({
      status: Type.Integer({ description: 'What GET /search would have answered.' }),
      outcome: literals(OUTCOMES),
      cacheStatus: Type.Optional(Type.String({ description: 'As the Cache-Status field.' })),
      reason: Type.Optional(Type.String({ description: 'Why the cache missed.' })),
      etag: Type.Optional(Type.String()),
      age: Type.Optional(Type.Integer()),
      body: Type.Optional(PageBody),
      retryAfter: Type.Optional(Type.Integer({ description: 'Seconds, as the Retry-After field.' })),
      problem: Type.Optional(ProblemBody),
    }),
  ),
});

export const HealthBody = Type.Object({ status: Type.Literal('ok') });

export const ReadinessBody = Type.Object({
  status: literals(['ready', 'degraded', 'busy', 'down', 'draining']),
  process: Type.Optional(
    Type.Object(
      {
        state: literals(['ok', 'degraded', 'down']),
        inFlight: Type.Integer(),
        maxInFlight: Type.Integer(),
        loopDelayMs: Type.Integer(),
        maxLoopDelayMs: Type.Integer(),
      },
      { description: 'Searches that memory could not answer, and how late the event loop is.' },
    ),
  ),
  domains: Type.Array(
    Type.Object({
      domain: Type.String(),
      state: literals(['ok', 'degraded', 'down']),
      memory: Type.Object({ entries: Type.Integer(), bytes: Type.Integer(), maxBytes: Type.Integer() }),
      store: Type.Optional(
        Type.Object({
          state: literals(['ok', 'degraded', 'down']),
          nodes: Type.Integer(),
          connected: Type.Integer(),
          breakers: Type.Record(Type.String(), Type.Integer(), { description: 'Nodes by state of their breaker.' }),
        }),
      ),
      engine: Type.Object({
        state: literals(['ok', 'degraded', 'down']),
        kind: Type.String(),
        breaker: literals(['closed', 'open', 'half-open']),
        reachable: Type.Boolean({
          description: 'By a probe of its own, every few seconds; quickly while the breaker is open.',
        }),
        inFlight: Type.Integer(),
        queued: Type.Integer(),
      }),
      control: literals(['ok', 'unheard', 'away', 'corrupt']),
      flights: Type.Integer({ description: 'Distinct searches being computed now.' }),
    }),
  ),
});

/** What OpenAPI says of answers beside their bodies: their fields, and the problems every route may answer with. */

const text = (description: string) => ({ type: 'string', description });

const ANSWER_FIELDS = {
  ETag: text('Of the page in the coding served; send it back in `If-None-Match`.'),
  'Cache-Status': text('What each tier did (RFC 9211), such as `serpcache-l1; hit; ttl=287`.'),
  'Cache-Control': text('What caches downstream may do; `no-store` for a degraded page and a lifeboat answer.'),
  Age: {
    type: 'integer',
    description:
      'Seconds since the engine computed the page. `max-age` − `Age` is how long a cache downstream may keep it.',
  },
  Vary: text('`Accept-Encoding`, and the headers that are declared context of the domain.'),
};

export const PAGE_ANSWERS = {
  200: { ...PageBody, description: 'The page.', headers: ANSWER_FIELDS },
  304: { type: 'null', description: 'The client holds this page: `If-None-Match` names it.', headers: ANSWER_FIELDS },
};

const problemAnswer = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: ProblemBody } },
});

export const PROBLEM_ANSWERS = {
  '4xx': problemAnswer('The request is at fault; `parameter` says where.'),
  '5xx': problemAnswer('The service is at fault.'),
};

const RETRY = { 'Retry-After': { type: 'integer', description: 'Seconds until asking again may help.' } };

export const UNANSWERED_ANSWERS = {
  429: {
    ...problemAnswer('This client has had its share of the engine for now; pages in the cache are still served to it.'),
    headers: RETRY,
  },
  502: { ...problemAnswer('The engine refused the query.'), headers: RETRY },
  503: {
    ...problemAnswer('The engine is overloaded, recovering or cannot be reached, or the process is busy.'),
    headers: RETRY,
  },
  504: { ...problemAnswer('The engine did not answer in time.'), headers: RETRY },
};

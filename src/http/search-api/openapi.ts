import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { oneOf } from '../../schema/fields.ts';
import type { SearchDomain } from '../../search/domain.ts';
import { OUTCOMES } from '../../search/outcome.ts';
import { MAX_BATCH } from '../../search/read-path.ts';
import { PROBLEMS } from '../transport/problem.ts';
import { contentPolicy, OWN_FILES, registerFile } from '../transport/static-file.ts';
import { HEADER_DESCRIPTIONS } from './response-headers.ts';

/** For readers and code generators. `prepareSearch` checks the parameters, because it knows the domain. */
export function searchQuerySchema(domains: readonly SearchDomain[]) {
  const names = domains.map(({ name }) => name);
  return Type.Object({
    q: Type.String({
      description: 'The text to search for: 1–256 characters after trimming.',
      examples: ['кроссовки'],
    }),
    domain: Type.Optional(Type.String({ enum: names, default: names[0] })),
    page: Type.Optional(Type.Integer({ minimum: 1, default: 1, description: 'page × limit is at most 1000.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
    sort: Type.Optional(
      Type.String({ default: 'relevance', description: '`relevance` or a sortable attribute; `-price` descends.' }),
    ),
    filter: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Repeatable: `attribute:value,value` or `attribute:10..50`; in a text `\\,`, `\\\\` and `\\..` escape.',
      }),
    ),
    facet: Type.Optional(Type.Array(Type.String(), { description: 'Repeatable: a facet attribute to count.' })),
    highlight: Type.Optional(Type.Boolean({ default: true, description: 'Mark the words that matched with `<em>`.' })),
    ...queryContext(domains),
  });
}

function queryContext(domains: readonly SearchDomain[]): Record<string, TSchema> {
  const context = domains.flatMap((domain) =>
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

/** For readers and code generators, like `searchQuerySchema`: the handler checks the members of each item. */
export function batchBodySchema(domains: readonly SearchDomain[]): TSchema {
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
      ...queryContext(domains),
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

/** Checked first: the number of items. */
export const CountedBatch = Type.Object({
  searches: Type.Array(Type.Unknown(), { minItems: 1, maxItems: MAX_BATCH }),
});

/** Checked second: every item is an object. The handler then checks each item. */
export const BatchEnvelope = Type.Object({
  searches: Type.Array(Type.Record(Type.String(), Type.Unknown())),
});

const ProblemBody = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: oneOf(Object.keys(PROBLEMS)),
    parameter: Type.Optional(Type.String({ description: 'The wrong part: a parameter, or a JSON pointer.' })),
    refused: Type.Optional(
      Type.Array(Type.Object({ line: Type.Integer(), detail: Type.String() }), { description: 'The wrong lines.' }),
    ),
  },
  { description: 'RFC 9457, application/problem+json.' },
);

/** A Record would describe its members by a pattern of their names, which few generators of clients read. */
const byName = (member: TSchema) => Type.Object({}, { additionalProperties: member });

const AttributeItem = Type.Union([Type.String(), Type.Number()]);

const PageBody = Type.Object({
  query: Type.String({ description: 'The canonical text of the search.' }),
  domain: Type.String(),
  page: Type.Integer(),
  limit: Type.Integer(),
  total: Type.Integer(),
  totalRelation: oneOf(['eq', 'gte']),
  degraded: Type.Optional(Type.Literal(true)),
  results: Type.Array(
    Type.Object({
      id: Type.String(),
      title: Type.String({ description: 'Plain text.' }),
      snippet: Type.String({ description: 'HTML-escaped; `<em>` is the only markup.' }),
      score: Type.Number(),
      attributes: byName(
        Type.Union([AttributeItem, Type.Array(AttributeItem, { description: 'Of an attribute with several values.' })]),
      ),
    }),
  ),
  facets: byName(Type.Array(Type.Object({ value: AttributeItem, count: Type.Integer() }))),
});

export const BatchAnswer = Type.Object({
  results: Type.Array(
    Type.Object({
      status: Type.Integer({ description: 'The status that GET /search would answer with.' }),
      outcome: oneOf(OUTCOMES),
      cacheStatus: Type.Optional(Type.String({ description: 'The value of the Cache-Status header.' })),
      reason: Type.Optional(Type.String({ description: 'Why the cache missed.' })),
      etag: Type.Optional(Type.String()),
      age: Type.Optional(Type.Integer()),
      body: Type.Optional(PageBody),
      retryAfter: Type.Optional(Type.Integer({ description: 'Seconds, as the Retry-After header.' })),
      problem: Type.Optional(ProblemBody),
    }),
  ),
});

export const PAGE_ANSWERS = {
  200: { ...PageBody, description: 'The page.', headers: HEADER_DESCRIPTIONS },
  304: {
    type: 'null',
    description: 'The client has this page already: `If-None-Match` names it.',
    headers: HEADER_DESCRIPTIONS,
  },
};

const problemAnswer = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: ProblemBody } },
});

/** Problems that every route may answer with. */
export const PROBLEM_ANSWERS = {
  '4xx': problemAnswer('The request is wrong; `parameter` names the wrong part.'),
  '5xx': problemAnswer('The service is at fault.'),
};

const RETRY = { 'Retry-After': { type: 'integer', description: 'Seconds after which a retry may succeed.' } };

/** Problems of a search that is not in the cache. */
const UNANSWERED = {
  429: 'The miss budget of this client is used up for now; it still gets pages from the cache.',
  502: 'The engine refused the query.',
  503: 'The engine is overloaded, recovering or cannot be reached, or the process is busy.',
  504: 'The engine did not answer in time.',
};

/** The answers of `/search`. */
export const SEARCH_ANSWERS = {
  ...PAGE_ANSWERS,
  ...Object.fromEntries(
    Object.entries(UNANSWERED).map(([status, description]) => [
      status,
      { ...problemAnswer(description), headers: RETRY },
    ]),
  ),
  ...PROBLEM_ANSWERS,
};

/** Swagger UI uses `data:` images. */
const DOCS_POLICY = contentPolicy({ ...OWN_FILES, 'img-src': "'self' data:", 'font-src': "'self'" });

const DESCRIPTION = '/openapi.json';

const LARGE_FILES = [
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['swagger-ui-standalone-preset.js', 'text/javascript; charset=utf-8'],
  ['swagger-ui.css', 'text/css; charset=utf-8'],
] as const;

/** The API description of a listener at `url`. Must be registered before the routes that it describes. */
export function registerDescription(
  app: FastifyInstance,
  url: string,
  about: NonNullable<FastifyDynamicSwaggerOptions['openapi']>,
  fields: Readonly<Record<string, string>>,
): void {
  app.register(swagger, { openapi: { openapi: '3.1.0', ...about } });
  registerFile(app, url, {
    type: 'application/json; charset=utf-8',
    content: () => JSON.stringify(app.swagger()),
    fields,
  });
}

/** `GET /openapi.json`, and `GET /docs` for readers. Must be registered before the routes that it describes. */
export function registerDocs(app: FastifyInstance, version: string): void {
  const description = 'Search results with two cache tiers in front of a full-text engine.';
  const about = { info: { title: 'serpcache', version, description }, tags: [{ name: 'search' }, { name: 'health' }] };
  registerDescription(app, DESCRIPTION, about, { 'cache-control': 'no-cache' });
  app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: DOCS_POLICY,
    theme: { title: 'serpcache API' },
    // Instead of the plugin's own copy, which is sent uncompressed.
    uiConfig: { urls: [{ name: 'serpcache', url: DESCRIPTION }] },
  });
  // The plugin would send these files uncompressed: two megabytes.
  for (const [name, type] of LARGE_FILES) {
    registerFile(app, `/docs/static/${name}`, {
      type,
      content: () => readFileSync(fileURLToPath(import.meta.resolve(`@fastify/swagger-ui/static/${name}`))),
      fields: { 'cache-control': 'no-cache', 'content-security-policy': DOCS_POLICY },
    });
  }
}

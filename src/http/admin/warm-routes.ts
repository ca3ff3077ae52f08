import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { oneOf } from '../../schema/fields.ts';
import { bodyReader, DomainName, IdParams, routeSchema, strict } from './input.ts';
import type { AdminContext } from './operations.ts';

/** Enough for 500 queries of ordinary length; longer ones are sent in several requests. */
const MAX_QUERIES_BYTES = 2 ** 20;
const Params = IdParams('The id of a warm-up.');
const StopBody = Type.Object({}, strict);

/** Routes that fill a cache in the background. */
export function registerWarm(app: FastifyInstance, { operations, audit }: AdminContext): void {
  const { warm } = operations;
  const askOf = bodyReader(WarmAskBody);
  const feedOf = bodyReader(FeedBody);
  const stopOf = bodyReader(StopBody);

  app.post('/admin/warm', {
    config: { action: 'warm-start' },
    schema: routeSchema({
      summary: 'Start a warm-up',
      description: 'Runs in the process that answers; one per domain at a time.',
      tag: 'warm-up',
      body: WarmAskBody,
      answer: WarmUpBody,
      status: 201,
    }),
    handler: async (request, reply) => {
      const ask = askOf(request.body);
      // Called for its refusal of an unknown domain.
      operations.domain(ask.domain);
      const warmUp = warm.start(ask);
      audit.changed(request, { after: { warmUp: warmUp.id, from: ask.from, maxPerSecond: ask.maxPerSecond } });
      return reply.code(201).send(warmUp);
    },
  });

  app.get('/admin/warm', {
    schema: routeSchema({
      summary: 'Warm-ups of this process',
      tag: 'warm-up',
      answer: Type.Object({ warmUps: Type.Array(WarmUpBody) }),
    }),
    handler: (_request, reply) => {
      reply.send({ warmUps: warm.list() });
    },
  });

  app.post('/admin/warm/:id/queries', {
    bodyLimit: MAX_QUERIES_BYTES,
    config: { action: 'warm-feed' },
    schema: routeSchema({
      summary: 'More queries for a warm-up',
      description: 'Takes the queries that there is room for and answers with their number; send the rest later.',
      tag: 'warm-up',
      params: Params,
      body: FeedBody,
      answer: Type.Object({ taken: Type.Integer(), warmUp: WarmUpBody }),
    }),
    handler: async (request, reply) => {
      const { queries, last } = feedOf(request.body);
      const fed = warm.feed(idOf(request), queries, last);
      audit.changed(request, { domain: fed.warmUp.domain, after: { warmUp: fed.warmUp.id, taken: fed.taken, last } });
      return reply.send(fed);
    },
  });

  app.post('/admin/warm/:id/stop', {
    config: { action: 'warm-stop' },
    schema: routeSchema({
      summary: 'Stop a warm-up',
      description: 'The body may be left out.',
      tag: 'warm-up',
      params: Params,
      body: StopBody,
      answer: WarmUpBody,
    }),
    handler: async (request, reply) => {
      stopOf(request.body);
      const warmUp = warm.stop(idOf(request));
      audit.changed(request, { domain: warmUp.domain, after: { warmUp: warmUp.id, settled: warmUp.settled } });
      return reply.send(warmUp);
    },
  });
}

function idOf({ params }: FastifyRequest): string {
  return typeof params === 'object' && params !== null && 'id' in params ? String(params.id) : '';
}

const From = oneOf(['popular', 'queries'], '`queries`: they are sent afterwards, in several requests.');

const WarmAskBody = Type.Object(
  {
    domain: DomainName,
    from: From,
    maxPerSecond: Type.Number({
      minimum: 1,
      maximum: 10_000,
      description: 'Engine calls a second at most: 1 to 10 000. Less while the engine has less to spare.',
    }),
    top: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000, description: 'With `popular`: how many of them, from 1 to 10,000.' }),
    ),
  },
  strict,
);

const MAX_QUERIES = 500;

const FeedBody = Type.Object(
  {
    queries: Type.Array(Type.String({ maxLength: 2048, description: 'At most 2048 characters.' }), {
      maxItems: MAX_QUERIES,
      description: `At most ${MAX_QUERIES}: a text, or a query string such as \`q=…&filter=…\`.`,
    }),
    last: Type.Boolean({ description: 'No more will come.' }),
  },
  strict,
);

const WarmUpBody = Type.Object({
  id: Type.String(),
  domain: Type.String(),
  from: From,
  state: oneOf(['running', 'waiting', 'done', 'stopped']),
  taken: Type.Integer(),
  settled: Type.Integer(),
  cached: Type.Integer(),
  computed: Type.Integer(),
  invalid: Type.Integer(),
  failed: Type.Integer(),
  seconds: Type.Number(),
});

import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { WARM_REQUEST, WARM_UP } from '../../operations/warm/warm.ts';
import { type AdminContext, adminRoutes, strict } from './input.ts';

/** Enough for 500 queries of ordinary length; longer ones are sent in several requests. */
const MAX_QUERIES_BYTES = 2 ** 20;
const MAX_QUERIES = 500;
const WARM_UP_ID = { description: 'The id of a warm-up.' };

/** Routes that fill a cache in the background. */
export function registerWarm(app: FastifyInstance, { operations, audit }: AdminContext): void {
  const { warm } = operations;
  const { get, post } = adminRoutes(app, 'warm-up', audit);

  post('/admin/warm', {
    action: 'warm-start',
    summary: 'Start a warm-up',
    description: 'Runs in the process that answers; one per domain at a time.',
    body: WARM_REQUEST,
    answer: WARM_UP,
    status: 201,
    handle: ({ body, changed }) => {
      // Called for its refusal of an unknown domain.
      operations.domain(body.domain);
      const warmUp = warm.start(body);
      changed({ after: { warmUp: warmUp.id, from: body.from, maxPerSecond: body.maxPerSecond } });
      return warmUp;
    },
  });

  get('/admin/warm', {
    summary: 'Warm-ups of this process',
    answer: Type.Object({ warmUps: Type.Array(WARM_UP) }),
    handle: () => ({ warmUps: warm.list() }),
  });

  post('/admin/warm/:id/queries', {
    bodyLimit: MAX_QUERIES_BYTES,
    action: 'warm-feed',
    summary: 'More queries for a warm-up',
    description: 'Takes the queries that there is room for and answers with their number; send the rest later.',
    id: WARM_UP_ID,
    body: FeedBody,
    answer: Type.Object({ taken: Type.Integer(), warmUp: WARM_UP }),
    handle: ({ id, body: { queries, last }, changed }) => {
      const fed = warm.feed(id, queries, last);
      changed({ domain: fed.warmUp.domain, after: { warmUp: fed.warmUp.id, taken: fed.taken, last } });
      return fed;
    },
  });

  post('/admin/warm/:id/stop', {
    action: 'warm-stop',
    summary: 'Stop a warm-up',
    description: 'The body may be left out.',
    id: WARM_UP_ID,
    body: Type.Object({}, strict),
    answer: WARM_UP,
    handle: ({ id, changed }) => {
      const warmUp = warm.stop(id);
      changed({ domain: warmUp.domain, after: { warmUp: warmUp.id, settled: warmUp.settled } });
      return warmUp;
    },
  });
}

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

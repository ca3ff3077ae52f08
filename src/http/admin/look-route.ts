import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { AdminContext } from './context.ts';
import { described } from './described.ts';
import { Domain } from './fields.ts';
import { queriedDomain, queryOf } from './query.ts';
import { DomainsBody } from './state-schema.ts';

const MAX_POPULAR = 1000;

const PopularQuery = Type.Object({
  domain: Domain,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_POPULAR, default: 100 })),
});

/** The state of each domain, and what it is asked for most. */
export function registerLook(app: FastifyInstance, { operations }: AdminContext): void {
  app.get('/admin/domains', {
    schema: described({ summary: 'The state of each part of each domain', tag: 'state', answer: DomainsBody }),
    handler: (_request, reply) => {
      const looks = operations.watch().look();
      reply.send({ domains: looks.map(({ status, control }) => ({ ...status, control })) });
    },
  });

  app.get('/admin/popular', {
    schema: described({
      summary: 'What is asked most, most first',
      tag: 'state',
      query: PopularQuery,
      answer: Type.Object({
        domain: Type.String(),
        source: Type.Enum(['fleet', 'process'], { description: 'Whose requests were counted.' }),
        queries: Type.Array(
          Type.Object({
            search: Type.String({ description: 'The query string of a search.' }),
            count: Type.Number(),
          }),
        ),
      }),
    }),
    handler: async (request, reply) => {
      const query = queryOf(request, PopularQuery);
      const domain = query.text('domain');
      const limit = query.count('limit', { min: 1, max: MAX_POPULAR, otherwise: 100 });
      return reply.send({ domain, ...(await queriedDomain(operations, domain).popular(limit)) });
    },
  });
}

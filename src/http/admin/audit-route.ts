import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Audit } from '../../audit/audit.ts';
import { described } from './described.ts';
import { AtMs } from './fields.ts';
import { queryOf } from './query.ts';

const MAX_ENTRIES = 1000;

const AuditQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ENTRIES, default: 100 })),
});

const Entry = Type.Object({
  atMs: AtMs,
  action: Type.String({ description: 'Of a refused request that names none: its method and path.' }),
  domain: Type.Optional(Type.String()),
  target: Type.Optional(Type.String({ description: 'The drill or warm-up that the request named.' })),
  by: Type.String(),
  reason: Type.Optional(Type.String()),
  result: Type.String({ description: '`done`, the code it was refused with, or `cut-off` by the client.' }),
  before: Type.Optional(Type.Unknown()),
  after: Type.Optional(Type.Unknown()),
});

/** What was asked for and what came of it, as far as it is on this process's disk. */
export function registerAudit(app: FastifyInstance, audit: Pick<Audit, 'newest'>): void {
  app.get('/admin/audit', {
    schema: described({
      summary: 'The newest lines of the audit, newest first',
      tag: 'audit',
      query: AuditQuery,
      answer: Type.Object({ entries: Type.Array(Entry) }),
    }),
    handler: async (request, reply) => {
      const query = queryOf(request, AuditQuery);
      const limit = query.count('limit', { min: 1, max: MAX_ENTRIES, otherwise: 100 });
      return reply.send({ entries: await audit.newest(limit) });
    },
  });
}

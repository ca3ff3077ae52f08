import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Audit } from '../../audit/audit.ts';
import { Refusal } from '../problem.ts';
import { described } from './described.ts';
import { AtMs } from './fields.ts';
import { queryOf } from './query.ts';

const MAX_ENTRIES = 1000;
/** What an audit gives as `next`, as far as a client may know it. */
const CURSOR = /^[0-9a-f]{12}-[0-9]{1,15}$/;

const AuditQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ENTRIES, default: 100 })),
  before: Type.Optional(
    Type.String({ pattern: CURSOR.source, description: '`next` of the page before. Without it: the newest lines.' }),
  ),
});

const Entry = Type.Object({
  atMs: AtMs,
  action: Type.String({ description: 'Of a refused request that names none: its method and path.' }),
  domain: Type.Optional(Type.String()),
  target: Type.Optional(Type.String({ description: 'The drill or warm-up that the request named.' })),
  by: Type.String({ description: 'A name and an address; without the right token the address alone.' }),
  reason: Type.Optional(Type.String()),
  result: Type.String({
    description:
      '`done`, the code it was refused with, `cut-off` by the client, or `held-back`: refusals without a line of their own.',
  }),
  heldBack: Type.Optional(
    Type.Integer({
      description: 'Refusals for lack of the token from the same address before this line, which got no line.',
    }),
  ),
  before: Type.Optional(Type.Unknown()),
  after: Type.Optional(Type.Unknown()),
});

/** What was asked for and what came of it, as far as it is on this process's disk. */
export function registerAudit(app: FastifyInstance, audit: Pick<Audit, 'page'>): void {
  app.get('/admin/audit', {
    schema: described({
      summary: 'Lines of the audit, newest first',
      description:
        'Pages go back through all files that are kept. Lines written meanwhile move none of the older pages.',
      tag: 'audit',
      query: AuditQuery,
      answer: Type.Object({
        entries: Type.Array(Entry),
        next: Type.Optional(
          Type.String({
            description:
              'Ask for what is older with `before` set to it. Absent: there is nothing older. A page may be short or empty all the same.',
          }),
        ),
      }),
    }),
    handler: async (request, reply) => {
      const query = queryOf(request, AuditQuery);
      const limit = query.count('limit', { min: 1, max: MAX_ENTRIES, otherwise: 100 });
      const before = query.optional('before');
      const isCursor = before === undefined || CURSOR.test(before);
      const page = isCursor ? await audit.page({ limit, ...(before === undefined ? {} : { before }) }) : undefined;
      if (page === undefined)
        throw new Refusal({ code: 'invalid-request', detail: UNKNOWN_CURSOR, parameter: 'before' });
      return reply.send(page);
    },
  });
}

const UNKNOWN_CURSOR =
  'The parameter before is the next of a page before, and its file must still be kept. Begin anew without it.';

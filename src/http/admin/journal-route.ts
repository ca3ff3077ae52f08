import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { contentPolicy, documentFields, INLINE_STYLES } from '../security-headers.ts';
import { sendCompressed } from '../static-file.ts';
import type { AdminContext } from './context.ts';
import { described } from './described.ts';
import { drillId } from './drill-id.ts';
import { JournalBody } from './drill-schema.ts';
import { queryOf } from './query.ts';

/** The sandbox gives the report an origin of its own. */
const REPORT_FIELDS = documentFields(contentPolicy({ ...INLINE_STYLES, sandbox: '' }));

const SamplesQuery = Type.Object({
  samples: Type.Optional(
    Type.Integer({
      minimum: 0,
      default: 0,
      description: 'Leaves out so many of the first samples: those seen before.',
    }),
  ),
});

/** What a drill has written down so far: as JSON for machines, as a page for people. */
export function registerJournals(app: FastifyInstance, { operations: { drills } }: AdminContext): void {
  app.get('/admin/drills/:id', {
    schema: described({
      summary: 'The journal of a drill',
      tag: 'drills',
      params: drillId.IdParams,
      query: SamplesQuery,
      answer: JournalBody,
    }),
    handler: async (request, reply) => {
      const query = queryOf(request, SamplesQuery);
      const from = query.count('samples', { min: 0, max: 1_000_000, otherwise: 0 });
      const journal = await drills.journal(drillId.of(request));
      return reply.send({ ...journal, samples: journal.samples.slice(from) });
    },
  });

  app.get('/admin/drills/:id/report', {
    schema: described({
      summary: 'The report of a drill, one page that needs nothing from elsewhere',
      tag: 'drills',
      params: drillId.IdParams,
      answer: Type.String(),
      type: 'text/html',
    }),
    handler: async (request, reply) => {
      const page = await drills.page(drillId.of(request));
      return sendCompressed(request, reply.headers({ ...REPORT_FIELDS, vary: 'Accept-Encoding' }), page);
    },
  });
}

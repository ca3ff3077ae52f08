import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { AdminContext } from './context.ts';
import { described } from './described.ts';
import { drillId } from './drill-id.ts';
import { JournalBody } from './drill-schema.ts';
import { queryOf } from './query.ts';

/** The report has styles of its own and asks for nothing; framed or not, it is nobody's origin. */
const REPORT_POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  'sandbox',
].join('; ');

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
      return reply
        .headers({
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': REPORT_POLICY,
          'referrer-policy': 'no-referrer',
        })
        .send(page);
    },
  });
}

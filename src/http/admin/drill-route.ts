import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { bodyReader } from './body.ts';
import { callerName, callerOf } from './caller.ts';
import type { AdminContext } from './context.ts';
import { closed, described } from './described.ts';
import { drillId } from './drill-id.ts';
import { DrillPreviewBody, JournalBody, PreviewAsk, PreviewAskBody, StartAsk, StartAskBody } from './drill-schema.ts';
import { OptionalReason, Reason } from './fields.ts';
import { PlanBody } from './plan-schema.ts';
import { DrillSummaryBody, UnreadableReportBody } from './state-schema.ts';

const ReasonBody = Type.Object({ reason: Reason }, closed);
const AbortBody = Type.Object({ reason: OptionalReason }, closed);
const { IdParams } = drillId;

/** Plans, and drills from their dry run to their end; what they have written is in journal-route.ts. */
export function registerDrills(app: FastifyInstance, { operations: { drills }, desk }: AdminContext): void {
  const previewOf = bodyReader(PreviewAsk);
  const startOf = bodyReader(StartAsk);
  const reasonOf = bodyReader(ReasonBody);
  const abortOf = bodyReader(AbortBody);

  app.get('/admin/plans', {
    schema: described({
      summary: 'The ready-made plans',
      tag: 'drills',
      answer: Type.Object({ plans: Type.Array(PlanBody) }),
    }),
    handler: (_request, reply) => {
      reply.send({ plans: drills.plans() });
    },
  });

  app.post('/admin/drills/preview', {
    config: { action: 'drill-preview', looks: true },
    schema: described({
      summary: 'What each stage of a drill would flush and cost, without doing it',
      tag: 'drills',
      body: PreviewAskBody,
      answer: DrillPreviewBody,
    }),
    handler: async (request, reply) => {
      const preview = await drills.preview(previewOf(request.body));
      return reply.send(preview);
    },
  });

  app.post('/admin/drills', {
    config: { action: 'drill-start' },
    schema: described({
      summary: 'Start a drill',
      description: 'Answers when it has begun with its baseline; it goes on by itself.',
      tag: 'drills',
      body: StartAskBody,
      answer: JournalBody,
      status: 201,
    }),
    handler: async (request, reply) => {
      const ask = startOf(request.body);
      const journal = await drills.start({ ...ask, ...callerOf(request, ask.reason) });
      desk.changed(request, begunNote(journal));
      return reply.code(201).header('location', `/admin/drills/${journal.id}`).send(journal);
    },
  });

  app.get('/admin/drills', {
    schema: described({
      summary: 'Drills that run or have left a report, newest first',
      tag: 'drills',
      answer: Type.Object({ drills: Type.Array(DrillSummaryBody), unreadable: Type.Array(UnreadableReportBody) }),
    }),
    handler: async (_request, reply) => {
      const listed = await drills.list();
      return reply.send({ drills: listed, unreadable: drills.unreadable() });
    },
  });

  app.post('/admin/drills/:id/abort', {
    config: { action: 'drill-abort' },
    schema: described({
      summary: 'End a drill and restore the cache, whoever runs it',
      description: 'Answers when the cache is restored. The body may be left out.',
      tag: 'drills',
      params: IdParams,
      body: AbortBody,
      answer: Type.Object({ id: Type.String() }),
    }),
    handler: async (request, reply) => {
      const id = drillId.of(request);
      const { reason = '' } = abortOf(request.body);
      await drills.abort(id, { by: callerName(request.raw), reason: reason.trim() });
      desk.changed(request, { after: { drill: id } });
      return reply.send({ id });
    },
  });

  app.post('/admin/drills/:id/resume', {
    config: { action: 'drill-resume' },
    schema: described({
      summary: 'Go on with a stopped drill from the stage that was not finished',
      tag: 'drills',
      params: IdParams,
      body: ReasonBody,
      answer: JournalBody,
      status: 201,
    }),
    handler: async (request, reply) => {
      const id = drillId.of(request);
      const journal = await drills.resume(id, callerOf(request, reasonOf(request.body).reason));
      desk.changed(request, begunNote(journal));
      return reply.code(201).header('location', `/admin/drills/${journal.id}`).send(journal);
    },
  });
}

function begunNote(journal: {
  readonly id: string;
  readonly plan: { readonly name: string };
  readonly domains: readonly string[];
  readonly resumes?: string;
}) {
  const { id, plan, domains, resumes } = journal;
  const [domain] = domains;
  return {
    ...(domains.length === 1 && domain !== undefined ? { domain } : {}),
    after: { drill: id, plan: plan.name, domains, ...(resumes === undefined ? {} : { resumes }) },
  };
}

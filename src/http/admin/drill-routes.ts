import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { JOURNAL, JOURNAL_PLAN } from '../../operations/drills/journal.ts';
import { sendReport } from '../transport/static-file.ts';
import { callerName, callerOf } from './access.ts';
import {
  DrillPreviewBody,
  DrillSummaryBody,
  PreviewAsk,
  PreviewAskBody,
  StartAsk,
  StartAskBody,
  UnreadableReportBody,
} from './drill-schema.ts';
import { HaltNote } from './flush-schema.ts';
import {
  bodyReader,
  IdParams as idParams,
  OptionalReason,
  pathId,
  queryOf,
  Reason,
  routeSchema,
  strict,
} from './input.ts';
import type { AdminContext } from './operations.ts';

/** The drill that a path names. */
const drillId = {
  IdParams: idParams('The id of a drill, such as `20261121-064348-goods-canary-x7`.'),
  /** @throws Refusal `unknown-drill` */
  of: (request: FastifyRequest): string =>
    pathId(request, { code: 'unknown-drill', detail: 'There is no such drill.' }),
};

const ReasonBody = Type.Object({ reason: Reason }, strict);
const AbortBody = Type.Object({ reason: OptionalReason }, strict);

/** Plans, and drills from their preview to their end. */
export function registerDrills(app: FastifyInstance, { operations: { drills }, audit }: AdminContext): void {
  const previewOf = bodyReader(PreviewAsk);
  const startOf = bodyReader(StartAsk);
  const reasonOf = bodyReader(ReasonBody);
  const abortOf = bodyReader(AbortBody);

  app.get('/admin/plans', {
    schema: routeSchema({
      summary: 'The ready-made plans',
      tag: 'drills',
      answer: Type.Object({ plans: Type.Array(JOURNAL_PLAN) }),
    }),
    handler: (_request, reply) => {
      reply.send({ plans: drills.plans() });
    },
  });

  app.post('/admin/drills/preview', {
    config: { action: 'drill-preview', readsOnly: true },
    schema: routeSchema({
      summary: 'Preview of a drill: the effect and cost of each stage',
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
    schema: routeSchema({
      summary: 'Start a drill',
      description: 'Answers when the baseline has begun; the drill continues in the background.',
      tag: 'drills',
      body: StartAskBody,
      answer: JOURNAL,
      status: 201,
    }),
    handler: async (request, reply) => {
      const ask = startOf(request.body);
      const journal = await drills.start({ ...ask, ...callerOf(request, ask.reason) });
      audit.changed(request, startNote(journal));
      return reply.code(201).header('location', `/admin/drills/${journal.id}`).send(journal);
    },
  });

  app.get('/admin/drills', {
    schema: routeSchema({
      summary: 'Drills that run or have a report, newest first',
      tag: 'drills',
      answer: Type.Object({ drills: Type.Array(DrillSummaryBody), unreadable: Type.Array(UnreadableReportBody) }),
    }),
    handler: async (_request, reply) => {
      const { drills: listed, unreadable } = await drills.list();
      return reply.send({ drills: listed, unreadable });
    },
  });

  app.post('/admin/drills/:id/abort', {
    config: { action: 'drill-abort' },
    schema: routeSchema({
      summary: 'End a drill and restore the cache, in whichever process it runs',
      description: 'Answers when the cache is restored. The body may be left out.',
      tag: 'drills',
      params: drillId.IdParams,
      body: AbortBody,
      answer: Type.Object({ id: Type.String() }),
    }),
    handler: async (request, reply) => {
      const id = drillId.of(request);
      const { reason = '' } = abortOf(request.body);
      await drills.abort(id, { by: callerName(request.raw), reason: reason.trim() });
      audit.changed(request, { after: { drill: id } });
      return reply.send({ id });
    },
  });

  app.post('/admin/drills/:id/resume', {
    config: { action: 'drill-resume' },
    schema: routeSchema({
      summary: 'Continue a stopped drill at its unfinished stage',
      tag: 'drills',
      params: drillId.IdParams,
      body: ReasonBody,
      answer: JOURNAL,
      status: 201,
    }),
    handler: async (request, reply) => {
      const id = drillId.of(request);
      const journal = await drills.resume(id, callerOf(request, reasonOf(request.body).reason));
      audit.changed(request, startNote(journal));
      return reply.code(201).header('location', `/admin/drills/${journal.id}`).send(journal);
    },
  });
}

function startNote(journal: {
  readonly id: string;
  readonly plan: { readonly name: string };
  readonly domains: readonly string[];
  readonly resumes?: string;
}) {
  const { id, plan, domains, resumes } = journal;
  const [domain] = domains;
  return {
    domain: domains.length === 1 ? domain : undefined,
    after: { drill: id, plan: plan.name, domains, resumes },
  };
}

const SamplesQuery = Type.Object({
  samples: Type.Optional(
    Type.Integer({
      minimum: 0,
      default: 0,
      description: 'Number of samples to skip: those that the client has already.',
    }),
  ),
});

/** The journal of a drill, as JSON for machines and as a page for readers. */
export function registerJournals(app: FastifyInstance, { operations: { drills } }: AdminContext): void {
  app.get('/admin/drills/:id', {
    schema: routeSchema({
      summary: 'The journal of a drill',
      tag: 'drills',
      params: drillId.IdParams,
      query: SamplesQuery,
      answer: JOURNAL,
    }),
    handler: async (request, reply) => {
      const query = queryOf(request, SamplesQuery);
      const from = query.count('samples', { min: 0, max: 1_000_000, otherwise: 0 });
      const journal = await drills.journal(drillId.of(request));
      return reply.send({ ...journal, samples: journal.samples.slice(from) });
    },
  });

  app.get('/admin/drills/:id/report', {
    schema: routeSchema({
      summary: 'The report of a drill, as one self-contained page',
      tag: 'drills',
      params: drillId.IdParams,
      answer: Type.String(),
      type: 'text/html',
    }),
    handler: async (request, reply) => sendReport(request, reply, await drills.page(drillId.of(request))),
  });
}

const HaltedBody = Type.Object({ halted: Type.Boolean() });

/** The halt of all drills: it stops every drill and refuses new ones. */
export function registerHalt(app: FastifyInstance, { operations, audit }: AdminContext): void {
  const reasonOf = bodyReader(ReasonBody);

  const halts = () =>
    operations.domains.flatMap((domain) => {
      const { halted } = operations.domain(domain).control.document();
      return halted === undefined ? [] : [{ domain, ...halted }];
    });
  const setHalted = async (request: FastifyRequest, halted: boolean): Promise<{ halted: boolean }> => {
    const caller = callerOf(request, reasonOf(request.body).reason);
    const before = { halted: halts().map(({ domain }) => domain) };
    await (halted ? operations.drills.halt(caller) : operations.drills.lift(caller));
    audit.changed(request, { before, after: { halted: halts().map(({ domain }) => domain) } });
    return { halted };
  };

  app.get('/admin/halt', {
    schema: routeSchema({
      summary: 'Whether drills are halted, by whom and why',
      tag: 'drills',
      answer: Type.Object({
        halted: Type.Boolean({ description: 'In any domain.' }),
        domains: Type.Array(Type.Object({ domain: Type.String(), ...HaltNote.properties })),
      }),
    }),
    handler: (_request, reply) => {
      const domains = halts();
      reply.send({ halted: domains.length > 0, domains });
    },
  });

  app.post('/admin/halt', {
    config: { action: 'halt' },
    schema: routeSchema({
      summary: 'Stop and roll back every drill, and refuse new ones',
      tag: 'drills',
      body: ReasonBody,
      answer: HaltedBody,
    }),
    handler: async (request, reply) => reply.send(await setHalted(request, true)),
  });

  app.post('/admin/halt/lift', {
    config: { action: 'halt-lift' },
    schema: routeSchema({ summary: 'Let drills start again', tag: 'drills', body: ReasonBody, answer: HaltedBody }),
    handler: async (request, reply) => reply.send(await setHalted(request, false)),
  });
}

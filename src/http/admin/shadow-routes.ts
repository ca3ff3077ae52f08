import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { StoreRef } from '../../control/document.ts';
import type { Moved, ShadowSummary, Shadows } from '../../operations/shadow/shadow.ts';
import { HOUR } from '../../schema/units.ts';
import { Refusal } from '../transport/problem.ts';
import { sendReport } from '../transport/static-file.ts';
import { callerName, callerOf } from './access.ts';
import { bodyReader, IdParams, pathId, queriedDomain, queryOf, routeSchema } from './input.ts';
import type { AdminContext, ChangeNote } from './operations.ts';
import {
  BackBody,
  ChangeBody,
  CutOverBody,
  FOR_SECONDS,
  MovedBody,
  ReportBody,
  ReportSummaryBody,
  SamplesBody,
  SamplesQuery,
  StartBody,
  StatusBody,
  StatusQuery,
  StopBody,
  StoppedBody,
  SummaryBody,
} from './shadow-schema.ts';

const DEFAULT_HOURS = 24;

/** Shadow traffic: its state and its curves, and its start, change and end. */
export function registerShadows(app: FastifyInstance, { operations, audit }: AdminContext): void {
  const { shadows } = operations;
  const startOf = bodyReader(StartBody);
  const changeOf = bodyReader(ChangeBody);
  const stopOf = bodyReader(StopBody);

  app.get('/admin/shadow', {
    schema: routeSchema({
      summary: 'Each domain that has a store: its candidates, its shadow, its cut-over',
      tag: 'shadow',
      answer: Type.Object({ domains: Type.Array(SummaryBody) }),
    }),
    handler: (_request, reply) => {
      reply.send({ domains: shadows.list() });
    },
  });

  app.get('/admin/shadow/status', {
    schema: routeSchema({
      summary: 'A domain with the figures of both stores and the verdict',
      tag: 'shadow',
      query: StatusQuery,
      answer: StatusBody,
    }),
    handler: async (request, reply) => {
      const query = queryOf(request, StatusQuery);
      const domain = query.text('domain');
      const seconds = query.count('for', FOR_SECONDS);
      // Called for its refusal of an unknown domain.
      queriedDomain(operations, domain);
      return reply.send(await shadows.status(domain, seconds * 1000));
    },
  });

  app.get('/admin/shadow/samples', {
    schema: routeSchema({
      summary: 'The curves of both stores since the start of the shadow',
      tag: 'shadow',
      query: SamplesQuery,
      answer: SamplesBody,
    }),
    handler: (request, reply) => {
      const query = queryOf(request, SamplesQuery);
      const domain = query.text('domain');
      const from = query.count('from', { min: 0, max: 1_000_000, otherwise: 0 });
      queriedDomain(operations, domain);
      const samples = shadows.samples(domain);
      const shadow = summaryOf(shadows, domain)?.shadow?.id;
      reply.send({
        domain,
        shadow,
        total: samples.length,
        samples: samples.slice(from),
      });
    },
  });

  app.post('/admin/shadow', {
    config: { action: 'shadow-start' },
    schema: routeSchema({
      summary: 'Start a shadow: reads and writes are copied to a candidate',
      description: 'Answers when the candidate has passed its checks and the copies have begun.',
      tag: 'shadow',
      body: StartBody,
      answer: StatusBody,
      status: 201,
    }),
    handler: async (request, reply) => {
      const { hours = DEFAULT_HOURS, reads = 1, reason, ...ask } = startOf(request.body);
      const status = await shadows.start(
        { ...ask, reads, forMs: Math.round(hours * HOUR) },
        anyCaller(request, reason),
      );
      audit.changed(request, { after: shadowNote(status) });
      const location = `/admin/shadow/status?${new URLSearchParams({ domain: status.domain })}`;
      return reply.code(201).header('location', location).send(status);
    },
  });

  app.post('/admin/shadow/change', {
    config: { action: 'shadow-change' },
    schema: routeSchema({
      summary: 'Change the fraction or the reads of a running shadow',
      description: 'One of `fraction` and `reads` is required.',
      tag: 'shadow',
      body: ChangeBody,
      answer: StatusBody,
    }),
    handler: async (request, reply) => {
      const { reason, ...change } = changeOf(request.body);
      if (change.fraction === undefined && change.reads === undefined) throw nothingToChange();
      const before = noteBefore(shadows, change.domain);
      const status = await shadows.change(change, anyCaller(request, reason));
      audit.changed(request, { ...before, after: shadowNote(status) });
      return reply.send(status);
    },
  });

  app.post('/admin/shadow/stop', {
    config: { action: 'shadow-stop' },
    schema: routeSchema({
      summary: 'End the use of the second store of a domain',
      description:
        'A shadow ends and its report is kept, a prepared cut-over is cancelled, after a cut-over the old store is no longer used.',
      tag: 'shadow',
      body: StopBody,
      answer: StoppedBody,
    }),
    handler: async (request, reply) => {
      const { domain, reason } = stopOf(request.body);
      const before = noteBefore(shadows, domain);
      const stopped = await shadows.stop(domain, anyCaller(request, reason));
      const { ended, report } = stopped;
      audit.changed(request, { ...before, after: { ended, report } });
      return reply.send(stopped);
    },
  });
}

function nothingToChange(): Refusal {
  const detail = 'Nothing is changed: one of /fraction and /reads is required.';
  return new Refusal({ code: 'invalid-body', detail, parameter: '/fraction' });
}

/** The caller of a change whose reason may be left out. */
function anyCaller(request: FastifyRequest, reason = ''): { readonly by: string; readonly reason: string } {
  return { by: callerName(request.raw), reason: reason.trim() };
}

function summaryOf(shadows: Pick<Shadows, 'list'>, domain: string): ShadowSummary | undefined {
  return shadows.list().find((each) => each.domain === domain);
}

/** An audit line names stores and nothing else of them. */
function storeNote({ name, fingerprint }: StoreRef): StoreRef {
  return { name, fingerprint };
}

function shadowNote({ shadow, active }: Pick<ShadowSummary, 'shadow' | 'active'>): object {
  if (shadow === undefined) return { active: storeNote(active) };
  const { id, candidate, fraction, reads, untilMs } = shadow;
  return { shadow: id, candidate: storeNote(candidate), fraction, reads, untilMs };
}

function noteBefore(shadows: Pick<Shadows, 'list'>, domain: string): Pick<ChangeNote, 'before'> {
  const summary = summaryOf(shadows, domain);
  return { before: summary && shadowNote(summary) };
}

/** The change of the store of a domain, and the way back. */
export function registerCutOver(app: FastifyInstance, { operations: { shadows }, audit }: AdminContext): void {
  const cutOverOf = bodyReader(CutOverBody);
  const backOf = bodyReader(BackBody);

  const noted = (request: FastifyRequest, { from, to, preparedMs, report }: Moved, more: object = {}): void => {
    const after = { active: storeNote(to), preparedMs, report, ...more };
    audit.changed(request, { before: { active: storeNote(from) }, after });
  };

  app.post('/admin/shadow/cut-over', {
    config: { action: 'cut-over' },
    schema: routeSchema({
      summary: 'Cut over to the candidate of the running shadow',
      description: 'Answers when every process follows. Without a favourable verdict it needs `force`.',
      tag: 'shadow',
      body: CutOverBody,
      answer: MovedBody,
    }),
    handler: async (request, reply) => {
      const { domain, force = false, for: seconds = FOR_SECONDS.otherwise, reason } = cutOverOf(request.body);
      const moved = await shadows.cutOver({ domain, force, forMs: seconds * 1000 }, callerOf(request, reason));
      noted(request, moved, { force });
      return reply.send(moved);
    },
  });

  app.post('/admin/shadow/back', {
    config: { action: 'cut-over-back' },
    schema: routeSchema({
      summary: 'Return to the store before the cut-over',
      tag: 'shadow',
      body: BackBody,
      answer: MovedBody,
    }),
    handler: async (request, reply) => {
      const { domain, reason } = backOf(request.body);
      const moved = await shadows.back(domain, callerOf(request, reason));
      noted(request, moved);
      return reply.send(moved);
    },
  });
}

const reportParams = IdParams('The id of a report; it is the id of its shadow.');

const reportId = (request: FastifyRequest): string =>
  pathId(request, { code: 'unknown-report', detail: 'There is no such report.' });

/** The kept reports of shadows, as JSON for machines and as a page for readers. */
export function registerShadowReports(app: FastifyInstance, { operations: { shadows } }: AdminContext): void {
  app.get('/admin/shadow/reports', {
    schema: routeSchema({
      summary: 'The reports of ended shadows, newest first',
      tag: 'shadow',
      answer: Type.Object({ reports: Type.Array(ReportSummaryBody) }),
    }),
    handler: async (_request, reply) => reply.send({ reports: await shadows.reports() }),
  });

  app.get('/admin/shadow/reports/:id', {
    schema: routeSchema({ summary: 'One report', tag: 'shadow', params: reportParams, answer: ReportBody }),
    handler: async (request, reply) => reply.send(await shadows.report(reportId(request))),
  });

  app.get('/admin/shadow/reports/:id/report', {
    schema: routeSchema({
      summary: 'One report, as one self-contained page',
      tag: 'shadow',
      params: reportParams,
      answer: Type.String(),
      type: 'text/html',
    }),
    handler: async (request, reply) => sendReport(request, reply, await shadows.page(reportId(request))),
  });
}

import type { FastifyInstance } from 'fastify';
import type { Control } from '../../control/control.ts';
import type { ControlDocument } from '../../control/document.ts';
import { affectedBody } from './affected.ts';
import { bodyReader } from './body.ts';
import { statedReason } from './caller.ts';
import type { AdminContext } from './context.ts';
import { described } from './described.ts';
import { DomainQuery } from './fields.ts';
import { FlushAskBody, FlushDoneBody, FlushPreviewBody, FlushStateBody, PreviewAsk } from './flush-schema.ts';
import { queriedDomain, queryOf } from './query.ts';

/** Flushing one domain for good, and what it would do. */
export function registerFlush(app: FastifyInstance, { operations, desk }: AdminContext): void {
  const previewOf = bodyReader(PreviewAsk);
  const askOf = bodyReader(FlushAskBody);

  app.post('/admin/flush/preview', {
    config: { action: 'flush-preview', looks: true },
    schema: described({
      summary: 'What a flush would do and cost, without doing it',
      tag: 'flush',
      body: PreviewAsk,
      answer: FlushPreviewBody,
    }),
    handler: async (request, reply) => {
      const { domain, fraction = 1, ...ask } = previewOf(request.body);
      const preview = await operations.domain(domain).flush.preview({ ...ask, fraction });
      return reply.send(preview);
    },
  });

  app.post('/admin/flush', {
    config: { action: 'flush' },
    schema: described({
      summary: 'Flush a share of a domain for good',
      description: 'Answers when the floor is raised; an erasure goes on behind it. `erase` needs a reason.',
      tag: 'flush',
      body: FlushAskBody,
      answer: FlushDoneBody,
    }),
    handler: async (request, reply) => {
      const { domain, fraction = 1, reason, ...ask } = askOf(request.body);
      const { flush } = operations.domain(domain);
      if (ask.mode === 'erase') statedReason(reason);
      const { before, after, ranges, affected } = await flush.flush({ ...ask, fraction });
      const erasure = ask.mode === 'erase' ? flush.erasure() : undefined;
      desk.changed(request, {
        before: summaryOf(before),
        after: { ...summaryOf(after), mode: ask.mode, fraction, ranges },
      });
      const { revision, generation } = after;
      return reply.send({
        ...{ domain, mode: ask.mode, ranges, revision, generation },
        affected: affectedBody(domain, ask.mode, affected),
        ...(erasure === undefined ? {} : { erasure }),
      });
    },
  });

  app.get('/admin/flush', {
    schema: described({
      summary: 'What operators have decided about a domain, and its latest erasure',
      tag: 'flush',
      query: DomainQuery,
      answer: FlushStateBody,
    }),
    handler: (request, reply) => {
      const domain = queryOf(request, DomainQuery).text('domain');
      const { control, flush } = queriedDomain(operations, domain);
      const erasure = flush.erasure();
      reply.send({ domain, document: lookAt(control), ...(erasure === undefined ? {} : { erasure }) });
    },
  });
}

/** What of a document an audit line says. */
export function summaryOf({ revision, generation, ranges, purges, suppressed }: ControlDocument): object {
  return {
    ...{ revision, generation, ranges: ranges.length },
    ...{ purges: purges.length, suppressed: suppressed.length },
  };
}

function lookAt(control: Control): object {
  const { revision, generation, ranges, indexVersion, purges, suppressed, halted } = control.document();
  const { heardMsAgo, shared } = control.state();
  const drill = control.overlay()?.drill;
  return {
    ...{ revision, generation, ranges },
    ...(indexVersion === undefined ? {} : { indexVersion }),
    purges,
    suppressed: suppressed.length,
    ...(halted === undefined ? {} : { halted }),
    ...(drill === undefined ? {} : { drill }),
    ...{ heardMsAgo, shared },
  };
}

import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { MAX_SUPPRESSED } from '../../control/document.ts';
import type { QueryPages } from '../../flush/flush.ts';
import { InvalidSearch } from '../../search/failure.ts';
import { Refusal } from '../problem.ts';
import { PurgedBody, purgedBody } from './affected.ts';
import { bodyReader } from './body.ts';
import type { AdminContext } from './context.ts';
import { closed, described } from './described.ts';
import { AtMs, Domain, DomainQuery, OptionalReason } from './fields.ts';
import { summaryOf } from './flush-route.ts';
import type { DomainOperations } from './operations.ts';
import { queriedDomain, queryOf } from './query.ts';

/** 1,024 ids of 128 characters, however they are escaped. */
const MAX_IDS_BYTES = 2 ** 20;

const PurgeBody = Type.Object(
  {
    domain: Domain,
    q: Type.String({
      minLength: 1,
      maxLength: 1024,
      description: 'What was searched for: 1–256 characters in the end.',
    }),
    reason: OptionalReason,
  },
  closed,
);

const SuppressBody = Type.Object(
  {
    domain: Domain,
    ids: Type.Array(Type.String({ minLength: 1, maxLength: 128, description: '1 to 128 characters.' }), {
      minItems: 1,
      maxItems: MAX_SUPPRESSED,
      description: `1 to ${MAX_SUPPRESSED} documents.`,
    }),
    reason: OptionalReason,
  },
  closed,
);

const SuppressedAnswer = Type.Object({ domain: Type.String(), suppressed: Type.Integer(), revision: Type.Integer() });

/** What must vanish now: every page of one query, or a document from every page. */
export function registerPurge(app: FastifyInstance, { operations, desk }: AdminContext): void {
  const purgeOf = bodyReader(PurgeBody);
  const suppressOf = bodyReader(SuppressBody);

  app.post('/admin/purge', {
    config: { action: 'purge' },
    schema: described({
      summary: 'Flush every page of one query',
      tag: 'flush',
      body: PurgeBody,
      answer: Type.Object({
        domain: Type.String(),
        text: Type.String({ description: 'Canonical: what is purged.' }),
        revision: Type.Integer(),
        generation: Type.Integer(),
        affected: PurgedBody,
      }),
    }),
    handler: async (request, reply) => {
      const { domain, q } = purgeOf(request.body);
      const operator = operations.domain(domain);
      const pages = pagesOf(operator, q);
      const { text } = pages;
      const { before, after, affected } = await operator.flush.purge(pages);
      desk.changed(request, { before: summaryOf(before), after: { ...summaryOf(after), text } });
      const { revision, generation } = after;
      return reply.send({ domain, text, revision, generation, affected: purgedBody(domain, text, affected) });
    },
  });

  for (const lift of [false, true]) {
    const action = lift ? 'unsuppress' : 'suppress';
    app.post(`/admin/${action}`, {
      bodyLimit: MAX_IDS_BYTES,
      config: { action },
      schema: described({
        summary: lift ? 'Let documents be seen again' : 'Let documents vanish from every page at once',
        tag: 'flush',
        body: SuppressBody,
        answer: SuppressedAnswer,
      }),
      handler: async (request, reply) => {
        const { domain, ids } = suppressOf(request.body);
        const { before, after } = await operations.domain(domain).flush.suppress(ids, lift);
        desk.changed(request, { before: summaryOf(before), after: { ...summaryOf(after), ids: ids.slice(0, 10) } });
        return reply.send({ domain, suppressed: after.suppressed.length, revision: after.revision });
      },
    });
  }

  app.get('/admin/suppressed', {
    schema: described({
      summary: 'The documents that must not be seen',
      tag: 'flush',
      query: DomainQuery,
      answer: Type.Object({
        domain: Type.String(),
        max: Type.Integer({ description: 'As many there may be.' }),
        suppressed: Type.Array(Type.Object({ id: Type.String(), atMs: AtMs })),
      }),
    }),
    handler: (request, reply) => {
      const domain = queryOf(request, DomainQuery).text('domain');
      const { suppressed } = queriedDomain(operations, domain).control.document();
      reply.send({ domain, max: MAX_SUPPRESSED, suppressed: suppressed.map(({ id, atMs }) => ({ id, atMs })) });
    },
  });
}

function pagesOf(operator: DomainOperations, typed: string): QueryPages {
  try {
    return operator.pagesOf(typed);
  } catch (error) {
    if (!(error instanceof InvalidSearch)) throw error;
    throw new Refusal({ code: error.code, detail: error.message, parameter: '/q' });
  }
}

import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Control } from '../../control/control.ts';
import { type ControlDocument, type FlushMode, MAX_SUPPRESSED } from '../../control/document.ts';
import { type Affected, FLUSH_PREVIEW, type PurgedPages } from '../../operations/flush/flush.ts';
import { MAX_ID_BYTES } from '../../search/domain.ts';
import { namingParameter } from '../problems.ts';
import { statedReason } from './access.ts';
import { FlushAskBody, FlushDoneBody, FlushStateBody, PreviewAsk, PurgedBody } from './flush-schema.ts';
import {
  AtMs,
  bodyReader,
  DomainName,
  DomainQuery,
  OptionalReason,
  queriedDomain,
  queryOf,
  routeSchema,
  strict,
} from './input.ts';
import type { AdminContext } from './operations.ts';

/** Routes that flush a domain, preview a flush and show its state. */
export function registerFlush(app: FastifyInstance, { operations, audit }: AdminContext): void {
  const previewOf = bodyReader(PreviewAsk);
  const askOf = bodyReader(FlushAskBody);

  app.post('/admin/flush/preview', {
    config: { action: 'flush-preview', readsOnly: true },
    schema: routeSchema({
      summary: 'Preview of a flush: its effect and cost',
      tag: 'flush',
      body: PreviewAsk,
      answer: FLUSH_PREVIEW,
    }),
    handler: async (request, reply) => {
      const { domain, fraction = 1, ...ask } = previewOf(request.body);
      const preview = await operations.domain(domain).flush.preview({ ...ask, fraction });
      return reply.send(preview);
    },
  });

  app.post('/admin/flush', {
    config: { action: 'flush' },
    schema: routeSchema({
      summary: 'Flush a share of a domain permanently',
      description: 'Answers when the floor is raised; an erasure continues in the background. `erase` needs a reason.',
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
      audit.changed(request, {
        before: summaryOf(before),
        after: { ...summaryOf(after), mode: ask.mode, fraction, ranges },
      });
      const { revision, generation } = after;
      return reply.send({
        domain,
        mode: ask.mode,
        ranges,
        revision,
        generation,
        affected: affectedBody(domain, ask.mode, affected),
        erasure,
      });
    },
  });

  app.get('/admin/flush', {
    schema: routeSchema({
      summary: 'The decisions of operators about a domain, and its latest erasure',
      tag: 'flush',
      query: DomainQuery,
      answer: FlushStateBody,
    }),
    handler: (request, reply) => {
      const domain = queryOf(request, DomainQuery).text('domain');
      const { control, flush } = queriedDomain(operations, domain);
      const erasure = flush.erasure();
      reply.send({ domain, document: documentBody(control), erasure });
    },
  });
}

/** The part of a control document that an audit line shows. */
function summaryOf({ revision, generation, ranges, purges, suppressed }: ControlDocument): object {
  return {
    revision,
    generation,
    ranges: ranges.length,
    purges: purges.length,
    suppressed: suppressed.length,
  };
}

function documentBody(control: Control): object {
  const { revision, generation, ranges, indexVersion, purges, suppressed, halted } = control.document();
  const { heardMsAgo, shared } = control.state();
  const drill = control.overlay()?.drill;
  return {
    revision,
    generation,
    ranges,
    indexVersion,
    purges,
    suppressed: suppressed.length,
    halted,
    drill,
    heardMsAgo,
    shared,
  };
}

/** Each byte of an id takes at most 6 bytes, as `\uXXXX`. The rest is for the other members. */
const MAX_IDS_BYTES = 6 * MAX_SUPPRESSED * MAX_ID_BYTES + 2 ** 16;

const PurgeBody = Type.Object(
  {
    domain: DomainName,
    q: Type.String({
      minLength: 1,
      maxLength: 1024,
      description: 'What was searched for: 1–256 characters in the end.',
    }),
    reason: OptionalReason,
  },
  strict,
);

const SuppressBody = Type.Object(
  {
    domain: DomainName,
    ids: Type.Array(
      Type.String({ minLength: 1, maxLength: MAX_ID_BYTES, description: `1 to ${MAX_ID_BYTES} bytes in UTF-8.` }),
      {
        minItems: 1,
        maxItems: MAX_SUPPRESSED,
        description: `1 to ${MAX_SUPPRESSED} documents.`,
      },
    ),
    reason: OptionalReason,
  },
  strict,
);

const SuppressedAnswer = Type.Object({ domain: Type.String(), suppressed: Type.Integer(), revision: Type.Integer() });

/** Routes that purge every page of one query, or remove a document from every page. */
export function registerPurge(app: FastifyInstance, { operations, audit }: AdminContext): void {
  const purgeOf = bodyReader(PurgeBody);
  const suppressOf = bodyReader(SuppressBody);

  app.post('/admin/purge', {
    config: { action: 'purge' },
    schema: routeSchema({
      summary: 'Flush every page of one query',
      tag: 'flush',
      body: PurgeBody,
      answer: Type.Object({
        domain: Type.String(),
        text: Type.String({ description: 'The canonical text that is purged.' }),
        revision: Type.Integer(),
        generation: Type.Integer(),
        affected: PurgedBody,
      }),
    }),
    handler: async (request, reply) => {
      const { domain, q } = purgeOf(request.body);
      const operator = operations.domain(domain);
      const pages = namingParameter('/q', () => operator.pagesOf(q));
      const { text } = pages;
      const { before, after, affected } = await operator.flush.purge(pages);
      audit.changed(request, { before: summaryOf(before), after: { ...summaryOf(after), text } });
      const { revision, generation } = after;
      return reply.send({ domain, text, revision, generation, affected: purgedBody(domain, text, affected) });
    },
  });

  for (const lift of [false, true]) {
    const action = lift ? 'unsuppress' : 'suppress';
    app.post(`/admin/${action}`, {
      bodyLimit: MAX_IDS_BYTES,
      config: { action },
      schema: routeSchema({
        summary: lift ? 'Show suppressed documents again' : 'Remove documents from every page at once',
        tag: 'flush',
        body: SuppressBody,
        answer: SuppressedAnswer,
      }),
      handler: async (request, reply) => {
        const { domain, ids } = suppressOf(request.body);
        const { before, after } = await operations.domain(domain).flush.suppress(ids, lift);
        audit.changed(request, { before: summaryOf(before), after: { ...summaryOf(after), ids: ids.slice(0, 10) } });
        return reply.send({ domain, suppressed: after.suppressed.length, revision: after.revision });
      },
    });
  }

  app.get('/admin/suppressed', {
    schema: routeSchema({
      summary: 'The suppressed documents',
      tag: 'flush',
      query: DomainQuery,
      answer: Type.Object({
        domain: Type.String(),
        max: Type.Integer({ description: 'Maximum number of suppressed documents.' }),
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

export function affectedBody(domain: string, mode: FlushMode, { memory, store }: Affected): object {
  const counted = typeof store === 'object' ? store : undefined;
  return {
    memory,
    store: counted?.pages,
    exact: counted?.exact,
    note: `${pages(memory)} in the memory of this process ${storeWords(mode, store)} ${MODE_WORDS[mode]}.`,
    watch: watchOf(domain, mode),
  };
}

const MODE_WORDS: Readonly<Record<FlushMode, string>> = {
  refresh: 'served as stale until computed again',
  drop: 'misses from now on',
  erase: 'misses from now on, and removed from the store',
};

function storeWords(mode: FlushMode, store: Affected['store']): string {
  if (store === 'no-store') return '(the domain has no store):';
  if (typeof store === 'object') return `and ${store.exact ? '' : 'about '}${store.pages} in the store:`;
  return `and those in the store (${mode === 'erase' ? 'counted while they are removed' : 'not counted'}):`;
}

function watchOf(domain: string, mode: FlushMode): readonly string[] {
  const metric = (name: string, labels = '') => `serpcache_${name}_total{domain="${domain}"${labels}}`;
  const misses = [metric('misses', ',reason="flushed"'), metric('engine_calls')];
  switch (mode) {
    case 'refresh':
      return [metric('requests', ',outcome="stale"'), metric('refreshes')];
    case 'drop':
      return misses;
    case 'erase':
      return [`GET /admin/flush?domain=${domain}`, ...misses];
  }
}

export function purgedBody(domain: string, text: string, { memory, firstInStore }: PurgedPages): object {
  const isHeld = firstInStore === 'held';
  const isAnswered = isHeld || firstInStore === 'absent';
  const known = memory > 0 || isHeld;
  return {
    memory,
    firstPageInStore: isAnswered ? isHeld : undefined,
    known,
    note: known
      ? `${pages(memory)} in the memory of this process${STORE_WORDS[firstInStore]}.`
      : `No page of this query was found in the memory of this process${UNFOUND_WORDS[firstInStore]}: check the spelling.`,
    watch: [
      `serpcache_misses_total{domain="${domain}",reason="flushed"}`,
      `GET /admin/explain?${new URLSearchParams({ domain, q: text })}`,
    ],
  };
}

const STORE_WORDS: Readonly<Record<PurgedPages['firstInStore'], string>> = {
  held: '; the store holds its first page, further pages there are not counted',
  absent: '; the store does not hold its first page, further pages there are not counted',
  unknown: '; the store did not answer, pages there are not counted',
  'no-store': '; the domain has no store',
};

const UNFOUND_WORDS: Readonly<Record<PurgedPages['firstInStore'], string>> = {
  held: '',
  absent: ', nor its first page in the store',
  unknown: '; the store did not answer, pages there are not counted',
  'no-store': '; the domain has no store',
};

function pages(count: number): string {
  return `${count} ${count === 1 ? 'page' : 'pages'}`;
}

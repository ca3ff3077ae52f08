import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { CONTROL_DOCUMENT, MAX_SUPPRESSED } from '../../control/document.ts';
import {
  affectedAnswer,
  documentSummary,
  FLUSHED,
  PURGED,
  purgedAnswer,
  SUPPRESSED,
  SUPPRESSED_LIST,
} from '../../operations/flush/answers.ts';
import { ERASE_METHOD, ERASURE, FLUSH_MODE, FLUSH_PREVIEW } from '../../operations/flush/flush.ts';
import { integer, partOf, shortText } from '../../schema/fields.ts';
import { MAX_ID_BYTES } from '../../search/domain.ts';
import { namingParameter } from '../problems.ts';
import { statedReason } from './access.ts';
import {
  type AdminContext,
  adminRoutes,
  DomainName,
  DomainQuery,
  OptionalReason,
  queriedDomain,
  strict,
} from './input.ts';

const target = {
  domain: DomainName,
  mode: FLUSH_MODE,
  fraction: Type.Optional(partOf('The share of the keys: above 0, at most 1. Without it: 1.', { default: 1 })),
  from: Type.Optional(
    integer('The bucket, 0–9999, at which the range begins. Without it: random.', { minimum: 0, maximum: 9999 }),
  ),
  by: Type.Optional(ERASE_METHOD),
};

const FlushBody = Type.Object(
  {
    ...target,
    indexVersion: Type.Optional(shortText(128, 'The name that the indexing job gives its index: 1 to 128 characters.')),
    reason: OptionalReason,
  },
  strict,
);

const { properties: document } = CONTROL_DOCUMENT;
const FlushState = Type.Object({
  domain: Type.String(),
  document: Type.Object(
    {
      revision: Type.Integer(),
      generation: Type.Integer(),
      ranges: document.ranges,
      indexVersion: document.indexVersion,
      purges: document.purges,
      suppressed: Type.Integer({ description: 'Number of suppressed documents; `GET /admin/suppressed` lists them.' }),
      halted: document.halted,
      drill: Type.Optional(Type.String({ description: 'The running drill.' })),
      heardMsAgo: Type.Number({ description: 'Milliseconds since the control store last answered.' }),
      shared: Type.Boolean({ description: 'False: followed by this process only.' }),
    },
    { description: 'The decisions of operators about the domain, as this process follows them.' },
  ),
  erasure: Type.Optional(ERASURE),
});

/** Each byte of an id takes at most 6 bytes, as `\uXXXX`. The rest is for the other members. */
const MAX_IDS_BYTES = 6 * MAX_SUPPRESSED * MAX_ID_BYTES + 2 ** 16;

const PurgeBody = Type.Object(
  {
    domain: DomainName,
    q: shortText(1024, 'What was searched for: 1–256 characters in the end.'),
    reason: OptionalReason,
  },
  strict,
);

const SuppressBody = Type.Object(
  {
    domain: DomainName,
    ids: Type.Array(
      Type.String({ minLength: 1, maxLength: MAX_ID_BYTES, description: `1 to ${MAX_ID_BYTES} bytes in UTF-8.` }),
      { minItems: 1, maxItems: MAX_SUPPRESSED, description: `1 to ${MAX_SUPPRESSED} documents.` },
    ),
    reason: OptionalReason,
  },
  strict,
);

/** Routes that flush a domain or every page of one query, remove documents from every page, and show this state. */
export function registerFlush(app: FastifyInstance, { operations, audit }: AdminContext): void {
  const { get, post } = adminRoutes(app, 'flush', audit);

  post('/admin/flush/preview', {
    action: 'flush-preview',
    audited: false,
    summary: 'Preview of a flush: its effect and cost',
    body: Type.Object(target, strict),
    answer: FLUSH_PREVIEW,
    handle: ({ body: { domain, fraction = 1, ...ask } }) =>
      operations.domain(domain).flush.preview({ ...ask, fraction }),
  });

  post('/admin/flush', {
    action: 'flush',
    summary: 'Flush a share of a domain permanently',
    description: 'Answers when the floor is raised; an erasure continues in the background. `erase` needs a reason.',
    body: FlushBody,
    answer: FLUSHED,
    handle: async ({ body: { domain, fraction = 1, reason, ...ask }, changed }) => {
      const { flush } = operations.domain(domain);
      const { mode } = ask;
      if (mode === 'erase') statedReason(reason);
      const { before, after, ranges, affected } = await flush.flush({ ...ask, fraction });
      const erasure = mode === 'erase' ? flush.erasure() : undefined;
      changed({ before: documentSummary(before), after: { ...documentSummary(after), mode, fraction, ranges } });
      const { revision, generation } = after;
      const counted = affectedAnswer(domain, mode, affected);
      return { domain, mode, ranges, revision, generation, affected: counted, erasure };
    },
  });

  get('/admin/flush', {
    summary: 'The decisions of operators about a domain, and its latest erasure',
    query: DomainQuery,
    answer: FlushState,
    handle: ({ query: { domain } }) => {
      const { control, flush } = queriedDomain(operations, domain);
      const { suppressed, ranges, indexVersion, purges, halted } = control.document();
      const { standing: _, ...state } = control.state();
      const decisions = { ranges, indexVersion, purges, suppressed: suppressed.length, halted };
      const document = { ...state, ...decisions, drill: control.overlay()?.drill };
      return { domain, document, erasure: flush.erasure() };
    },
  });

  post('/admin/purge', {
    action: 'purge',
    summary: 'Flush every page of one query',
    body: PurgeBody,
    answer: PURGED,
    handle: async ({ body: { domain, q }, changed }) => {
      const operator = operations.domain(domain);
      const pages = namingParameter('/q', () => operator.pagesOf(q));
      const { text } = pages;
      const { before, after, affected } = await operator.flush.purge(pages);
      changed({ before: documentSummary(before), after: { ...documentSummary(after), text } });
      const { revision, generation } = after;
      return { domain, text, revision, generation, affected: purgedAnswer(domain, text, affected) };
    },
  });

  for (const lift of [false, true]) {
    const action = lift ? 'unsuppress' : 'suppress';
    post(`/admin/${action}`, {
      bodyLimit: MAX_IDS_BYTES,
      action,
      summary: lift ? 'Show suppressed documents again' : 'Remove documents from every page at once',
      body: SuppressBody,
      answer: SUPPRESSED,
      handle: async ({ body: { domain, ids }, changed }) => {
        const { before, after } = await operations.domain(domain).flush.suppress(ids, lift);
        changed({ before: documentSummary(before), after: { ...documentSummary(after), ids: ids.slice(0, 10) } });
        return { domain, suppressed: after.suppressed.length, revision: after.revision };
      },
    });
  }

  get('/admin/suppressed', {
    summary: 'The suppressed documents',
    query: DomainQuery,
    answer: SUPPRESSED_LIST,
    handle: ({ query: { domain } }) => {
      const { suppressed } = queriedDomain(operations, domain).control.document();
      return { domain, max: MAX_SUPPRESSED, suppressed: suppressed.map(({ id, atMs }) => ({ id, atMs })) };
    },
  });
}

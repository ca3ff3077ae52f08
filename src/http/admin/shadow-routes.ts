import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { MAX_SHADOW_READS, type StoreRef } from '../../control/document.ts';
import { SHADOW_SAMPLE } from '../../operations/shadow/figures.ts';
import {
  type Moved,
  SHADOW_MOVED,
  SHADOW_REPORT,
  SHADOW_REPORT_SUMMARY,
  SHADOW_STATUS,
  SHADOW_STOPPED,
  SHADOW_SUMMARY,
  type ShadowSummary,
} from '../../operations/shadow/shadow.ts';
import { integer, partOf, shortText } from '../../schema/fields.ts';
import { HOUR } from '../../schema/units.ts';
import { Refusal } from '../transport/problem.ts';
import { statedReason } from './access.ts';
import {
  type AdminContext,
  adminRoutes,
  type ChangeNote,
  DomainName,
  defaulted,
  OptionalReason,
  queriedDomain,
  RequiredReason,
  SkippedSamples,
  strict,
} from './input.ts';

const DEFAULT_HOURS = 24;

/** The seconds that a verdict covers. */
const FOR_SECONDS = { minimum: 10, maximum: 86_400, default: 600 };
const Seconds = integer('The seconds that the verdict must cover: 10 to 86400.', FOR_SECONDS);

const Fraction = partOf('The share of the keys, chosen by hash: above 0, at most 1.');
const reads = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_SHADOW_READS, description }));

const StartBody = Type.Object(
  {
    domain: DomainName,
    candidate: shortText(64, 'A candidate that the configuration declares.'),
    fraction: Fraction,
    reads: reads(`Copies of each read of these keys: 1 to ${MAX_SHADOW_READS}. Without it: 1.`),
    hours: Type.Optional(
      Type.Number({
        minimum: 1 / 60,
        maximum: 720,
        default: DEFAULT_HOURS,
        description: 'The shadow ends by itself after this time: one minute (1/60) to 720 hours.',
      }),
    ),
    reason: OptionalReason,
  },
  strict,
);

const ChangeBody = Type.Object(
  {
    domain: DomainName,
    fraction: Type.Optional(Fraction),
    reads: reads(`Copies of each read: 1 to ${MAX_SHADOW_READS}.`),
    reason: OptionalReason,
  },
  strict,
);

const CutOverBody = Type.Object(
  {
    domain: DomainName,
    force: Type.Optional(Type.Boolean({ description: 'Cut over without a favourable verdict.' })),
    for: Type.Optional(Seconds),
    reason: RequiredReason,
  },
  strict,
);

const SamplesBody = Type.Object({
  domain: Type.String(),
  shadow: Type.Optional(Type.String({ description: 'The running shadow. The samples of another one begin at 0.' })),
  total: Type.Integer({
    description: 'Number of samples. It falls when old ones are joined: ask for all of them again.',
  }),
  samples: Type.Array(SHADOW_SAMPLE),
});

const REPORT_ID = {
  description: 'The id of a report; it is the id of its shadow.',
  unknown: { code: 'unknown-report', detail: 'There is no such report.' },
} as const;

/** Shadow traffic, from its start to its reports, and the change of the store of a domain. */
export function registerShadows(app: FastifyInstance, { operations, audit }: AdminContext): void {
  const { shadows } = operations;
  const { get, post, report } = adminRoutes(app, 'shadow', audit);
  const summaryOf = (domain: string): ShadowSummary | undefined =>
    shadows.list().find((each) => each.domain === domain);
  const noteBefore = (domain: string): object | undefined => {
    const summary = summaryOf(domain);
    return summary && shadowNote(summary);
  };

  get('/admin/shadow', {
    summary: 'Each domain that has a store: its candidates, its shadow, its cut-over',
    answer: Type.Object({ domains: Type.Array(SHADOW_SUMMARY) }),
    handle: () => ({ domains: shadows.list() }),
  });

  get('/admin/shadow/status', {
    summary: 'A domain with the figures of both stores and the verdict',
    query: Type.Object({ domain: DomainName, for: defaulted(Seconds) }),
    answer: SHADOW_STATUS,
    handle: ({ query: { domain, for: seconds } }) => {
      // Called for its refusal of an unknown domain.
      queriedDomain(operations, domain);
      return shadows.status(domain, seconds * 1000);
    },
  });

  get('/admin/shadow/samples', {
    summary: 'The curves of both stores since the start of the shadow',
    query: Type.Object({ domain: DomainName, from: SkippedSamples }),
    answer: SamplesBody,
    handle: ({ query: { domain, from } }) => {
      queriedDomain(operations, domain);
      const samples = shadows.samples(domain);
      const shadow = summaryOf(domain)?.shadow?.id;
      return { domain, shadow, total: samples.length, samples: samples.slice(from) };
    },
  });

  post('/admin/shadow', {
    action: 'shadow-start',
    summary: 'Start a shadow: reads and writes are copied to a candidate',
    description: 'Answers when the candidate has passed its checks and the copies have begun.',
    body: StartBody,
    answer: SHADOW_STATUS,
    status: 201,
    location: ({ domain }) => `/admin/shadow/status?${new URLSearchParams({ domain })}`,
    handle: async ({ body: { hours = DEFAULT_HOURS, reads = 1, reason = '', ...ask }, by, changed }) => {
      const forMs = Math.round(hours * HOUR);
      const status = await shadows.start({ ...ask, reads, forMs }, { by, reason: reason.trim() });
      changed({ after: shadowNote(status) });
      return status;
    },
  });

  post('/admin/shadow/change', {
    action: 'shadow-change',
    summary: 'Change the fraction or the reads of a running shadow',
    description: 'One of `fraction` and `reads` is required.',
    body: ChangeBody,
    answer: SHADOW_STATUS,
    handle: async ({ body: { reason: _, ...change }, changed }) => {
      if (change.fraction === undefined && change.reads === undefined) {
        const detail = 'Nothing is changed: one of /fraction and /reads is required.';
        throw new Refusal({ code: 'invalid-body', detail, parameter: '/fraction' });
      }
      const before = noteBefore(change.domain);
      const status = await shadows.change(change);
      changed({ before, after: shadowNote(status) });
      return status;
    },
  });

  post('/admin/shadow/stop', {
    action: 'shadow-stop',
    summary: 'End the use of the second store of a domain',
    description:
      'A shadow ends and its report is kept, a prepared cut-over is cancelled, after a cut-over the old store is no longer used.',
    body: Type.Object({ domain: DomainName, reason: OptionalReason }, strict),
    answer: SHADOW_STOPPED,
    handle: async ({ body: { domain, reason = '' }, by, changed }) => {
      const before = noteBefore(domain);
      const stopped = await shadows.stop(domain, { by, reason: reason.trim() });
      const { ended, report } = stopped;
      changed({ before, after: { ended, report } });
      return stopped;
    },
  });

  post('/admin/shadow/cut-over', {
    action: 'cut-over',
    summary: 'Cut over to the candidate of the running shadow',
    description: 'Answers when every process follows. Without a favourable verdict it needs `force`.',
    body: CutOverBody,
    answer: SHADOW_MOVED,
    handle: async ({ body, by, changed }) => {
      const { domain, force = false, for: seconds = FOR_SECONDS.default, reason } = body;
      const caller = { by, reason: statedReason(reason) };
      const moved = await shadows.cutOver({ domain, force, forMs: seconds * 1000 }, caller);
      changed(movedNote(moved, force));
      return moved;
    },
  });

  post('/admin/shadow/back', {
    action: 'cut-over-back',
    summary: 'Return to the store before the cut-over',
    body: Type.Object({ domain: DomainName, reason: RequiredReason }, strict),
    answer: SHADOW_MOVED,
    handle: async ({ body: { domain, reason }, by, changed }) => {
      const moved = await shadows.back(domain, { by, reason: statedReason(reason) });
      changed(movedNote(moved));
      return moved;
    },
  });

  get('/admin/shadow/reports', {
    summary: 'The reports of ended shadows, newest first',
    answer: Type.Object({ reports: Type.Array(SHADOW_REPORT_SUMMARY) }),
    handle: async () => ({ reports: await shadows.reports() }),
  });

  get('/admin/shadow/reports/:id', {
    summary: 'One report',
    id: REPORT_ID,
    answer: SHADOW_REPORT,
    handle: ({ id }) => shadows.report(id),
  });

  report('/admin/shadow/reports/:id/report', 'One report, as one self-contained page', REPORT_ID, shadows.page);
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

function movedNote({ from, to, preparedMs, report }: Moved, force?: boolean): ChangeNote {
  return { before: { active: storeNote(from) }, after: { active: storeNote(to), preparedMs, report, force } };
}

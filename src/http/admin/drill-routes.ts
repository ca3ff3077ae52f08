import type { FastifyInstance } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { DRILL_PREVIEW, DRILL_REQUEST, HALT_STATE, LISTED_DRILLS } from '../../operations/drills/drills.ts';
import { JOURNAL, JOURNAL_PLAN, type Journal } from '../../operations/drills/journal.ts';
import { PLAN_BODY } from '../../operations/drills/plan.ts';
import { statedReason } from './access.ts';
import {
  type AdminContext,
  adminRoutes,
  type ChangeNote,
  OptionalReason,
  RequiredReason,
  SkippedSamples,
  strict,
} from './input.ts';

/** The drill that a path names. */
const DRILL_ID = {
  description: 'The id of a drill, such as `20261121-064348-goods-canary-x7`.',
  unknown: { code: 'unknown-drill', detail: 'There is no such drill.' },
} as const;

const HaltedBody = Type.Object({ halted: Type.Boolean() });
const ReasonBody = Type.Object({ reason: RequiredReason }, strict);
const AbortBody = Type.Object({ reason: OptionalReason }, strict);

/** The plan with its whole schema, for the API description. */
const plan = Type.Union([
  Type.String({ minLength: 1, maxLength: 64, description: 'The name of a ready-made plan.' }),
  PLAN_BODY as TSchema,
]);
const request = DRILL_REQUEST.properties;

const locationOf = ({ id }: Journal): string => `/admin/drills/${id}`;

/** Plans, drills from their preview to their end with their journals, and the halt of all drills. */
export function registerDrills(app: FastifyInstance, { operations, audit }: AdminContext): void {
  const { drills } = operations;
  const { get, post, report } = adminRoutes(app, 'drills', audit);

  const halts = () =>
    operations.domains.flatMap((domain) => {
      const { halted } = operations.domain(domain).control.document();
      return halted === undefined ? [] : [{ domain, ...halted }];
    });
  const halted = () => ({ halted: halts().map(({ domain }) => domain) });

  get('/admin/plans', {
    summary: 'The ready-made plans',
    answer: Type.Object({ plans: Type.Array(JOURNAL_PLAN) }),
    handle: () => ({ plans: drills.plans() }),
  });

  post('/admin/drills/preview', {
    action: 'drill-preview',
    audited: false,
    summary: 'Preview of a drill: the effect and cost of each stage',
    body: Type.Object(request, strict),
    describedBody: Type.Object({ ...request, plan }, strict),
    answer: DRILL_PREVIEW,
    handle: ({ body }) => drills.preview(body),
  });

  post('/admin/drills', {
    action: 'drill-start',
    summary: 'Start a drill',
    description: 'Answers when the baseline has begun; the drill continues in the background.',
    body: Type.Object({ ...request, reason: RequiredReason }, strict),
    describedBody: Type.Object({ ...request, plan, reason: RequiredReason }, strict),
    answer: JOURNAL,
    status: 201,
    location: locationOf,
    handle: async ({ body, by, changed }) => {
      const journal = await drills.start({ ...body, by, reason: statedReason(body.reason) });
      changed(startNote(journal));
      return journal;
    },
  });

  get('/admin/drills', {
    summary: 'Drills that run or have a report, newest first',
    answer: LISTED_DRILLS,
    handle: async () => {
      const { drills: listed, unreadable } = await drills.list();
      return { drills: listed, unreadable };
    },
  });

  post('/admin/drills/:id/abort', {
    action: 'drill-abort',
    summary: 'End a drill and restore the cache, in whichever process it runs',
    description: 'Answers when the cache is restored. The body may be left out.',
    id: DRILL_ID,
    body: AbortBody,
    answer: Type.Object({ id: Type.String() }),
    handle: async ({ id, body: { reason = '' }, by, changed }) => {
      await drills.abort(id, { by, reason: reason.trim() });
      changed({ after: { drill: id } });
      return { id };
    },
  });

  post('/admin/drills/:id/resume', {
    action: 'drill-resume',
    summary: 'Continue a stopped drill at its unfinished stage',
    id: DRILL_ID,
    body: ReasonBody,
    answer: JOURNAL,
    status: 201,
    location: locationOf,
    handle: async ({ id, body, by, changed }) => {
      const journal = await drills.resume(id, { by, reason: statedReason(body.reason) });
      changed(startNote(journal));
      return journal;
    },
  });

  get('/admin/drills/:id', {
    summary: 'The journal of a drill',
    id: DRILL_ID,
    query: Type.Object({ samples: SkippedSamples }),
    answer: JOURNAL,
    handle: async ({ id, query }) => {
      const journal = await drills.journal(id);
      return { ...journal, samples: journal.samples.slice(query.samples) };
    },
  });

  report('/admin/drills/:id/report', 'The report of a drill, as one self-contained page', DRILL_ID, drills.page);

  get('/admin/halt', {
    summary: 'Whether drills are halted, by whom and why',
    answer: HALT_STATE,
    handle: () => {
      const domains = halts();
      return { halted: domains.length > 0, domains };
    },
  });

  for (const lift of [false, true]) {
    post(lift ? '/admin/halt/lift' : '/admin/halt', {
      action: lift ? 'halt-lift' : 'halt',
      summary: lift ? 'Let drills start again' : 'Stop and roll back every drill, and refuse new ones',
      body: ReasonBody,
      answer: HaltedBody,
      handle: async ({ body, by, changed }) => {
        const caller = { by, reason: statedReason(body.reason) };
        const before = halted();
        await (lift ? drills.lift() : drills.halt(caller));
        changed({ before, after: halted() });
        return { halted: !lift };
      },
    });
  }
}

function startNote({ id, plan, domains, resumes }: Journal): ChangeNote {
  return {
    domain: domains.length === 1 ? domains[0] : undefined,
    after: { drill: id, plan: plan.name, domains, resumes },
  };
}

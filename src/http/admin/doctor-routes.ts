import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { EXAMINATION_WINDOW_MS } from '../../operations/doctor/doctor.ts';
import { redacted } from '../../operations/doctor/redact.ts';
import { COUNTS, ENABLE_NAMES, ENABLED, HISTORY_LINE, REPORT, STANDING } from '../../operations/doctor/report.ts';
import { flag, oneOf } from '../../schema/fields.ts';
import { type AdminContext, adminRoutes, defaulted, OptionalReason, strict } from './input.ts';

const ExaminationQuery = Type.Object({
  window: Type.Optional(
    Type.Integer({
      minimum: EXAMINATION_WINDOW_MS.min,
      maximum: EXAMINATION_WINDOW_MS.max,
      description: `Milliseconds between two of the four snapshots: ${EXAMINATION_WINDOW_MS.min} to ${EXAMINATION_WINDOW_MS.max}. Without it: 1000, or 300 when there is no store.`,
    }),
  ),
  facts: defaulted(flag('The snapshots too, without the names of keys of other applications.', { default: false })),
});

const EnableBody = Type.Object(
  {
    name: oneOf(
      ENABLE_NAMES,
      '`slowlog`: commands above 10 ms are written to the slow log. `latency-monitor`: events above 50 ms are kept. `reset`: both are emptied.',
    ),
    reason: OptionalReason,
  },
  strict,
);

const ExaminationBody = Type.Object({
  report: REPORT,
  snapshots: Type.Optional(
    Type.Array(Type.Unknown(), { description: 'The figures from which the report was made; they change by version.' }),
  ),
});

const DoctorBody = Type.Object({
  standing: Type.Optional(STANDING),
  counts: Type.Optional(COUNTS),
  history: Type.Array(HISTORY_LINE, { description: 'When findings began and ended, oldest first.' }),
});

/** Refusals that an audit line names; the others are counted. */
const MAX_NOTED = 20;

/** The doctor: the findings that stand, an examination, and the changes of `--enable`. */
export function registerDoctor(app: FastifyInstance, { operations: { doctor }, audit }: AdminContext): void {
  const { get, post } = adminRoutes(app, 'doctor', audit);

  get('/admin/doctor', {
    summary: 'The findings of the checks that run at intervals, and when each began and ended',
    description: 'Looks at nothing. They read few figures; `/admin/doctor/examination` makes every check.',
    answer: DoctorBody,
    handle: () => {
      const standing = doctor.standing();
      return { standing, counts: standing?.counts, history: doctor.history() };
    },
  });

  get('/admin/doctor/examination', {
    exposeHeadRoute: false,
    summary: 'Every check, by four snapshots of all stores, engines, this host and this process',
    description:
      'Answers after the last snapshot, in about three windows. It changes nothing. Requests at the same time share one examination, with the window of the first.',
    query: ExaminationQuery,
    answer: ExaminationBody,
    handle: async ({ query: { window: windowMs, facts } }) => {
      const { report, snapshots } = await doctor.examine({ windowMs });
      return { report, snapshots: facts ? redacted(snapshots) : undefined };
    },
  });

  post('/admin/doctor/enable', {
    action: 'doctor-enable',
    summary: 'Change a diagnostic setting of every store node, or empty its records',
    description:
      'Answers with each node, and with the words of those that refuse; a refusal changes nothing at the other nodes.',
    body: EnableBody,
    answer: ENABLED,
    handle: async ({ body: { name }, changed }) => {
      const enabled = await doctor.enable(name);
      const refused = enabled.nodes.filter((node) => node.refused !== undefined).map(({ node }) => node);
      const refusedBy = refused.length === 0 ? undefined : refused.slice(0, MAX_NOTED);
      changed({ after: { enabled: name, nodes: enabled.nodes.length, refused: refused.length, refusedBy } });
      return enabled;
    },
  });
}

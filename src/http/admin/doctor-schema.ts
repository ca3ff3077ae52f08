import { Type } from 'typebox';
import { AREAS, SEVERITIES } from '../../operations/doctor/check.ts';
import { ENABLE_NAMES, EXAMINATION_WINDOW_MS } from '../../operations/doctor/doctor.ts';
import { amount, oneOf } from '../../schema/fields.ts';
import { AtMs, OptionalReason, strict } from './input.ts';

export const ExaminationQuery = Type.Object({
  window: Type.Optional(
    Type.Integer({
      minimum: EXAMINATION_WINDOW_MS.min,
      maximum: EXAMINATION_WINDOW_MS.max,
      description: `Milliseconds between two of the four snapshots: ${EXAMINATION_WINDOW_MS.min} to ${EXAMINATION_WINDOW_MS.max}. Without it: 1000, or 300 when there is no store.`,
    }),
  ),
  facts: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'The snapshots too, without the names of keys of other applications.',
    }),
  ),
});

export const EnableBody = Type.Object(
  {
    name: oneOf(
      ENABLE_NAMES,
      '`slowlog`: commands above 10 ms are written to the slow log. `latency-monitor`: events above 50 ms are kept. `reset`: both are emptied.',
    ),
    reason: OptionalReason,
  },
  strict,
);

const Severity = oneOf(SEVERITIES);

const FindingBody = Type.Object({
  check: Type.String({ description: 'The name of the check, which begins with its area.' }),
  area: oneOf(AREAS),
  severity: Severity,
  title: Type.String(),
  subject: Type.String({ description: 'A node, an engine, a host or a domain.' }),
  evidence: Type.String({ description: 'One sentence with the measured figures.' }),
  figures: Type.Record(Type.String(), Type.Union([Type.Number(), Type.String()]), {
    description: 'The same figures; durations in milliseconds, sizes in bytes, shares 0–1.',
  }),
  advice: Type.Array(Type.String(), { description: 'Commands to paste, or lines of configuration.' }),
  seen: Type.String({ description: 'Such as `2 of 3 windows of 1.0 s`.' }),
  threshold: Type.String({ description: 'The rule in force.' }),
  why: Type.String(),
  source: Type.String({ description: 'Where the threshold comes from.' }),
  sinceMs: AtMs,
  acknowledged: Type.Optional(Type.Object({ reason: Type.String(), until: Type.String() })),
});

const Findings = Type.Array(FindingBody, { description: 'Most severe first.' });
const Acknowledged = Type.Array(FindingBody, {
  description: 'True, and accepted in the file of acknowledgements; they are in no count.',
});

const LookedBody = Type.Object(
  {
    stores: Type.Array(
      Type.Object({
        name: Type.String(),
        kind: Type.String(),
        nodes: Type.Array(Type.String()),
        unreached: Type.Array(Type.String()),
      }),
    ),
    engines: Type.Array(
      Type.Object({ name: Type.String(), endpoint: Type.String(), version: Type.Optional(Type.String()) }),
    ),
    hosts: Type.Array(Type.String()),
    unseen: Type.Array(Type.String(), {
      description: 'Hosts whose kernel, network settings and disks nobody looked at.',
    }),
    service: Type.Boolean(),
  },
  { description: 'The things that were looked at.' },
);

const ReportBody = Type.Object({
  atMs: AtMs,
  tookMs: amount('Time of the whole examination.'),
  windowSeconds: Type.Number(),
  windows: Type.Integer(),
  findings: Findings,
  acknowledged: Acknowledged,
  skipped: Type.Array(
    Type.Object({ check: Type.String(), reason: Type.String(), subjects: Type.Array(Type.String()) }),
    { description: 'Checks that could not be made.' },
  ),
  checked: Type.Integer({ description: 'Checks that looked at something.' }),
  fine: Type.Integer({ description: 'Those of them without a finding.' }),
  looked: LookedBody,
  remarks: Type.Array(Type.String(), { description: 'Problems of the doctor itself.' }),
});

export const ExaminationBody = Type.Object({
  report: ReportBody,
  snapshots: Type.Optional(
    Type.Array(Type.Unknown(), { description: 'The figures from which the report was made; they change by version.' }),
  ),
});

const Counts = Type.Object(Object.fromEntries(SEVERITIES.map((severity) => [severity, Type.Integer()])));

const StandingBody = Type.Object(
  {
    atMs: AtMs,
    findings: Findings,
    acknowledged: Acknowledged,
    counts: Counts,
  },
  { description: 'Absent until the first window has ended, and while `doctor.interval` is 0.' },
);

export const DoctorBody = Type.Object({
  standing: Type.Optional(StandingBody),
  counts: Type.Optional(Counts),
  history: Type.Array(
    Type.Object({
      atMs: AtMs,
      change: oneOf(['raised', 'cleared']),
      check: Type.String(),
      severity: Severity,
      subject: Type.String(),
      evidence: Type.String(),
    }),
    { description: 'When findings began and ended, oldest first.' },
  ),
});

export const EnabledBody = Type.Object({
  name: oneOf(ENABLE_NAMES),
  nodes: Type.Array(
    Type.Object({
      node: Type.String(),
      commands: Type.Array(Type.String()),
      refused: Type.Optional(Type.String({ description: "The server's words." })),
    }),
  ),
});

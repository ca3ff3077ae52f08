import Type from 'typebox';
import { amount, type Decoded, oneOf } from '../../schema/fields.ts';
import { CHECK_AREAS, SEVERITIES } from './check.ts';

/** The answers of the doctor, as the admin API sends them: the types are derived from these schemas. */

const AT_MS = Type.Number({ description: 'Milliseconds since 1970-01-01T00:00Z.' });
const SEVERITY = oneOf(SEVERITIES);

const FINDING = Type.Object({
  check: Type.String({ description: 'The name of the check, which begins with its area.' }),
  area: oneOf(CHECK_AREAS),
  severity: SEVERITY,
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
  /** Wall clock of the window that raised it. */
  sinceMs: AT_MS,
  acknowledged: Type.Optional(Type.Object({ reason: Type.String(), until: Type.String() })),
});
export type Finding = Decoded<typeof FINDING>;

const FINDINGS = Type.Array(FINDING, { description: 'Most severe first.' });
const ACKNOWLEDGED = Type.Array(FINDING, {
  description: 'True, and accepted in the file of acknowledgements; they are in no count.',
});

const SKIPPED = Type.Object({ check: Type.String(), reason: Type.String(), subjects: Type.Array(Type.String()) });
export type Skipped = Decoded<typeof SKIPPED>;

const LOOKED = Type.Object(
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
export type Looked = Decoded<typeof LOOKED>;

export const REPORT = Type.Object({
  atMs: AT_MS,
  tookMs: amount('Time of the whole examination.'),
  windowSeconds: Type.Number(),
  windows: Type.Integer(),
  findings: FINDINGS,
  acknowledged: ACKNOWLEDGED,
  skipped: Type.Array(SKIPPED, { description: 'Checks that could not be made.' }),
  checked: Type.Integer({ description: 'Checks that looked at something.' }),
  fine: Type.Integer({ description: 'Those of them without a finding.' }),
  looked: LOOKED,
  remarks: Type.Array(Type.String(), { description: 'Problems of the doctor itself.' }),
});
export type Report = Decoded<typeof REPORT>;

export const COUNTS = Type.Object({ critical: Type.Integer(), warning: Type.Integer(), info: Type.Integer() });

export const STANDING = Type.Object(
  { atMs: AT_MS, findings: FINDINGS, acknowledged: ACKNOWLEDGED, counts: COUNTS },
  { description: 'Absent until the first window has ended, and while `doctor.interval` is 0.' },
);
export type Standing = Decoded<typeof STANDING>;

export const HISTORY_LINE = Type.Object({
  atMs: AT_MS,
  change: oneOf(['raised', 'cleared']),
  check: Type.String(),
  severity: SEVERITY,
  subject: Type.String(),
  evidence: Type.String(),
});
export type HistoryLine = Decoded<typeof HISTORY_LINE>;

/** The changes that `--enable` permits, and nothing else does. */
export const ENABLE_NAMES = ['slowlog', 'latency-monitor', 'reset'] as const;
export type EnableName = (typeof ENABLE_NAMES)[number];

/** By node: done, or the server's refusal. A store whose nodes are not known is one line with its name. */
export const ENABLED = Type.Object({
  name: oneOf(ENABLE_NAMES),
  nodes: Type.Array(
    Type.Object({
      node: Type.String(),
      commands: Type.Array(Type.String()),
      refused: Type.Optional(Type.String({ description: "The server's words." })),
    }),
  ),
});
export type Enabled = Decoded<typeof ENABLED>;

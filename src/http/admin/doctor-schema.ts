import { Type } from 'typebox';
import { EXAMINATION_WINDOW_MS } from '../../operations/doctor/doctor.ts';
import { COUNTS, ENABLE_NAMES, HISTORY_LINE, REPORT, STANDING } from '../../operations/doctor/report.ts';
import { oneOf } from '../../schema/fields.ts';
import { closed, OptionalReason } from './input.ts';

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
  closed,
);

export const ExaminationBody = Type.Object({
  report: REPORT,
  snapshots: Type.Optional(
    Type.Array(Type.Unknown(), { description: 'The figures from which the report was made; they change by version.' }),
  ),
});

export const DoctorBody = Type.Object({
  standing: Type.Optional(STANDING),
  counts: Type.Optional(COUNTS),
  history: Type.Array(HISTORY_LINE, { description: 'When findings began and ended, oldest first.' }),
});

import Type from 'typebox';
import { createRecordReader, RECORD_ID, recordId } from '../../report/record-archive.ts';
import { amount, share } from '../../schema/fields.ts';
import { SHADOW_FIGURES, SHADOW_SAMPLE, SHADOW_VERDICT } from './figures.ts';
import type { ReportSummary, ShadowReport } from './shadow.ts';

interface ShadowName {
  readonly domain: string;
  readonly candidate: string;
  readonly atMs: number;
  readonly random: () => number;
}

/** The id of a shadow, and of its report: `20261121-064348-goods-valkey-x7q2`. */
export function shadowReportId({ domain, candidate, atMs, random }: ShadowName): string {
  return recordId({ atMs, words: [domain, candidate], random });
}

/** More than a recorder keeps; a report with more samples is damaged. */
const MAX_SAMPLES = 2000;
const MAX_CHANGES = 10_000;
const MAX_KEYS = 256;

/** Until 2100: a later time would always be first in the list and cannot be shown. */
const wallMs = () => Type.Number({ minimum: 0, maximum: Date.UTC(2100, 0, 1) });
const name = () => Type.String({ maxLength: 300 });
const storeRef = () => Type.Object({ name: name(), fingerprint: name() });

/** A report in a file: its bounds protect every reader, because the file may be damaged or of another version. */
export const SHADOW_REPORTS = createRecordReader(
  Type.Object({
    id: Type.String({ pattern: RECORD_ID.source }),
    domain: name(),
    primary: storeRef(),
    candidate: storeRef(),
    by: name(),
    startedAtMs: wallMs(),
    endedAtMs: wallMs(),
    ended: Type.String({ maxLength: 4000 }),
    changes: Type.Array(
      Type.Object({
        atMs: amount(),
        fraction: share(),
        reads: amount(),
      }),
      { maxItems: MAX_CHANGES },
    ),
    samples: Type.Array(SHADOW_SAMPLE, { maxItems: MAX_SAMPLES }),
    total: SHADOW_FIGURES,
    verdict: SHADOW_VERDICT,
    wrongKeys: Type.Array(name(), { maxItems: MAX_KEYS }),
  }),
  'report',
  'a shadow',
);

export function reportSummary(report: ShadowReport): ReportSummary {
  const { samples: _, total: __, changes: ___, wrongKeys: ____, ...summary } = report;
  return summary;
}

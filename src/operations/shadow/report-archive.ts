import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { createRecordArchive, headText, RECORD_ID, type ReadRecord, recordId } from '../../report/record-archive.ts';
import { amount, share } from '../../schema/fields.ts';
import { COMPARISON, SAMPLE, VERDICT } from './figures.ts';
import type { ReportSummary, ShadowReport } from './shadow.ts';

/** The reports of shadows, kept beyond the end of the process. */
export interface ReportArchive {
  /** Never rejects: a report that cannot be written stays in memory. */
  readonly write: (report: ShadowReport) => Promise<void>;
  /** Newest first; files that are no valid reports are left out. */
  readonly list: () => Promise<readonly ReportSummary[]>;
  /** Undefined: there is no such report, or its file is damaged. */
  readonly read: (id: string) => Promise<ShadowReport | undefined>;
}

interface ReportArchiveOptions {
  /** Absent: reports are kept in memory, until the process ends. */
  readonly directory?: string;
  /** Number of newest reports kept. */
  readonly keep: number;
  readonly onFault: (id: string, detail: string) => void;
}

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
const MAX_WHY_CHARACTERS = 200;

/** Until 2100: a later time would always be first in the list and cannot be shown. */
const wallMs = () => Type.Number({ minimum: 0, maximum: Date.UTC(2100, 0, 1) });
const name = () => Type.String({ maxLength: 300 });
const storeRef = () => Type.Object({ name: name(), fingerprint: name() });

/** A report in a file: its bounds protect every reader, because the file may be damaged or of another version. */
const schema = Compile(
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
    samples: Type.Array(SAMPLE, { maxItems: MAX_SAMPLES }),
    total: COMPARISON,
    verdict: VERDICT,
    wrongKeys: Type.Array(name(), { maxItems: MAX_KEYS }),
  }),
);

export function createReportArchive({ directory, keep, onFault }: ReportArchiveOptions): ReportArchive {
  const archive = createRecordArchive<ShadowReport>({
    what: 'report',
    directory,
    keep,
    decode: decodeReport,
    decodeHead: (text) => {
      const head = headText(text);
      return head === undefined ? { kind: 'unreadable', why: 'it is no report of a shadow' } : decodeReport(head);
    },
    onFault,
  });
  return {
    write: archive.write,
    list: async () => (await archive.heads()).records.map(summaryOf),
    read: async (id) => {
      const read = await archive.read(id);
      return read?.kind === 'record' ? read.record : undefined;
    },
  };
}

function summaryOf({ samples: _, total: __, changes: ___, wrongKeys: ____, ...summary }: ShadowReport): ReportSummary {
  return summary;
}

/** Validates every member. Never throws. */
function decodeReport(text: string): ReadRecord<ShadowReport> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'unreadable', why: 'it is no JSON' };
  }
  if (isReport(value)) return { kind: 'record', record: value };
  const [first] = schema.Errors(value);
  const why = first === undefined ? 'it is no report of a shadow' : `${first.instancePath} ${first.message}`;
  return { kind: 'unreadable', why: why.slice(0, MAX_WHY_CHARACTERS) };
}

function isReport(value: unknown): value is ShadowReport {
  return schema.Check(value);
}

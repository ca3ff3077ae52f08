import Type from 'typebox';
import { PLACEMENT, type Placement, SHADOW } from '../../control/document.ts';
import { createRecordReader, RECORD_ID, recordTime } from '../../report/record-archive.ts';
import { amount, type Decoded, oneOf, share } from '../../schema/fields.ts';
import { type Agreed, SHADOW_FIGURES, SHADOW_SAMPLE, SHADOW_VERDICT } from './figures.ts';

export interface StartShadow {
  readonly domain: string;
  readonly candidate: string;
  /** Above 0, at most 1. */
  readonly fraction: number;
  /** Copies of each sampled read, 1–5. */
  readonly reads: number;
  /** The shadow ends by itself after this time. */
  readonly forMs: number;
}

export type ChangeShadow = Pick<StartShadow, 'domain'> & Partial<Pick<StartShadow, 'fraction' | 'reads'>>;

export interface CutOverRequest {
  readonly domain: string;
  /** Without a favourable verdict. */
  readonly force: boolean;
  /** The time that the verdict must cover. */
  readonly forMs: number;
}

/** The bounds of a report protect every reader, because its file may be damaged or of another version. */
const name = (description?: string) => Type.String({ maxLength: 300, description });
/** More samples than a recorder keeps. */
const MAX_SAMPLES = 2000;

const STORE = Type.Object({
  name: name('Its name in the configuration.'),
  fingerprint: name('Two processes mean the same store when these are equal.'),
});

export const SHADOW_SUMMARY = Type.Object({
  domain: Type.String(),
  configured: STORE,
  candidates: Type.Array(STORE),
  shadow: Type.Optional(SHADOW),
  placement: Type.Optional(
    Type.Omit(PLACEMENT, ['settledBefore', 'reversed'], {
      description: 'Which stores hold the entries. Absent: the store of the configuration.',
    }),
  ),
  active: STORE,
  paused: Type.Boolean({ description: 'The copies are paused: the event loop of this process is late.' }),
  warning: Type.Optional(Type.String({ description: 'Such as a store that this process does not declare.' })),
});
export type ShadowSummary = Decoded<typeof SHADOW_SUMMARY>;

const PROCESS = Type.Object({
  id: Type.String(),
  state: oneOf(['ok', 'behind'], '`behind`: it has not acknowledged the present document.'),
  problem: Type.Optional(Type.String()),
});
export type ProcessState = Decoded<typeof PROCESS>;

const processes = Type.Array(PROCESS, { description: 'Live processes of the domain.' });
const configuration = Type.String({ description: 'YAML: the part of the configuration files that must be changed.' });
/** At most 20. */
const wrongKeys = Type.Array(name(), { maxItems: 256, description: 'Some keys whose values were wrong; keys only.' });

export const SHADOW_STATUS = Type.Object({
  ...SHADOW_SUMMARY.properties,
  processes,
  elapsedMs: Type.Optional(amount('Milliseconds since the start of the shadow.')),
  // Over the time that the verdict covers, or as much of it as is recorded.
  figures: Type.Optional(SHADOW_FIGURES),
  verdict: Type.Optional(SHADOW_VERDICT),
  wrongKeys,
  configuration: Type.Optional(configuration),
});
export type ShadowStatus = Decoded<typeof SHADOW_STATUS>;

export const SHADOW_STOPPED = Type.Object({
  domain: Type.String(),
  ended: oneOf(['shadow', 'preparation', 'old-store']),
  report: Type.Optional(Type.String({ description: 'The id of the report.' })),
  configuration: Type.Optional(configuration),
});
export type Stopped = Decoded<typeof SHADOW_STOPPED>;

export const SHADOW_MOVED = Type.Object({
  domain: Type.String(),
  from: STORE,
  to: STORE,
  preparedMs: amount('Time from the prepared to the committed document.'),
  processes,
  report: Type.Optional(Type.String({ description: 'The id of the report of the shadow.' })),
  configuration,
});
export type Moved = Decoded<typeof SHADOW_MOVED>;

export const SHADOW_REPORT_SUMMARY = Type.Object({
  id: Type.String({ pattern: RECORD_ID.source }),
  domain: name(),
  primary: STORE,
  candidate: STORE,
  by: name(),
  startedAtMs: recordTime(),
  endedAtMs: recordTime(),
  // `stopped by NAME`, `expired`, `cut-over by NAME`, `process stopped`.
  ended: Type.String({ maxLength: 4000, description: 'Why it ended.' }),
  verdict: SHADOW_VERDICT,
});
export type ReportSummary = Decoded<typeof SHADOW_REPORT_SUMMARY>;

/** A kept comparison. */
export const SHADOW_REPORT = Type.Object({
  ...SHADOW_REPORT_SUMMARY.properties,
  changes: Type.Array(Type.Object({ atMs: amount(), fraction: share(), reads: Type.Integer() }), {
    maxItems: 10_000,
    description: 'Fraction and reads from each time on; milliseconds since the start.',
  }),
  samples: Type.Array(SHADOW_SAMPLE, { maxItems: MAX_SAMPLES }),
  total: SHADOW_FIGURES,
  wrongKeys,
});
export type ShadowReport = Decoded<typeof SHADOW_REPORT>;

export const SHADOW_REPORTS = createRecordReader(SHADOW_REPORT, 'report', 'a shadow');

export function reportSummary(report: ShadowReport): ReportSummary {
  const { samples: _, total: __, changes: ___, wrongKeys: ____, ...summary } = report;
  return summary;
}

/** The fate of one copy. */
export const COPY_RESULTS = ['sent', 'dropped', 'paused', 'failed'] as const;

/** The events of this room, for metrics, log and audit. */
export type ShadowEvent =
  | {
      readonly kind: 'shadow-copy';
      readonly domain: string;
      readonly type: 'read' | 'write';
      readonly result: (typeof COPY_RESULTS)[number];
    }
  | { readonly kind: 'shadow-compared'; readonly domain: string; readonly result: Agreed }
  /** This process began or ended the copies, by the control document. */
  | {
      readonly kind: 'shadow-changed';
      readonly domain: string;
      readonly candidate: string;
      readonly state: 'begun' | 'changed' | 'ended';
      readonly fraction: number;
      readonly reads: number;
    }
  /** This process follows another placement. `isolated`: it reads and writes both stores, because the control store is silent. */
  | {
      readonly kind: 'placement-changed';
      readonly domain: string;
      readonly phase: Placement['phase'] | 'configured' | 'isolated' | 'unknown-store';
      readonly active: string;
      readonly other?: string;
    }
  | { readonly kind: 'shadow-unwritten'; readonly id: string; readonly detail: string };

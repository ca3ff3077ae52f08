import type { EngineCounts } from '../../loadtest/fault-proxy/engine-proxy.ts';
import { isHit, type ReplyVerdict } from './verdict.ts';

/** `before` the fault, during the `fault`, `after` it until the hit ratio has recovered, and `steady` from then on. */
export const PHASES = ['before', 'fault', 'after', 'steady'] as const;
export type Phase = (typeof PHASES)[number];

/** One request of the stream, sent to one process. */
export interface Sample {
  readonly arrival: number;
  readonly phase: Phase;
  readonly sentMs: number;
  readonly durationMs: number;
  readonly text: string;
  /** Asked before the row began, so a cache should hold it. */
  readonly known: boolean;
  readonly verdict: ReplyVerdict;
  /** Time during this request in which the generator itself was blocked and could not read an answer. */
  readonly stalledMs: number;
}

/** One attempt of a row: the input of the verdict and the content of the JSON file. */
export interface Report {
  readonly row: string;
  /** Whether the fault happened, with the evidence. */
  readonly trace: Trace;
  /** Why the attempt was aborted. The other fields hold the measurements until then. */
  readonly failure?: string;
  readonly subject: Readonly<Record<Phase, PhaseReport>>;
  readonly control: Readonly<Record<Phase, PhaseReport>>;
  /** Pages that differ from the engine's, each with its text and outcome. */
  readonly wrong: readonly string[];
  readonly hung: number;
  readonly brokenConnections: readonly string[];
  readonly dishonest: readonly string[];
  /** Replies of the control that were no pages, or that contradict each other. They make the attempt invalid. */
  readonly controlFaults: readonly string[];
  /** From the end of the fault; undefined: not recovered during the attempt. */
  readonly recoveredAfterMs: number | undefined;
  /** Engine searches of the subject since the fault began. */
  readonly engine: EngineCounts;
  readonly rssBeforeBytes: number;
  readonly peakRssBytes: number;
  readonly connectionsOpened: number | undefined;
  readonly generatorLagP99Ms: number;
  /** All samples of the subject, for `Row.check`. */
  readonly samples: readonly Sample[];
}

/** The results of one process in one phase. */
export interface PhaseReport {
  readonly requests: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly hitRatio: number;
  /** For searches asked before the row. */
  readonly knownHitRatio: number;
  /** Share of requests without a page. */
  readonly unanswered: number;
  /** The same for searches asked before the row. */
  readonly knownUnanswered: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** p95 of the refusals; NaN without refusals. */
  readonly shedP95Ms: number;
}

/** The result of comparing two readings of a `FaultEffect`. */
export interface Trace {
  readonly found: boolean;
  /** Both readings as text. */
  readonly evidence: string;
}

export function phaseReports(samples: readonly Sample[]): Readonly<Record<Phase, PhaseReport>> {
  const of = (phase: Phase): PhaseReport => phaseReport(samples.filter((sample) => sample.phase === phase));
  return Object.fromEntries(PHASES.map((phase) => [phase, of(phase)])) as Record<Phase, PhaseReport>;
}

function phaseReport(samples: readonly Sample[]): PhaseReport {
  const outcomes: Record<string, number> = {};
  for (const { verdict } of samples) {
    const name = labelOf(verdict);
    outcomes[name] = (outcomes[name] ?? 0) + 1;
  }
  const known = samples.filter((sample) => sample.known);
  const answered = samples.filter(({ verdict }) => verdict.kind === 'page');
  const durations = answered.map(({ durationMs }) => durationMs);
  const sheds = samples.filter(({ verdict }) => verdict.kind === 'shed').map(({ durationMs }) => durationMs);
  return {
    requests: samples.length,
    outcomes,
    hitRatio: share(samples, isHit),
    knownHitRatio: share(known, isHit),
    unanswered: share(samples, ({ verdict }) => verdict.kind !== 'page'),
    knownUnanswered: share(known, ({ verdict }) => verdict.kind !== 'page'),
    p50Ms: percentile(durations, 0.5),
    p95Ms: percentile(durations, 0.95),
    p99Ms: percentile(durations, 0.99),
    maxMs: quantileMs(samples, 1),
    shedP95Ms: percentile(sheds, 0.95),
  };
}

function labelOf(verdict: Sample['verdict']): string {
  switch (verdict.kind) {
    case 'page':
      return verdict.degraded ? `${verdict.outcome}, degraded` : verdict.outcome;
    case 'shed':
      return `shed ${verdict.code}`;
    case 'dishonest':
    case 'hung':
    case 'broken':
      return verdict.kind;
  }
}

/** 0–1; NaN without samples. */
export function share<T>(samples: readonly T[], holds: (sample: T) => boolean): number {
  return samples.filter(holds).length / samples.length;
}

/** The nearest-rank percentile; NaN without values. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)] ?? Number.NaN;
}

/** The percentile of the durations, ms. */
export function quantileMs(samples: readonly { readonly durationMs: number }[], p: number): number {
  return percentile(
    samples.map(({ durationMs }) => durationMs),
    p,
  );
}

import type { DrillEnd } from './drill-end.ts';
import type { SeenOutcome } from './outcome.ts';
import type { Step } from './step.ts';

/** What a script says of its own run, as JSON: all that k6 alone can know. Written by `handleSummary`. */
export interface ScriptSummary {
  readonly script: string;
  /** What the script is for: one sentence, shown above its report. */
  readonly purpose: string;
  /** Wall clock, ms. The first step began then. */
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly target: TargetSummary;
  readonly queries: QueriesSummary;
  readonly baseRps: number;
  readonly steps: readonly StepSummary[];
  readonly generator: GeneratorSummary;
  readonly checks: readonly CheckSummary[];
  readonly verdict: Verdict;
}

export interface TargetSummary {
  readonly baseUrls: readonly string[];
  /** Empty: neither engine calls nor anything inside the service could be measured. */
  readonly adminUrls: readonly string[];
}

export interface QueriesSummary {
  readonly file: string;
  readonly count: number;
  readonly domains: readonly string[];
  readonly exponent: number;
  readonly offset: number;
  /** 0–1, of the searches. */
  readonly onceShare: number;
  readonly seed: number;
}

export interface StepSummary {
  readonly step: Step;
  /** Searches while its rate held, and how long it held: shorter than planned when the run was aborted. */
  readonly searches: number;
  readonly seconds: number;
  readonly outcomes: Readonly<Record<SeenOutcome, number>>;
  /** Of whole requests, batches included; undefined without any. */
  readonly latencyMs?: Latency;
  /** By the step's own limits; undefined without a search. */
  readonly errorRate?: number;
  readonly hitRatio?: number;
  /** 5xx that were no honest sheds. */
  readonly dishonest: number;
  /** Engine calls of all processes, from /metrics; undefined where nobody could be asked. */
  readonly engineCalls?: number;
  /** Requests that had to connect first. */
  readonly connectionsOpened?: number;
  /** Of the drill that was run for it. */
  readonly drill?: DrillEnd;
  /** Requests the generator should have begun and could not. */
  readonly dropped: number;
  /** The steps they are of, where k6 cannot tell them apart: `x1-steady to x1-recovery`. */
  readonly droppedOver?: string;
  /** VUs this step might use; absent: as many as the run. */
  readonly vusCap?: number;
  /** `not-run`: the run ended before its rate held. `shown`: it has no limits. */
  readonly result: 'held' | 'broke' | 'not-run' | 'shown';
  /** Which limits broke: `error rate 0.4 % (limit 0.1 %)`. */
  readonly broken: readonly string[];
}

export interface Latency {
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

export interface GeneratorSummary {
  readonly requests: number;
  readonly dropped: number;
  readonly vusUsed: number;
  readonly vusCap: number;
  /** Iterations that ended in an exception. */
  readonly scriptFaults: number;
  /** Thresholds without a single sample: k6 takes them for passed (grafana/k6#4283). */
  readonly emptyThresholds: readonly string[];
}

export interface CheckSummary {
  readonly name: string;
  readonly passes: number;
  readonly fails: number;
}

/** A run that its generator spoiled says nothing about the service: it is neither green nor red. */
export type Verdict =
  | { readonly kind: 'passed'; readonly detail: string; readonly knee?: Knee }
  | { readonly kind: 'failed'; readonly detail: string; readonly knee?: Knee }
  | { readonly kind: 'invalid'; readonly detail: string; readonly reasons: readonly string[] };

/** Of a ladder: the last rung that held with all rungs below it; undefined when the first broke already. */
export interface Knee {
  readonly held?: string;
  readonly broke?: string;
}

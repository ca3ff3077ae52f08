import type { DrillEnd } from './drill-plan.ts';
import type { Target } from './environment.ts';
import type { SeenOutcome } from './outcome.ts';
import type { Mix } from './queries.ts';
import type { Step } from './step.ts';

/** The result of a run, as far as k6 can know it. `handleSummary` writes it as JSON. */
export interface ScriptSummary {
  readonly script: string;
  /** The purpose of the script: one sentence, shown above its report. */
  readonly purpose: string;
  /** Wall clock of the first step, ms. */
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

/** Without admin URLs, engine calls and the state of the service could not be measured. */
export type TargetSummary = Pick<Target, 'baseUrls' | 'adminUrls'>;

interface QueriesSummary extends Omit<Mix, 'pages'> {
  readonly file: string;
  readonly count: number;
  readonly domains: readonly string[];
  readonly seed: number;
}

export interface StepSummary {
  readonly step: Step;
  /** Searches and duration while the rate held. An aborted run is shorter than planned. */
  readonly searches: number;
  readonly seconds: number;
  readonly outcomes: Readonly<Record<SeenOutcome, number>>;
  /** Latency of whole requests, including batches; undefined without requests. */
  readonly latencyMs?: Latency;
  /** By the limits of the step; undefined without a search. */
  readonly errorRate?: number;
  readonly hitRatio?: number;
  /** 5xx that are not honest sheds. */
  readonly dishonest: number;
  /** Engine calls of all processes, from /metrics; undefined if no process answered. */
  readonly engineCalls?: number;
  readonly connectionsOpened?: number;
  readonly drill?: DrillEnd;
  /** Requests that were due and that the generator could not begin. */
  readonly dropped: number;
  /** The steps of the dropped requests, if k6 counted several together: `x1-steady to x1-recovery`. */
  readonly droppedOver?: string;
  /** Maximum VUs of this step; absent: the maximum of the run. */
  readonly vusCap?: number;
  /** `not-run`: the run ended before its rate held. `shown`: it has no limits. */
  readonly result: 'held' | 'broke' | 'not-run' | 'shown';
  /** The limits that broke: `error rate 0.4 % (limit 0.1 %)`. */
  readonly broken: readonly string[];
}

export type Latency = Readonly<Record<'p50' | 'p90' | 'p95' | 'p99' | 'max', number>>;

export interface GeneratorSummary {
  readonly requests: number;
  readonly dropped: number;
  readonly vusUsed: number;
  readonly vusCap: number;
  /** Iterations that ended in an exception of the script. */
  readonly scriptFaults: number;
  /** Thresholds without a sample, which k6 counts as passed (grafana/k6#4283). */
  readonly emptyThresholds: readonly string[];
}

export interface CheckSummary {
  readonly name: string;
  readonly passes: number;
  readonly fails: number;
}

/** `invalid`: the generator was too weak or stalled, so the figures are not those of the service. */
export type Verdict =
  | { readonly kind: 'passed' | 'failed'; readonly detail: string; readonly knee?: Knee }
  | { readonly kind: 'invalid'; readonly detail: string; readonly reasons: readonly string[] };

/** The last rung of a ladder up to which every rung held, and the rung that broke after it. */
export interface Knee {
  readonly held?: string;
  readonly broke?: string;
}

/*
 * Numbers in verdicts. k6 1.8.1 takes the options of toLocaleString for a radix and throws, so src/report/format.ts cannot
 * be used here.
 */

/** Keeps a number and its unit on one line. */
const GAP = '\u00a0';

/** `1,234`, `12.5`: with a maximum number of decimals, without trailing zeros. */
export function numberWords(value: number, decimals = 0): string {
  const [whole = '', rest = ''] = Math.abs(value).toFixed(decimals).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  const trimmed = rest.replace(/0+$/, '');
  const text = trimmed === '' ? grouped : `${grouped}.${trimmed}`;
  return value < 0 && text !== '0' ? `−${text}` : text;
}

/** A share of 0–1 as `0.42 %`, `12.3 %`. */
export function percentWords(share: number, decimals = Math.abs(share) < 0.01 ? 2 : 1): string {
  return `${numberWords(share * 100, decimals)}${GAP}%`;
}

/** `0.6 ms`, `240 ms`, `1.2 s` */
export function msWords(ms: number, decimals = 1): string {
  if (ms >= 999.5) return `${numberWords(ms / 1000, decimals)}${GAP}s`;
  return `${numberWords(ms, ms < 100 ? decimals : decimals - 1)}${GAP}ms`;
}

/** `30 s`, `0.5 s` */
export function secondsWords(seconds: number): string {
  return `${numberWords(seconds, seconds < 10 ? 1 : 0)}${GAP}s`;
}

import type { SeenOutcome } from '../k6/kit/outcome.ts';
import type { ScriptSummary, Verdict } from '../k6/kit/summary.ts';
import type { Sample } from '../sample/sample.ts';

/**
 * One run as it is stored in `run.json`: all data of its report and of a comparison with a later run. Times are wall clock,
 * ms since the epoch, of the machine that ran k6.
 */
export interface RunRecord {
  readonly version: 1;
  /** The folder's name: `2026-11-21T10-20-30-x-load`. */
  readonly id: string;
  /** Repeats the run. */
  readonly command: string;
  /** Commit of the measured code, from `commitOf`. Absent outside of a repository. */
  readonly commit?: string;
  readonly stack: 'local' | 'none';
  readonly machine: Machine;
  readonly summary: ScriptSummary;
  /** As the generator saw it, second by second. */
  readonly seconds: readonly Second[];
  /** The service and its parts, about once a second. */
  readonly samples: readonly Sample[];
  /** Actions of an operator, or of the script as an operator. */
  readonly events: readonly RunEvent[];
  /** The rate of x1: measured in this run, or given. */
  readonly base: BaseRate;
  /** The script's, or that of the runner, which also sees a generator without processor time: judge/verdict.ts. */
  readonly verdict: Verdict;
  readonly exitCode: number;
}

export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
  /** `Linux 6.1, x64`: nothing that names a host. */
  readonly system: string;
  readonly k6: string;
  /** All of it with the versions of the servers in one line, from `machineWords`. */
  readonly words?: string;
  /** Processors of the generator and of the service, as taskset takes them; absent when not pinned. */
  readonly generatorCpus?: string;
  readonly serviceCpus?: string;
}

export interface BaseRate {
  readonly rps: number;
  /** `measured`: an eighth of `saturationRps`, measured just before this run. */
  readonly from: 'measured' | 'told';
  readonly saturationRps?: number;
  /** The processor use at saturation, as text. */
  readonly saturated?: string;
}

export interface Second {
  /** Its end. */
  readonly atMs: number;
  readonly searches: number;
  readonly errors: number;
  readonly dropped: number;
  readonly vus: number;
  readonly receivedBytes: number;
  readonly outcomes: Readonly<Partial<Record<SeenOutcome, number>>>;
  /** Undefined in a second without requests. */
  readonly latencyMs?: { readonly p50: number; readonly p90: number; readonly p99: number; readonly max: number };
}

export interface RunEvent {
  readonly atMs: number;
  /** `drill-started`, `drill-stage`, `drill-ended`, `flush`, `note`. */
  readonly kind: string;
  readonly text: string;
  /** The id of the drill to which the event belongs. */
  readonly drill?: string;
}

/** In the order in which unmeasured kinds are listed. */
export const RESOURCE_KINDS = [
  'connections',
  'core',
  'memory',
  'network',
  'disk',
  'limiter',
  'engine',
  'generator',
] as const;
export type ResourceKind = (typeof RESOURCE_KINDS)[number];

/** A run without a verdict. The message is a sentence, or a few lines of k6. */
export class CannotRun extends Error {
  override readonly name = 'CannotRun';
}

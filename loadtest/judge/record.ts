import type { SeenOutcome } from '../k6/kit/outcome.ts';
import type { ScriptSummary, Verdict } from '../k6/kit/summary.ts';
import type { Sample } from '../sample/sample.ts';

/**
 * One run, as it is kept in `run.json`: everything its report is drawn from, and everything a later run is compared
 * with. Times are wall clock, ms since the epoch, of the machine that ran k6.
 */
export interface RunRecord {
  readonly version: 1;
  /** The folder's name: `2026-11-21T10-20-30-x-load`. */
  readonly id: string;
  /** As a person would type it to repeat the run. */
  readonly command: string;
  /** Commit of the measured code: see `commitOf`. Absent outside of a repository. */
  readonly commit?: string;
  readonly stack: 'local' | 'none';
  readonly machine: Machine;
  readonly summary: ScriptSummary;
  /** What the generator saw, second by second. */
  readonly seconds: readonly Second[];
  /** What the service and its parts were doing, about once a second. */
  readonly samples: readonly Sample[];
  /** What an operator, or the script as one, did meanwhile. */
  readonly events: readonly RunEvent[];
  /** How x1 came about: measured in this run, or told. */
  readonly base: BaseRate;
  /** The script's, and what only the runner could see: a generator short of processor time. */
  readonly verdict: Verdict;
  readonly exitCode: number;
}

export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
  /** `Linux 6.1, x64`: nothing that names a host. */
  readonly system: string;
  readonly k6: string;
  /** All of it with the versions of the servers, in one line: see `machineWords`. */
  readonly words?: string;
  /** Processors the generator was kept on, and the service: as taskset takes them; absent: not pinned. */
  readonly generatorCpus?: string;
  readonly serviceCpus?: string;
}

export interface BaseRate {
  readonly rps: number;
  /** `measured`: an eighth of `saturationRps`, found just before this run. */
  readonly from: 'measured' | 'told';
  readonly saturationRps?: number;
  /** What was full at saturation, in a sentence. */
  readonly saturated?: string;
}

export interface Second {
  /** When it was over. */
  readonly atMs: number;
  readonly searches: number;
  readonly errors: number;
  readonly dropped: number;
  readonly vus: number;
  readonly receivedBytes: number;
  readonly outcomes: Readonly<Partial<Record<SeenOutcome, number>>>;
  /** Of the requests of this second; undefined without any. */
  readonly latencyMs?: { readonly p50: number; readonly p90: number; readonly p99: number; readonly max: number };
}

export interface RunEvent {
  readonly atMs: number;
  /** `drill-started`, `drill-stage`, `drill-ended`, `flush`, `note`. */
  readonly kind: string;
  readonly text: string;
  /** Of a drill, where the event is one of its. */
  readonly drill?: string;
}

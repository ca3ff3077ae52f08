import type { SeenOutcome } from '../k6/kit/outcome.ts';
import type { ScriptSummary, StepSummary, Verdict } from '../k6/kit/summary.ts';
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

/** What the figures of a run mean: computed from its record whenever it is shown, never stored. */
export interface Judged {
  readonly verdict: Verdict;
  readonly steps: readonly StepFigures[];
  /** Fullest first, at the step that tells most: the first that broke, else the one with the highest rate. */
  readonly resources: readonly ResourceUse[];
  readonly binding: Binding;
  /** Of scripts that take a cache away. */
  readonly recoveries: readonly Recovery[];
}

/** A step with what the parts were doing while its rate held. Rates are per second, shares 0–1. */
export interface StepFigures {
  readonly summary: StepSummary;
  readonly fromMs: number;
  readonly toMs: number;
  readonly searchesPerSecond: number;
  readonly errorsPerSecond: number;
  readonly engineCallsPerSecond?: number;
  /** Engine calls ÷ searches. */
  readonly amplification?: number;
  readonly engineInFlightMax?: number;
  readonly engineCeiling?: number;
  readonly storeCommandsPerSecond?: number;
  readonly storeBytes?: number;
  readonly serviceBytes?: number;
  readonly evictionsPerSecond?: number;
  /** Cores used: 1 is one core. */
  readonly serviceCores?: number;
  readonly storeCores?: number;
  readonly engineCores?: number;
  readonly generatorCores?: number;
  readonly machineBusyShare?: number;
}

export type ResourceKind = 'connections' | 'core' | 'memory' | 'network' | 'disk' | 'limiter' | 'engine' | 'generator';

export interface ResourceUse {
  readonly kind: ResourceKind;
  /** `a core of serpcache`, `places at the engine for goods`. */
  readonly name: string;
  /** By step, 0–1 of what there is; undefined where not measured. In the order of `steps`. */
  readonly byStep: readonly (number | undefined)[];
  /** At the step that tells most. */
  readonly used: number;
  /** `0.62 of 1 core` */
  readonly words: string;
  /** The searches a second at which it would be full if its use grows as it did; undefined when it does not grow. */
  readonly fullAtRps?: number;
}

/** What stops this service from taking more, and what would next if that were lifted. */
export interface Binding {
  readonly binds?: ResourceUse;
  readonly next?: ResourceUse;
  /** One or two sentences for people. */
  readonly words: string;
  /** Whether something was full (≥ 0.9) or it is read off the growth. */
  readonly isReached: boolean;
  /** Kinds nobody could measure here. */
  readonly unmeasured: readonly ResourceKind[];
}

/** After a loss: how deep it went and when it was over. Times since the loss. */
export interface Recovery {
  /** The step the loss happened in. */
  readonly step: string;
  /** As it was told: `25 % of the keys`. */
  readonly what: string;
  readonly lostAtMs: number;
  readonly hitRatioBefore: number;
  readonly hitRatioLowest: number;
  /** Until it stayed within two points of before (Zhang et al., HotStorage '20); undefined: not by the end of the run. */
  readonly recoveredAfterMs?: number;
  readonly engineCallsPerSecondBefore?: number;
  readonly engineCallsPerSecondMost?: number;
  readonly shed: number;
  readonly dishonest: number;
}

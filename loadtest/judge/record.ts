import type { SeenOutcome } from '../k6/kit/outcome.ts';
import type { ScriptSummary, StepSummary, Verdict } from '../k6/kit/summary.ts';
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

/** A step with the load of the parts while its rate held. Shares are 0–1. */
export interface StepFigures {
  readonly summary: StepSummary;
  readonly fromMs: number;
  readonly toMs: number;
  readonly searchesPerSecond: number;
  readonly engineCallsPerSecond?: number;
  /** Engine calls ÷ searches. */
  readonly amplification?: number;
  readonly engineInFlightMax?: number;
  readonly engineCeiling?: number;
  readonly storeCommandsPerSecond?: number;
  readonly storeBytes?: number;
  readonly serviceBytes?: number;
  /** Cores used: 1 is one core. */
  readonly serviceCores?: number;
  readonly storeCores?: number;
  readonly engineCores?: number;
  readonly generatorCores?: number;
  readonly machineBusyShare?: number;
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

export interface ResourceUse {
  readonly kind: ResourceKind;
  /** `a core of serpcache`, `engine permits for goods`. */
  readonly name: string;
  /** By step in the order of `steps`, 0–1 of the capacity; undefined where not measured. */
  readonly byStep: readonly (number | undefined)[];
  /** At the decisive step. */
  readonly used: number;
  /** `0.62 of 1 core` */
  readonly words: string;
  /** The rate at which it is full if its use grows as before; undefined when it does not grow. */
  readonly fullAtRps?: number;
}

/** The resource that limits the service, and the one that would limit it next. */
export interface Bottleneck {
  readonly limiting?: ResourceUse;
  readonly next?: ResourceUse;
  /** One or two sentences. */
  readonly words: string;
  /** Kinds that were not measured. */
  readonly unmeasured: readonly ResourceKind[];
}

/** The effect of one loss of cached entries, until the hit ratio recovered. */
export interface Recovery {
  /** The step of the loss. */
  readonly step: string;
  /** The text of its event: `25 % of the keys`. */
  readonly what: string;
  readonly lostAtMs: number;
  readonly hitRatioBefore: number;
  readonly hitRatioLowest: number;
  /** Until the ratio stayed within two points of before (Zhang et al., HotStorage '20); undefined: not in this run. */
  readonly recoveredAfterMs?: number;
  readonly engineCallsPerSecondBefore?: number;
  readonly engineCallsPerSecondMost?: number;
  readonly shed: number;
  readonly dishonest: number;
}

/** A run without a verdict. The message is a sentence, or a few lines of k6. */
export class CannotRun extends Error {
  override readonly name = 'CannotRun';
}

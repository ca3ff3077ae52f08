import type { StepSummary, Verdict } from '../k6/kit/summary.ts';

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

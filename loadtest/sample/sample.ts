import type { HostSample, ProcessSample } from './host.ts';
import type { StoreSample } from './store.ts';

/**
 * The state of the service and its parts at one moment. Counters grow since their process started, so only differences
 * mean anything; a restarted process counts from 0 again. What could not be read is absent, never 0. In a record of counts
 * a zero is absent too.
 */
export interface Sample {
  /** Wall clock, ms, when the last answer came. */
  readonly atMs: number;
  readonly replicas: readonly ReplicaSample[];
  /** Store nodes; empty without a local stack. */
  readonly stores: readonly StoreSample[];
  /** Processes of the local stack and the generator. */
  readonly processes: readonly ProcessSample[];
  /** The machine on which everything runs; absent without a local stack. */
  readonly host?: HostSample;
}

/** One process of serpcache, from its /metrics. */
export interface ReplicaSample {
  /** Its admin address without scheme. */
  readonly name: string;
  readonly cpuSeconds?: number;
  readonly residentBytes?: number;
  /** 0–1, since the previous sample, as is the delay; absent in the first one. */
  readonly loopUtilization?: number;
  /** The bound of the histogram's bucket that holds it. */
  readonly loopLagP99Ms?: number;
  /** Searches that wait for something, and their maximum. */
  readonly inFlight?: number;
  readonly inFlightMax?: number;
  readonly memoryBytes?: number;
  readonly memoryMaxBytes?: number;
  readonly memoryEvictions?: number;
  /** By domain. */
  readonly domains: Readonly<Record<string, DomainSample>>;
  /** By reason, all domains. */
  readonly sheds: Readonly<Record<string, number>>;
  readonly misses: Readonly<Record<string, number>>;
}

export interface DomainSample {
  /** Requests by outcome. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly engineCalls: number;
  readonly engineFailures: number;
  /** Levels of this process. */
  readonly engineInFlight?: number;
  readonly engineQueued?: number;
  readonly engineLimit?: number;
  readonly engineCeiling?: number;
  /** 0 closed, 1 half-open, 2 open. */
  readonly breaker?: number;
  /** By outcome: `ok`, `deadline`, … */
  readonly storeCommands: Readonly<Record<string, number>>;
  /** 0–1: share of the keys that a drill suppresses now. */
  readonly flushedShare?: number;
}

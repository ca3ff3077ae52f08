import type { Outcome } from '../search/outcome.ts';

/**
 * Upper bounds of what a duration is counted under: a hit takes tens of microseconds, a miss up to a hard deadline. The last
 * ones lie above the longest patience: guards judge whether answers take longer than that.
 */
export const DURATION_BOUNDS_MS = [
  0.05, 0.1, 0.2, 0.5, 1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 80, 100, 125, 150, 200, 250, 300, 400, 500, 600, 800,
  1000, 1250, 1500, 2000, 2250, 2500, 3000, 4000, 5000, 6000, 8000, 10_000, 15_000, 20_000, 30_000, 45_000, 60_000,
  90_000, 120_000,
] as const;

/**
 * What one process has counted for one domain since it started. Only differences of two readings mean anything. Small
 * enough to be sent every second; plain JSON.
 */
export interface MeterReading {
  /** Of this process's monotonic clock. */
  readonly atMs: number;
  /** Searches by outcome. */
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Searches by duration: one count per bound of `DURATION_BOUNDS_MS`, and one for what took longer. */
  readonly durations: readonly number[];
  readonly engine: EngineReading;
  /** In the order of the cohorts asked for. */
  readonly cohorts: readonly CohortReading[];
}

export interface EngineReading {
  readonly calls: number;
  readonly failed: number;
  /** Milliseconds the calls took, together. */
  readonly busyMs: number;
  /** Now, in this process: not counts but levels. */
  readonly inFlight: number;
  readonly queued: number;
  readonly maxConcurrent: number;
  readonly ceiling: number;
  readonly breaker: 'closed' | 'open' | 'half-open';
}

export interface CohortReading {
  readonly searches: number;
  /** Answered from L1 or L2 while fresh. */
  readonly hits: number;
}

/** What a domain did between two moments, over all processes that were heard at both. */
export interface Figures {
  readonly seconds: number;
  readonly processes: number;
  readonly searches: number;
  readonly searchesPerSecond: number;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** 0–1, of the searches; undefined without any. `hit-l1` and `hit-l2`. */
  readonly hitRatio?: number;
  /** `failed`. */
  readonly errorRate?: number;
  readonly shedRate?: number;
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly engineCallsPerSecond: number;
  /** Mean duration of an engine call; undefined without any. */
  readonly engineCallMs?: number;
  readonly engineFailures: number;
  /** All processes together, at the end of the time. */
  readonly engineInFlight: number;
  readonly engineQueued: number;
  /** What they may ask at once, together: never more than the fleet's `maxConcurrent`. */
  readonly engineMax: number;
  readonly engineCeiling: number;
  readonly breakersOpen: number;
  readonly cohorts: readonly CohortFigures[];
}

export interface CohortFigures {
  readonly searches: number;
  /** Undefined without any search. */
  readonly hitRatio?: number;
}

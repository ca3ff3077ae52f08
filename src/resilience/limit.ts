/**
 * How many calls an engine can take at once, learned from how long they take. It only ever lowers what is configured:
 * the permit stays below both. Fed by the guard, read by the permit.
 */
export interface Limit {
  /** At least 1, at most the ceiling. */
  readonly current: () => number;
  readonly sample: (call: LimitSample) => void;
}

export interface LimitSample {
  /** Of the engine's own work, without our queue. */
  readonly durationMs: number;
  /** Calls under way when this one began, itself included. */
  readonly inFlight: number;
  /** `lost`: refused for load, timed out, or past its deadline. `failed` for other reasons says nothing of load. */
  readonly result: 'answered' | 'lost' | 'failed';
}

export interface LimitOptions {
  /** The most it may be now: the fleet's share of this process. */
  readonly ceiling: () => number;
  readonly monotonicMs: () => number;
}

/** No adaptation: the ceiling itself. */
export function createFixedLimit({ ceiling }: Pick<LimitOptions, 'ceiling'>): Limit {
  return { current: () => Math.max(1, Math.floor(ceiling())), sample: () => undefined };
}

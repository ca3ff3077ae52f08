/** Time as every room sees it: injected, so that a test can move it. */
export interface Clock {
  /** Wall time in milliseconds since the epoch: only for what is written into entries and shown to people. */
  readonly wallMs: () => number;
  /** Monotonic milliseconds: for every duration, deadline and age of a queue. */
  readonly monotonicMs: () => number;
}

/**
 * What every room is given: time, chance, the name of this process among those that share a store, and where to say what
 * happened. `Event` is the union of the events that the room reports.
 */
export interface Runtime<Event> {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** 10–20 characters of base 36, new at every start. */
  readonly processId: string;
  readonly observe: (event: Event) => void;
}

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

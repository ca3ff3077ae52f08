/** Time as every room sees it: injected, so that a test can move it. */
export interface Clock {
  /** Wall time in milliseconds since the epoch: only for what is written into entries and shown to people. */
  readonly wallMs: () => number;
  /** Monotonic milliseconds: for every duration, deadline and age of a queue. */
  readonly monotonicMs: () => number;
}

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

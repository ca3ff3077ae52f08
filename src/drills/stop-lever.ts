import type { Seen } from './course.ts';

export type Stop = NonNullable<Seen['stop']>;

/** How whoever aborts reaches the loop of a drill: at once, not at its next tick. */
export interface StopLever {
  readonly pull: (stop: Stop) => void;
  /** Pulled and not yet acted upon. */
  readonly pulled: () => Stop | undefined;
  /** This one was acted upon: the loop ticks on, unless somebody has pulled again meanwhile. */
  readonly settle: (done: Stop) => void;
  /** Aborted while pulled. */
  readonly signal: () => AbortSignal;
}

export function createStopLever(): StopLever {
  let controller = new AbortController();
  let stop: Stop | undefined;
  return {
    pull: (next) => {
      // A stop that ends the drill at once is not replaced by a milder one.
      if (stop?.atOnce !== true) stop = next;
      controller.abort();
    },
    pulled: () => stop,
    settle: (done) => {
      if (stop !== done) return;
      stop = undefined;
      controller = new AbortController();
    },
    signal: () => controller.signal,
  };
}

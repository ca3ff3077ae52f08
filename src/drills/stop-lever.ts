import type { Seen } from './course.ts';

export type Stop = NonNullable<Seen['stop']>;

/** How whoever aborts reaches the loop of a drill: at once, not at its next tick. */
export interface StopLever {
  readonly pull: (stop: Stop) => void;
  /** Pulled and not yet acted upon. */
  readonly pulled: () => Stop | undefined;
  /** Acted upon: the loop ticks on until somebody pulls again. */
  readonly settle: () => void;
  /** Aborted while pulled. */
  readonly signal: () => AbortSignal;
}

export function createStopLever(): StopLever {
  let controller = new AbortController();
  let stop: Stop | undefined;
  return {
    pull: (next) => {
      // What ends it at once is not softened by a later wish.
      if (stop?.atOnce !== true) stop = next;
      controller.abort();
    },
    pulled: () => stop,
    settle: () => {
      stop = undefined;
      controller = new AbortController();
    },
    signal: () => controller.signal,
  };
}

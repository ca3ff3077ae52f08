/** Places at the engine, for all connections of a proxy together: first come, first served. */
export interface EnginePlaces {
  /**
   * Calls `start` when there is a place, at once or later; whoever was started calls `leave` once.
   * @returns a function that gives up waiting, or undefined when too many wait already: `start` is never called then.
   */
  readonly enter: (start: () => void) => (() => void) | undefined;
  readonly leave: () => void;
  /** The capacity has changed: some may start. */
  readonly review: () => void;
  readonly counts: () => PlaceCounts;
  readonly resetCounts: () => void;
}

export interface PlaceCounts {
  readonly atEngine: number;
  readonly mostAtEngine: number;
  readonly waiting: number;
  readonly mostWaiting: number;
}

export function createEnginePlaces(options: {
  readonly capacity: () => number;
  readonly maxWaiting: number;
}): EnginePlaces {
  const { capacity, maxWaiting } = options;
  const waiting = new Set<() => void>();
  let atEngine = 0;
  let mostAtEngine = 0;
  let mostWaiting = 0;

  const admit = (start: () => void): void => {
    atEngine += 1;
    mostAtEngine = Math.max(mostAtEngine, atEngine);
    start();
  };
  const review = (): void => {
    for (const start of waiting) {
      if (atEngine >= capacity()) return;
      waiting.delete(start);
      admit(start);
    }
  };
  return {
    enter: (start) => {
      if (waiting.size === 0 && atEngine < capacity()) {
        admit(start);
        return () => {};
      }
      if (waiting.size >= maxWaiting) return undefined;
      waiting.add(start);
      mostWaiting = Math.max(mostWaiting, waiting.size);
      return () => waiting.delete(start);
    },
    leave: () => {
      atEngine -= 1;
      review();
    },
    review,
    counts: () => ({ atEngine, mostAtEngine, waiting: waiting.size, mostWaiting }),
    resetCounts: () => {
      mostAtEngine = atEngine;
      mostWaiting = waiting.size;
    },
  };
}

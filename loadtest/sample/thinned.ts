/** A list with a bound that covers any length of time: when it is full, every second thing goes. */
export interface Thinned<T> {
  /** Of any two kept neighbours, how many were added from one to the next: 1, 2, 4, … */
  readonly stride: () => number;
  /** Whoever adds is asked to come half as often once `stride` has doubled. The newest is always kept. */
  readonly add: (item: T) => void;
  readonly all: () => readonly T[];
}

/** @throws when `max` is no even number of at least 2. */
export function createThinned<T>(max: number): Thinned<T> {
  if (!Number.isInteger(max) || max < 2 || max % 2 !== 0) throw new Error(`max is an even number from 2, not ${max}`);
  let kept: T[] = [];
  let stride = 1;
  return {
    stride: () => stride,
    add: (item) => {
      if (kept.length === max) {
        kept = kept.filter((_, index) => index % 2 === 0);
        stride *= 2;
      }
      kept.push(item);
    },
    all: () => kept,
  };
}

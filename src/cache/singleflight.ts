/** One flight per key in this process: whoever comes while it runs gets the leader's result, or its error. */
export interface Flights<T> {
  /**
   * Joins the flight of `key`, or starts it. `leads` is true for the one caller whose `start` ran. The key is free again
   * before the result is delivered: a caller that comes afterwards starts anew and never reads a settled flight, so an
   * error is never replayed to a later request.
   */
  readonly join: (key: string, start: () => Promise<T>) => { readonly result: Promise<T>; readonly leads: boolean };
  readonly size: () => number;
}

export function createFlights<T>(): Flights<T> {
  const running = new Map<string, Promise<T>>();
  return {
    join: (key, start) => {
      const joined = running.get(key);
      if (joined !== undefined) return { result: joined, leads: false };
      const result = begin(start);
      running.set(key, result);
      // The first handlers of this promise, so they run before whoever waits for it is told; and a leader that has left
      // when its flight fails leaves no unhandled rejection.
      const free = (): void => {
        running.delete(key);
      };
      result.then(free, free);
      return { result, leads: true };
    },
    size: () => running.size,
  };
}

/** A start that throws at once is a flight that failed. */
function begin<T>(start: () => Promise<T>): Promise<T> {
  try {
    return start();
  } catch (error) {
    return Promise.reject(error);
  }
}

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
      // One microtask before `start`, so that one that throws at once still finds its key set, and frees it.
      const result = Promise.resolve()
        .then(start)
        .finally(() => running.delete(key));
      // The leader may have left (deadline, disconnect) when it fails: nobody listening is not a crash.
      result.catch(() => undefined);
      running.set(key, result);
      return { result, leads: true };
    },
    size: () => running.size,
  };
}
